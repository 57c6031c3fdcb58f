//! One partition, by its topic's name.

use std::fmt;
use std::sync::Arc;

use milepost_model::PartitionIndex;

/// A partition of a topic. Cheap to clone: the name is shared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// The topic.
    pub topic: Arc<str>,
    /// The partition of it.
    pub partition: PartitionIndex,
}

impl TopicPartition {
    /// That partition of that topic.
    #[must_use]
    pub fn new(topic: impl Into<Arc<str>>, partition: PartitionIndex) -> Self {
        Self { topic: topic.into(), partition }
    }
}

impl fmt::Display for TopicPartition {
    /// As Kafka writes it: `TOPIC-NUMBER`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

/// Sorted partitions, topic by topic, as requests want them.
pub(crate) fn by_topic<'a, T>(
    partitions: impl Iterator<Item = (&'a TopicPartition, T)>,
) -> Vec<(&'a str, Vec<(PartitionIndex, T)>)> {
    let mut topics: Vec<(&str, Vec<(PartitionIndex, T)>)> = Vec::new();
    for (one, value) in partitions {
        match topics.last_mut() {
            Some((topic, of_it)) if *topic == &*one.topic => of_it.push((one.partition, value)),
            _ => topics.push((&one.topic, vec![(one.partition, value)])),
        }
    }
    topics
}
