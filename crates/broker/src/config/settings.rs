//! The table of broker settings. Names, defaults and bounds are Kafka's unless the text says otherwise.

use super::value::Kind;

/// One broker setting.
#[derive(Debug)]
pub struct Setting {
    /// Its name, as Kafka spells it.
    pub name: &'static str,
    /// What a value must look like.
    pub kind: Kind,
    /// The value when nobody says anything.
    pub default: &'static str,
    /// What it does, for `--help` and DescribeConfigs.
    pub documentation: &'static str,
}

const fn setting(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    documentation: &'static str,
) -> Setting {
    Setting { name, kind, default, documentation }
}

const INT_MAX: i64 = i32::MAX as i64;
const COUNT: Kind = Kind::Int { min: 1, max: INT_MAX };
const MS_INT: Kind = Kind::Int { min: 0, max: INT_MAX };
const MS_LONG: Kind = Kind::Long { min: 0, max: i64::MAX };

/// Every broker setting, sorted by name.
pub const BROKER_SETTINGS: &[Setting] = &[
    setting(
        "advertised.listeners",
        Kind::Text,
        "",
        "HOST:PORT that clients are told to connect to; needed when listening on every address (0.0.0.0 or [::]).",
    ),
    setting(
        "auto.create.topics.enable",
        Kind::Boolean,
        "true",
        "Whether asking for the metadata of an unknown topic creates it.",
    ),
    setting(
        "connections.max.idle.ms",
        Kind::Long { min: 1, max: i64::MAX },
        "600000",
        "How long a connection may say nothing before it is closed.",
    ),
    setting(
        "default.replication.factor",
        Kind::Int { min: 1, max: 1 },
        "1",
        "Replicas of a new topic; one node holds one.",
    ),
    setting("delete.topic.enable", Kind::Boolean, "true", "Whether topics may be deleted."),
    setting(
        "fetch.max.bytes",
        Kind::Int { min: 1024, max: INT_MAX },
        "57671680",
        "The most record bytes one Fetch answer carries, except that a first batch is always whole.",
    ),
    setting(
        "group.consumer.assignment.interval.ms",
        Kind::Int { min: 0, max: INT_MAX },
        "1000",
        "How long after an assignment of a consumer group the next one is made at the earliest.",
    ),
    setting(
        "group.consumer.assignors",
        Kind::List(&["uniform", "range"]),
        "uniform,range",
        "The assignors that members of consumer groups may ask for; the first is the default.",
    ),
    setting(
        "group.consumer.heartbeat.interval.ms",
        Kind::Int { min: 1, max: INT_MAX },
        "5000",
        "How often a member of a consumer group is told to say that it is alive.",
    ),
    setting(
        "group.consumer.max.assignment.interval.ms",
        Kind::Int { min: 0, max: INT_MAX },
        "15000",
        "The longest group.consumer.assignment.interval.ms allowed.",
    ),
    setting(
        "group.consumer.max.heartbeat.interval.ms",
        Kind::Int { min: 1, max: INT_MAX },
        "15000",
        "The longest group.consumer.heartbeat.interval.ms allowed.",
    ),
    setting(
        "group.consumer.max.session.timeout.ms",
        Kind::Int { min: 1, max: INT_MAX },
        "60000",
        "The longest group.consumer.session.timeout.ms allowed.",
    ),
    setting("group.consumer.max.size", COUNT, "2147483647", "The most members a consumer group may have."),
    setting(
        "group.consumer.migration.policy",
        Kind::OneOf(&["bidirectional", "upgrade", "downgrade", "disabled"]),
        "bidirectional",
        "Which way a group with members may change its protocol: from classic to consumer (upgrade), back (downgrade), both, or neither.",
    ),
    setting(
        "group.consumer.min.assignment.interval.ms",
        Kind::Int { min: 0, max: INT_MAX },
        "0",
        "The shortest group.consumer.assignment.interval.ms allowed.",
    ),
    setting(
        "group.consumer.min.heartbeat.interval.ms",
        Kind::Int { min: 1, max: INT_MAX },
        "5000",
        "The shortest group.consumer.heartbeat.interval.ms allowed.",
    ),
    setting(
        "group.consumer.min.session.timeout.ms",
        Kind::Int { min: 1, max: INT_MAX },
        "45000",
        "The shortest group.consumer.session.timeout.ms allowed.",
    ),
    setting(
        "group.consumer.regex.refresh.interval.ms",
        Kind::Int { min: 10_000, max: INT_MAX },
        "600000",
        "How long after a regular expression was looked up it is looked up again, though no topic was added.",
    ),
    setting(
        "group.consumer.session.timeout.ms",
        Kind::Int { min: 1, max: INT_MAX },
        "45000",
        "How long a member of a consumer group may be silent.",
    ),
    setting(
        "group.coordinator.append.linger.ms",
        Kind::Int { min: -1, max: 0 },
        "-1",
        "How long records of coordinators wait for more; only for as long as the disk is busy (-1 and 0) is supported.",
    ),
    setting(
        "group.coordinator.rebalance.protocols",
        Kind::List(&["classic", "consumer"]),
        "classic,consumer",
        "The protocols of groups that are served; classic cannot be left out.",
    ),
    setting(
        "group.initial.rebalance.delay.ms",
        MS_INT,
        "3000",
        "How long the first rebalance of an empty group waits for more members.",
    ),
    setting(
        "group.max.session.timeout.ms",
        COUNT,
        "1800000",
        "The longest session timeout a member may ask for.",
    ),
    setting("group.max.size", COUNT, "2147483647", "The most members a group may have."),
    setting(
        "group.min.session.timeout.ms",
        COUNT,
        "6000",
        "The shortest session timeout a member may ask for.",
    ),
    setting(
        "log.cleaner.backoff.ms",
        Kind::Long { min: 0, max: i64::MAX },
        "15000",
        "How often logs that want compaction are looked for.",
    ),
    setting(
        "log.cleaner.dedupe.buffer.size",
        Kind::Long { min: 1_048_576, max: 17_179_869_184 },
        "134217728",
        "Memory for the keys of one pass of compaction. A log with more keys takes several passes.",
    ),
    setting(
        "log.cleaner.delete.retention.ms",
        MS_LONG,
        "86400000",
        "How long a tombstone stays readable after compaction first met it.",
    ),
    setting(
        "log.cleaner.max.compaction.lag.ms",
        Kind::Long { min: 1, max: i64::MAX },
        "9223372036854775807",
        "The longest a record of a compacted topic stays uncompacted.",
    ),
    setting(
        "log.cleaner.min.cleanable.ratio",
        Kind::Ratio,
        "0.5",
        "The share of dirty bytes above which a log is compacted.",
    ),
    setting(
        "log.cleaner.min.compaction.lag.ms",
        MS_LONG,
        "0",
        "The shortest time a record of a compacted topic stays uncompacted.",
    ),
    setting(
        "log.cleanup.policy",
        Kind::List(&["compact", "delete"]),
        "delete",
        "Whether old segments of a topic are deleted, compacted, or both.",
    ),
    setting(
        "log.index.interval.bytes",
        MS_INT,
        "4096",
        "How many bytes of records lie between two entries of an offset index.",
    ),
    setting(
        "log.index.size.max.bytes",
        Kind::Int { min: 4, max: INT_MAX },
        "10485760",
        "The size an index may reach before its segment is rolled.",
    ),
    setting(
        "log.message.timestamp.after.max.ms",
        MS_LONG,
        "3600000",
        "How far ahead of the broker's clock a record's time may lie.",
    ),
    setting(
        "log.message.timestamp.before.max.ms",
        MS_LONG,
        "9223372036854775807",
        "How far behind the broker's clock a record's time may lie.",
    ),
    setting(
        "log.message.timestamp.type",
        Kind::OneOf(&["CreateTime", "LogAppendTime"]),
        "CreateTime",
        "Whether records keep the producer's time or get the broker's.",
    ),
    setting(
        "log.retention.bytes",
        Kind::Long { min: i64::MIN, max: i64::MAX },
        "-1",
        "The size a partition may reach before its oldest segments go; -1 for any.",
    ),
    setting(
        "log.retention.check.interval.ms",
        Kind::Long { min: 1, max: i64::MAX },
        "300000",
        "How often segments past their retention are looked for.",
    ),
    setting(
        "log.retention.ms",
        Kind::Long { min: -1, max: i64::MAX },
        "604800000",
        "The age at which a segment goes; -1 for never.",
    ),
    setting(
        "log.roll.ms",
        Kind::Long { min: 1, max: i64::MAX },
        "604800000",
        "The time span after which a segment is rolled.",
    ),
    setting(
        "log.segment.bytes",
        Kind::Int { min: 1_048_576, max: INT_MAX },
        "1073741824",
        "The size at which a segment is rolled.",
    ),
    setting(
        "max.connections",
        COUNT,
        "2147483647",
        "The most connections held open; further ones are closed at once.",
    ),
    setting(
        "max.incremental.fetch.session.cache.slots",
        MS_INT,
        "1000",
        "The most fetch sessions; who gets none is answered in full every time.",
    ),
    setting("message.max.bytes", MS_INT, "1048588", "The largest record batch accepted, after compression."),
    setting(
        "milepost.checkpoint.journal.bytes",
        Kind::Long { min: 1_048_576, max: 17_179_869_184 },
        "67108864",
        "Bytes of journal between two checkpoints (ours). It bounds the time of a recovery.",
    ),
    setting("node.id", Kind::Int { min: 0, max: INT_MAX }, "1", "This broker's number in the cluster."),
    setting("num.partitions", COUNT, "1", "Partitions of a topic that is created without saying how many."),
    setting(
        "offset.metadata.max.bytes",
        MS_INT,
        "4096",
        "The longest metadata text a committed offset may carry, in UTF-16 units.",
    ),
    setting(
        "offsets.commit.timeout.ms",
        COUNT,
        "5000",
        "How long a commit may wait for the disk before the client is told to try again.",
    ),
    setting(
        "offsets.load.buffer.size",
        COUNT,
        "1048576",
        "About how much of a coordinator's log is loaded before requests have their turn. Kafka's default is 5242880.",
    ),
    setting(
        "offsets.retention.check.interval.ms",
        Kind::Long { min: 1, max: i64::MAX },
        "600000",
        "How often expired offsets are looked for.",
    ),
    setting(
        "offsets.retention.minutes",
        COUNT,
        "10080",
        "How long offsets outlive their group's last member or, without a group, their last commit.",
    ),
    setting(
        "offsets.topic.compression.codec",
        Kind::Int { min: 0, max: 4 },
        "0",
        "How new batches of __consumer_offsets are compressed: 0 not at all, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
    ),
    setting(
        "offsets.topic.num.partitions",
        COUNT,
        "50",
        "Partitions of __consumer_offsets. It decides which coordinator a group has, so it never changes in a data folder.",
    ),
    setting(
        "offsets.topic.replication.factor",
        Kind::Int { min: 1, max: 1 },
        "1",
        "Replicas of __consumer_offsets; one node holds one.",
    ),
    setting(
        "offsets.topic.segment.bytes",
        Kind::Int { min: 1_048_576, max: INT_MAX },
        "104857600",
        "The size at which a segment of __consumer_offsets is rolled.",
    ),
    setting(
        "producer.id.expiration.ms",
        COUNT,
        "86400000",
        "How long a producer that writes nothing is remembered for duplicate detection.",
    ),
    setting(
        "socket.request.max.bytes",
        COUNT,
        "104857600",
        "The largest request frame; a connection that announces a larger one is closed.",
    ),
    setting(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        COUNT,
        "10000",
        "How often transactions that took longer than their timeout are looked for and aborted.",
    ),
    setting(
        "transaction.max.timeout.ms",
        COUNT,
        "900000",
        "The longest transaction timeout a producer may ask for.",
    ),
    setting(
        "transaction.partition.verification.enable",
        Kind::Boolean,
        "true",
        "Whether a batch of a producer of the first protocol is refused if its partition was not added to the transaction.",
    ),
    setting(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        COUNT,
        "3600000",
        "How often transactional ids that nobody uses any more are looked for and removed.",
    ),
    setting(
        "transaction.state.log.min.isr",
        Kind::Int { min: 1, max: 1 },
        "1",
        "Replicas of __transaction_state that must have a record; one node holds one.",
    ),
    setting(
        "transaction.state.log.num.partitions",
        COUNT,
        "50",
        "Partitions of __transaction_state, which is made with the first transactional id. It decides which coordinator a transactional id has, so it never changes in a data folder.",
    ),
    setting(
        "transaction.state.log.replication.factor",
        Kind::Int { min: 1, max: 1 },
        "1",
        "Replicas of __transaction_state; one node holds one.",
    ),
    setting(
        "transaction.state.log.segment.bytes",
        Kind::Int { min: 1_048_576, max: INT_MAX },
        "104857600",
        "The size at which a segment of __transaction_state is rolled.",
    ),
    setting(
        "transaction.two.phase.commit.enable",
        Kind::OneOf(&["false"]),
        "false",
        "Whether producers may have transactions without a timeout (KIP-939). No version of InitProducerId served can ask for one.",
    ),
    setting(
        "transactional.id.expiration.ms",
        COUNT,
        "604800000",
        "How long a transactional id that nobody uses is kept.",
    ),
];

/// A setting that is in the table, by name. The tables are checked against each other by tests.
///
/// # Panics
/// When the name is not in the table.
#[must_use]
pub fn broker_setting(name: &str) -> &'static Setting {
    BROKER_SETTINGS
        .iter()
        .find(|setting| setting.name == name)
        .expect("the name is in the table of broker settings")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_default_is_allowed() {
        assert!(BROKER_SETTINGS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for setting in BROKER_SETTINGS {
            assert_eq!(setting.kind.check(setting.default), Ok(()), "{}", setting.name);
        }
    }
}
