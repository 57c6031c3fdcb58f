//! The topics of the cluster, and what is set for single groups, as a value that comes in with a request. Made once each
//! time something of that changes, and shared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use milepost_model::TopicId;
use twox_hash::XxHash3_64;

/// The first byte of what is hashed; it names the way of hashing.
const HASH_VERSION: u8 = 0;

/// Every topic of the cluster.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ClusterTopics {
    version: i64,
    newest_topic_at: i64,
    topics: BTreeMap<Arc<str>, ClusterTopic>,
    names: BTreeMap<TopicId, Arc<str>>,
    group_configs: BTreeMap<Arc<str>, GroupConfig>,
}

/// What is set for one consumer group. What is `None` is as the settings of the broker say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupConfig {
    /// `consumer.session.timeout.ms`: how long a member may be silent.
    pub session_ms: Option<u64>,
    /// `consumer.heartbeat.interval.ms`: how often it is told to say something.
    pub heartbeat_interval_ms: Option<i32>,
    /// `consumer.assignment.interval.ms`: how long after a new assignment the next one is made at the earliest.
    pub assignment_interval_ms: Option<u64>,
}

/// One topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterTopic {
    /// Its identity.
    pub id: TopicId,
    /// How many partitions it has.
    pub partition_count: i32,
    hash: u64,
}

impl ClusterTopics {
    /// The topics (name, identity, number of partitions) at a version that grows with every change. The last change is
    /// taken to have added one.
    pub fn new(version: i64, topics: impl IntoIterator<Item = (Arc<str>, TopicId, i32)>) -> Self {
        let topics = topics.into_iter().map(|(name, id, partition_count)| {
            let hash = topic_hash(&name, id, partition_count);
            (name, ClusterTopic { id, partition_count, hash })
        });
        let topics: BTreeMap<_, _> = topics.collect();
        let names = topics.iter().map(|(name, topic)| (topic.id, Arc::clone(name))).collect();
        Self { version, newest_topic_at: version, topics, names, group_configs: BTreeMap::new() }
    }

    /// The same, of which no topic is newer than this version.
    #[must_use]
    pub fn with_newest_topic_at(self, newest_topic_at: i64) -> Self {
        Self { newest_topic_at, ..self }
    }

    /// The same with what is set for single groups.
    #[must_use]
    pub fn with_group_configs(
        self,
        group_configs: impl IntoIterator<Item = (Arc<str>, GroupConfig)>,
    ) -> Self {
        Self { group_configs: group_configs.into_iter().collect(), ..self }
    }

    /// What is set for a group.
    pub(crate) fn config_of(&self, group: &str) -> GroupConfig {
        self.group_configs.get(group).copied().unwrap_or_default()
    }

    /// Which state of the topics this is.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The first state that had the newest topic.
    pub(crate) fn newest_topic_at(&self) -> i64 {
        self.newest_topic_at
    }

    /// The topic of this name.
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<&ClusterTopic> {
        self.topics.get(name)
    }

    /// The name of the topic with this identity.
    pub(crate) fn name(&self, id: TopicId) -> Option<&Arc<str>> {
        self.names.get(&id)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.topics.keys()
    }

    /// The identities of those topics that exist.
    pub(crate) fn ids<'a>(&self, names: impl IntoIterator<Item = &'a Arc<str>>) -> BTreeSet<TopicId> {
        names.into_iter().filter_map(|name| self.topic(name)).map(|topic| topic.id).collect()
    }

    /// The hash that a group keeps of its topics (KIP-1101): it changes when one is created, deleted or grows. 0 without
    /// any; names that no topic has count for nothing.
    pub(crate) fn hash_of<'a>(&self, names: impl IntoIterator<Item = &'a Arc<str>>) -> i64 {
        let sorted: BTreeSet<&Arc<str>> = names.into_iter().collect();
        let hashes = sorted.into_iter().filter_map(|name| self.topic(name)).map(|topic| topic.hash);
        let bytes: Vec<u8> = hashes.flat_map(u64::to_le_bytes).collect();
        if bytes.is_empty() { 0 } else { XxHash3_64::oneshot(&bytes).cast_signed() }
    }
}

/// Kafka's hash of one topic: the id as two numbers, the name in UTF-16 with its length, the partitions one by one. One
/// node has no racks, so none follow.
fn topic_hash(name: &str, id: TopicId, partition_count: i32) -> u64 {
    let mut bytes = vec![HASH_VERSION];
    for half in id.0.chunks_exact(8) {
        bytes.extend(half.iter().rev());
    }
    let units: Vec<u16> = name.encode_utf16().collect();
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    bytes.extend(i32::try_from(units.len()).unwrap_or(i32::MAX).to_le_bytes());
    bytes.extend(partition_count.to_le_bytes());
    bytes.extend((0..partition_count).flat_map(i32::to_le_bytes));
    XxHash3_64::oneshot(&bytes)
}
