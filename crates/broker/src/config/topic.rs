//! The table of topic settings, and the typed values a partition's log needs.

use std::collections::BTreeMap;

use super::settings::broker_setting;
use super::value::{Kind, Values};

/// One topic setting.
#[derive(Debug)]
pub struct TopicSetting {
    /// Its name, as Kafka spells it.
    pub name: &'static str,
    /// What a value must look like.
    pub kind: Kind,
    /// The value when neither topic nor broker says anything.
    pub default: &'static str,
    /// The broker setting that gives the default, if there is one.
    pub synonym: Option<&'static str>,
    /// What it does.
    pub documentation: &'static str,
}

const fn topic(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    synonym: Option<&'static str>,
    documentation: &'static str,
) -> TopicSetting {
    TopicSetting { name, kind, default, synonym, documentation }
}

const INT_MAX: i64 = i32::MAX as i64;
const LONG: Kind = Kind::Long { min: 0, max: i64::MAX };
const CODECS: Kind = Kind::OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]);

/// Every topic setting that Kafka 4.4 knows and a client may therefore send, sorted by name.
pub const TOPIC_SETTINGS: &[TopicSetting] = &[
    topic(
        "cleanup.policy",
        Kind::List(&["compact", "delete"]),
        "delete",
        Some("log.cleanup.policy"),
        "Whether old segments are deleted, compacted, or both.",
    ),
    topic(
        "compression.gzip.level",
        Kind::Int { min: -1, max: 9 },
        "-1",
        None,
        "Level used when the broker compresses with gzip.",
    ),
    topic(
        "compression.lz4.level",
        Kind::Int { min: 1, max: 17 },
        "9",
        None,
        "Of no effect here: there is one level of lz4.",
    ),
    topic(
        "compression.type",
        CODECS,
        "producer",
        None,
        "The codec batches are stored with; producer keeps them as they came.",
    ),
    topic(
        "compression.zstd.level",
        Kind::Int { min: -131_072, max: 22 },
        "3",
        None,
        "Level used when the broker compresses with zstd.",
    ),
    topic(
        "delete.retention.ms",
        LONG,
        "86400000",
        Some("log.cleaner.delete.retention.ms"),
        "How long a tombstone stays readable after compaction first met it.",
    ),
    topic(
        "errors.deadletterqueue.group.enable",
        Kind::Boolean,
        "false",
        None,
        "Of no effect here: there are no share groups that could give records up.",
    ),
    topic("file.delete.delay.ms", LONG, "60000", None, "How long a removed segment's file stays."),
    topic(
        "flush.messages",
        Kind::Long { min: 1, max: i64::MAX },
        "9223372036854775807",
        None,
        "Of no effect here: every acknowledged record is on disk.",
    ),
    topic(
        "flush.ms",
        LONG,
        "9223372036854775807",
        None,
        "Of no effect here: every acknowledged record is on disk.",
    ),
    topic(
        "index.interval.bytes",
        Kind::Int { min: 0, max: INT_MAX },
        "4096",
        Some("log.index.interval.bytes"),
        "Bytes of records between two index entries.",
    ),
    topic(
        "max.compaction.lag.ms",
        Kind::Long { min: 1, max: i64::MAX },
        "9223372036854775807",
        Some("log.cleaner.max.compaction.lag.ms"),
        "The longest a record stays uncompacted.",
    ),
    topic(
        "max.decompressed.message.bytes",
        Kind::Int { min: 1, max: INT_MAX },
        "2147483639",
        None,
        "Of no effect here: what is decompressed has bounds of its own.",
    ),
    topic(
        "max.message.bytes",
        Kind::Int { min: 0, max: INT_MAX },
        "1048588",
        Some("message.max.bytes"),
        "The largest record batch accepted, after compression.",
    ),
    topic(
        "message.timestamp.after.max.ms",
        LONG,
        "3600000",
        Some("log.message.timestamp.after.max.ms"),
        "How far ahead a record's time may lie.",
    ),
    topic(
        "message.timestamp.before.max.ms",
        LONG,
        "9223372036854775807",
        Some("log.message.timestamp.before.max.ms"),
        "How far behind a record's time may lie.",
    ),
    topic(
        "message.timestamp.type",
        Kind::OneOf(&["CreateTime", "LogAppendTime"]),
        "CreateTime",
        Some("log.message.timestamp.type"),
        "Whether records keep the producer's time or get the broker's.",
    ),
    topic(
        "min.cleanable.dirty.ratio",
        Kind::Ratio,
        "0.5",
        Some("log.cleaner.min.cleanable.ratio"),
        "The share of dirty bytes at which a log is compacted.",
    ),
    topic(
        "min.compaction.lag.ms",
        LONG,
        "0",
        Some("log.cleaner.min.compaction.lag.ms"),
        "The shortest time a record stays uncompacted.",
    ),
    topic(
        "min.insync.replicas",
        Kind::Int { min: 1, max: INT_MAX },
        "1",
        None,
        "Replicas that must have a record; one node is one.",
    ),
    topic(
        "preallocate",
        Kind::Boolean,
        "false",
        None,
        "Of no effect here: the journal is always preallocated.",
    ),
    topic(
        "retention.bytes",
        Kind::Long { min: i64::MIN, max: i64::MAX },
        "-1",
        Some("log.retention.bytes"),
        "The size a partition may reach before its oldest segments go.",
    ),
    topic(
        "retention.ms",
        Kind::Long { min: -1, max: i64::MAX },
        "604800000",
        Some("log.retention.ms"),
        "The age at which a segment goes.",
    ),
    topic(
        "segment.bytes",
        Kind::Int { min: 1_048_576, max: INT_MAX },
        "1073741824",
        Some("log.segment.bytes"),
        "The size at which a segment is rolled.",
    ),
    topic(
        "segment.index.bytes",
        Kind::Int { min: 4, max: INT_MAX },
        "10485760",
        Some("log.index.size.max.bytes"),
        "The size an index may reach before its segment is rolled.",
    ),
    topic(
        "segment.jitter.ms",
        LONG,
        "0",
        None,
        "Random time taken off segment.ms so that segments do not all roll at once.",
    ),
    topic(
        "segment.ms",
        Kind::Long { min: 1, max: i64::MAX },
        "604800000",
        Some("log.roll.ms"),
        "The time span after which a segment is rolled.",
    ),
    topic(
        "unclean.leader.election.enable",
        Kind::Boolean,
        "false",
        None,
        "Of no effect here: one node has no election.",
    ),
];

/// Why a topic's configuration was refused (INVALID_CONFIG).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTopicConfig(pub String);

/// The longest value of a topic setting, in bytes.
pub(super) const VALUE_BYTES_MAX: usize = 32_767;

/// Checks all that is set for a topic, each value for itself and against the others in force.
///
/// # Errors
/// [`InvalidTopicConfig`] for an unknown name, a value outside its bounds, or values that contradict each other.
pub fn check_topic_configs(
    own: &BTreeMap<String, String>,
    broker: &Values,
) -> Result<(), InvalidTopicConfig> {
    for (name, value) in own {
        check_topic_config(name, value)?;
    }
    let settings = TopicSettings::new(own, broker);
    let (min, max) = (settings.number("min.compaction.lag.ms"), settings.number("max.compaction.lag.ms"));
    if min > max {
        return Err(InvalidTopicConfig(format!(
            "conflict topic config setting min.compaction.lag.ms ({min}) > max.compaction.lag.ms ({max})"
        )));
    }
    Ok(())
}

fn check_topic_config(name: &str, value: &str) -> Result<(), InvalidTopicConfig> {
    let Some(setting) = find(name) else {
        return Err(InvalidTopicConfig(format!("Unknown topic config name: {name}")));
    };
    if value.len() > VALUE_BYTES_MAX {
        return Err(InvalidTopicConfig(format!(
            "The value of {name} is longer than {VALUE_BYTES_MAX} bytes"
        )));
    }
    setting
        .kind
        .check(value)
        .map_err(|why| InvalidTopicConfig(format!("Invalid value {value} for configuration {name}: {why}")))
}

fn find(name: &str) -> Option<&'static TopicSetting> {
    TOPIC_SETTINGS.iter().find(|setting| setting.name == name)
}

/// A topic's own values over the broker's defaults.
#[derive(Clone, Copy, Debug)]
pub struct TopicSettings<'a> {
    own: &'a BTreeMap<String, String>,
    broker: &'a Values,
}

impl<'a> TopicSettings<'a> {
    /// The view of a topic's configuration.
    #[must_use]
    pub fn new(own: &'a BTreeMap<String, String>, broker: &'a Values) -> Self {
        Self { own, broker }
    }

    /// The value in force.
    #[must_use]
    pub fn get(&self, setting: &TopicSetting) -> &'a str {
        match self.own.get(setting.name) {
            Some(value) => value,
            None => match setting.synonym {
                Some(name) => self.broker.get(broker_setting(name)).0,
                None => setting.default,
            },
        }
    }

    fn by_name(&self, name: &str) -> &'a str {
        self.get(find(name).expect("the name is in the table of topic settings"))
    }

    /// A numeric value in force. Values were checked when they were set.
    #[must_use]
    pub fn number(&self, name: &str) -> i64 {
        self.by_name(name).trim().parse().expect("the value was checked when it was set")
    }

    /// A fraction in force.
    #[must_use]
    pub fn ratio(&self, name: &str) -> f64 {
        self.by_name(name).trim().parse().expect("the value was checked when it was set")
    }

    /// The word in force (`compression.type`).
    #[must_use]
    pub fn word(&self, name: &str) -> &'a str {
        self.by_name(name).trim()
    }

    /// Whether a word is in force (`cleanup.policy`, `message.timestamp.type`).
    #[must_use]
    pub fn has_word(&self, name: &str, word: &str) -> bool {
        self.by_name(name).split(',').any(|part| part.trim() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_its_defaults_allowed_and_its_synonyms_known() {
        assert!(TOPIC_SETTINGS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for setting in TOPIC_SETTINGS {
            assert_eq!(setting.kind.check(setting.default), Ok(()), "{}", setting.name);
            if let Some(name) = setting.synonym {
                assert_eq!(broker_setting(name).default, setting.default, "{name}");
            }
        }
    }

    #[test]
    fn the_settings_that_kafka_4_4_added_are_taken() {
        let check = |name: &str, value: &str| check_topic_config(name, value).is_ok();
        assert!(check("errors.deadletterqueue.group.enable", "true"));
        assert!(check("max.decompressed.message.bytes", "1"));
        assert!(!check("max.decompressed.message.bytes", "0"));
    }

    #[test]
    fn a_topics_own_value_wins_over_the_brokers() {
        let broker = Values::default();
        let own = BTreeMap::from([("segment.bytes".to_owned(), "2000000".to_owned())]);
        assert_eq!(TopicSettings::new(&own, &broker).number("segment.bytes"), 2_000_000);
        assert_eq!(TopicSettings::new(&BTreeMap::new(), &broker).number("segment.bytes"), 1_073_741_824);
    }

    #[test]
    fn unknown_names_bad_values_and_contradictions_are_refused() {
        let check = |pairs: &[(&str, &str)]| {
            let own = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            check_topic_configs(&own.collect(), &Values::default())
        };
        assert!(check(&[("message.format.version", "2")]).is_err());
        assert!(check(&[("cleanup.policy", "compact,delete")]).is_ok());
        assert!(check(&[("cleanup.policy", "shred")]).is_err());
        assert!(check(&[("cleanup.policy", &",".repeat(VALUE_BYTES_MAX + 1))]).is_err());
        assert!(check(&[("min.compaction.lag.ms", "5"), ("max.compaction.lag.ms", "5")]).is_ok());
        assert!(check(&[("min.compaction.lag.ms", "6"), ("max.compaction.lag.ms", "5")]).is_err());
    }
}
