//! The broker's settings as the rest of the broker reads them.

use milepost_batch::Codec;
use milepost_groups::{Assignor, MigrationPolicy};

use super::load::ConfigError;
use super::settings::broker_setting;
use super::value::Values;

/// A host and a port, as a listener or as clients are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// A name or an address; IPv6 addresses carry no brackets here.
    pub host: String,
    /// The port; 0 picks a free one when listening.
    pub port: u16,
}

impl Endpoint {
    /// Parses `HOST:PORT` or `[V6]:PORT`, with an optional `PLAINTEXT://` before it.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bare = text.strip_prefix("PLAINTEXT://").unwrap_or(text);
        let (host, port) = bare.rsplit_once(':').ok_or_else(|| format!("{text:?} is not HOST:PORT"))?;
        let port = port.parse().map_err(|_| format!("{port:?} is not a port (0 to 65535)"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(format!("{text:?} names no host"));
        }
        Ok(Self { host: host.to_owned(), port })
    }

    /// Whether listening here means listening on every address, which no client can connect to by name.
    #[must_use]
    pub fn is_unspecified(&self) -> bool {
        self.host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_unspecified())
    }

    /// Whether only this machine can reach it.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Every broker setting in force, typed.
#[derive(Clone, Debug)]
pub struct BrokerSettings {
    /// All values as text, for DescribeConfigs and for topics' defaults.
    pub values: Values,
    /// What clients are told to connect to, if it was said.
    pub advertised: Option<Endpoint>,
    /// Whether Metadata may create topics.
    pub auto_create_topics: bool,
    /// Whether DeleteTopics may delete.
    pub delete_topics: bool,
    /// The most record bytes in one Fetch answer.
    pub fetch_max_bytes: usize,
    /// The most fetch sessions.
    pub fetch_sessions_max: usize,
    /// This broker's number.
    pub node_id: i32,
    /// Partitions of a topic created without saying.
    pub num_partitions: i32,
    /// Partitions of `__consumer_offsets`.
    pub offsets_partitions: i32,
    /// How batches of `__consumer_offsets` are compressed.
    pub offsets_codec: Codec,
    /// About how much of a coordinator's log is loaded at once.
    pub offsets_load_buffer_bytes: usize,
    /// Whether the protocol of consumer groups (KIP-848) is served.
    pub serves_consumer_groups: bool,
    /// Partitions of `__transaction_state`, should it be made.
    pub transactions_partitions: i32,
    /// Whether partitions that producers of the first protocol write to must be part of the transaction.
    pub verifies_partitions: bool,
    /// The settings of the coordinator of transactions.
    pub transactions: milepost_transactions::TransactionSettings,
    /// The bound on a commit's wait for the disk.
    pub offsets_commit_timeout_ms: u64,
    /// The largest request frame.
    pub request_max_bytes: usize,
    /// The most open connections.
    pub max_connections: usize,
    /// How long a connection may be silent.
    pub connections_max_idle_ms: u64,
    /// Journal bytes between two checkpoints.
    pub checkpoint_journal_bytes: u64,
    /// How often segments past their retention are looked for.
    pub retention_check_interval_ms: u64,
    /// How often logs that want compaction are looked for.
    pub cleaner_backoff_ms: u64,
    /// Memory for the keys of one pass of compaction.
    pub cleaner_buffer_bytes: usize,
    /// How long an idle producer is remembered.
    pub producer_expiration_ms: i64,
    /// The settings of the group coordinator.
    pub groups: milepost_groups::GroupSettings,
    /// What was said and has no effect, for people.
    pub notices: Vec<String>,
}

impl BrokerSettings {
    /// Reads the typed settings out of checked values.
    ///
    /// # Errors
    /// [`ConfigError`] where values contradict each other or an address cannot be read.
    pub fn from_values(values: Values) -> Result<Self, ConfigError> {
        let text = |name: &str| values.get(broker_setting(name)).0.trim().to_owned();
        let number = |name: &str| text(name).parse::<i64>().expect("the value was checked against its kind");
        let int = |name: &str| i32::try_from(number(name)).expect("the kind bounds it to 32 bits");
        let size = |name: &str| usize::try_from(number(name)).expect("the kind bounds it from below");
        let ms = |name: &str| u64::try_from(number(name)).expect("the kind bounds it from below");
        let advertised = match text("advertised.listeners") {
            empty if empty.is_empty() => None,
            said => Some(Endpoint::parse(&said).map_err(|why| ConfigError::Value {
                name: "advertised.listeners".to_owned(),
                value: said.clone(),
                why,
            })?),
        };
        let (shortest, longest) = (int("group.min.session.timeout.ms"), int("group.max.session.timeout.ms"));
        if shortest > longest {
            return Err(ConfigError::Value {
                name: "group.min.session.timeout.ms".to_owned(),
                value: shortest.to_string(),
                why: format!("it is above group.max.session.timeout.ms ({longest})"),
            });
        }
        check_consumer_groups(&int)?;
        Ok(Self {
            advertised,
            auto_create_topics: text("auto.create.topics.enable") == "true",
            delete_topics: text("delete.topic.enable") == "true",
            fetch_max_bytes: size("fetch.max.bytes"),
            fetch_sessions_max: size("max.incremental.fetch.session.cache.slots"),
            node_id: int("node.id"),
            num_partitions: int("num.partitions"),
            offsets_partitions: int("offsets.topic.num.partitions"),
            offsets_codec: codec(number("offsets.topic.compression.codec")),
            offsets_load_buffer_bytes: size("offsets.load.buffer.size"),
            serves_consumer_groups: serves_consumer_groups(&text("group.coordinator.rebalance.protocols"))?,
            transactions_partitions: int("transaction.state.log.num.partitions"),
            verifies_partitions: text("transaction.partition.verification.enable") == "true",
            transactions: milepost_transactions::TransactionSettings {
                max_timeout_ms: int("transaction.max.timeout.ms"),
                is_two_phase_commit_enabled: text("transaction.two.phase.commit.enable") == "true",
                abort_timed_out_interval_ms: ms(
                    "transaction.abort.timed.out.transaction.cleanup.interval.ms",
                ),
                expiration_ms: number("transactional.id.expiration.ms"),
                remove_expired_interval_ms: ms("transaction.remove.expired.transaction.cleanup.interval.ms"),
                transaction_version: milepost_transactions::TransactionVersion::V2,
            },
            offsets_commit_timeout_ms: ms("offsets.commit.timeout.ms"),
            request_max_bytes: size("socket.request.max.bytes"),
            max_connections: size("max.connections"),
            connections_max_idle_ms: ms("connections.max.idle.ms"),
            checkpoint_journal_bytes: ms("milepost.checkpoint.journal.bytes"),
            retention_check_interval_ms: ms("log.retention.check.interval.ms"),
            cleaner_backoff_ms: ms("log.cleaner.backoff.ms"),
            cleaner_buffer_bytes: size("log.cleaner.dedupe.buffer.size"),
            producer_expiration_ms: number("producer.id.expiration.ms"),
            groups: group_settings(&values),
            notices: Vec::new(),
            values,
        })
    }
}

/// Each setting of consumer groups lies within its own bounds, and a member says several times a session that it is alive.
fn check_consumer_groups(int: &impl Fn(&str) -> i32) -> Result<(), ConfigError> {
    let refuse = |name: String, value: i32, why: String| {
        Err(ConfigError::Value { name, value: value.to_string(), why })
    };
    for what in ["session.timeout.ms", "heartbeat.interval.ms", "assignment.interval.ms"] {
        let name = format!("group.consumer.{what}");
        let value = int(&name);
        let (min, max) =
            (int(&format!("group.consumer.min.{what}")), int(&format!("group.consumer.max.{what}")));
        if !(min..=max).contains(&value) {
            let why = format!("group.consumer.min.{what} and group.consumer.max.{what} allow {min} to {max}");
            return refuse(name, value, why);
        }
    }
    let (session_ms, beat_ms) =
        (int("group.consumer.session.timeout.ms"), int("group.consumer.heartbeat.interval.ms"));
    if beat_ms >= session_ms {
        let why = format!("it is not below group.consumer.session.timeout.ms ({session_ms})");
        return refuse("group.consumer.heartbeat.interval.ms".to_owned(), beat_ms, why);
    }
    Ok(())
}

/// The codec of a number, as Kafka counts them.
fn codec(number: i64) -> Codec {
    match number {
        1 => Codec::Gzip,
        2 => Codec::Snappy,
        3 => Codec::Lz4,
        4 => Codec::Zstd,
        _ => Codec::None,
    }
}

/// Whether the list of protocols has that of consumer groups. As in Kafka the classic one cannot be left out.
fn serves_consumer_groups(list: &str) -> Result<bool, ConfigError> {
    let has = |protocol: &str| list.split(',').any(|word| word.trim() == protocol);
    if has("classic") {
        return Ok(has("consumer"));
    }
    Err(ConfigError::Value {
        name: "group.coordinator.rebalance.protocols".to_owned(),
        value: list.to_owned(),
        why: "the protocol classic cannot be left out".to_owned(),
    })
}

/// The assignors of the list, in its order; an empty list means the default one.
fn assignors(list: &str) -> Vec<Assignor> {
    let named = |word: &str| Assignor::ALL.into_iter().find(|assignor| assignor.name() == word.trim());
    let mut assignors: Vec<Assignor> = Vec::new();
    for assignor in list.split(',').filter_map(named) {
        if !assignors.contains(&assignor) {
            assignors.push(assignor);
        }
    }
    if assignors.is_empty() { vec![Assignor::Uniform] } else { assignors }
}

fn migration_policy(word: &str) -> MigrationPolicy {
    MigrationPolicy::ALL
        .into_iter()
        .find(|policy| policy.name() == word.trim())
        .expect("the kind names every policy")
}

fn group_settings(values: &Values) -> milepost_groups::GroupSettings {
    const MS_PER_MINUTE: i64 = 60_000;
    let number = |name: &str| {
        values
            .get(broker_setting(name))
            .0
            .trim()
            .parse::<i64>()
            .expect("the value was checked against its kind")
    };
    let int = |name: &str| i32::try_from(number(name)).expect("the kind bounds it to 32 bits");
    let size = |name: &str| usize::try_from(number(name)).expect("the kind bounds it from below");
    let ms = |name: &str| u64::try_from(number(name)).expect("the kind bounds it from below");
    milepost_groups::GroupSettings {
        min_session_timeout_ms: int("group.min.session.timeout.ms"),
        max_session_timeout_ms: int("group.max.session.timeout.ms"),
        initial_rebalance_delay_ms: ms("group.initial.rebalance.delay.ms"),
        max_size: size("group.max.size"),
        consumer_session_ms: ms("group.consumer.session.timeout.ms"),
        consumer_heartbeat_interval_ms: int("group.consumer.heartbeat.interval.ms"),
        consumer_max_size: size("group.consumer.max.size"),
        consumer_assignors: assignors(values.get(broker_setting("group.consumer.assignors")).0),
        consumer_assignment_interval_ms: ms("group.consumer.assignment.interval.ms"),
        consumer_regex_refresh_interval_ms: ms("group.consumer.regex.refresh.interval.ms"),
        consumer_migration_policy: migration_policy(
            values.get(broker_setting("group.consumer.migration.policy")).0,
        ),
        offset_metadata_max_units: size("offset.metadata.max.bytes"),
        offsets_retention_ms: number("offsets.retention.minutes").saturating_mul(MS_PER_MINUTE),
        offsets_retention_check_interval_ms: ms("offsets.retention.check.interval.ms"),
    }
}
