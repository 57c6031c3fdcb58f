//! Topics as the handlers need them: looked up, named well, created.
//!
//! What is looked up here is durable: a topic that a crash could take back is not shown to anyone.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_log::LogKind;
use milepost_log::metadata::{MetadataRecord, ProposeError, Topic};
use milepost_model::{Now, Offset, PartitionIndex, TopicId, TopicPartition};
use milepost_wire::ErrorCode;

use crate::config::{BrokerSettings, TopicSettings, broker_setting, partition_config};
use crate::errors::Refusal;
use crate::node::Node;
use crate::random::{self, Random};

pub use milepost_log::metadata::OFFSETS_TOPIC;
/// The topic that holds transactional ids and their transactions.
pub(crate) const TRANSACTIONS_TOPIC: &str = "__transaction_state";

/// Names that nobody may create: those of metadata logs, and those of internal topics that later coordinators bring.
const RESERVED: [&str; 4] =
    ["__cluster_metadata", "__milepost_metadata", TRANSACTIONS_TOPIC, "__share_group_state"];
/// The longest topic name, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 249;
/// The most partitions one request may create, as in Kafka.
pub(crate) const PARTITIONS_PER_REQUEST_MAX: i64 = 10_000;

/// Why a name cannot be a topic's (INVALID_TOPIC_EXCEPTION).
///
/// # Errors
/// The reason, for people.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("a topic name must not be empty".to_owned());
    }
    if name == "." || name == ".." {
        return Err(format!("a topic name must not be {name:?}"));
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(format!(
            "a topic name has at most {NAME_BYTES_MAX} characters; this one has {}",
            name.len()
        ));
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')) {
        return Err(format!(
            "the topic name {name:?} has characters other than ASCII letters, digits, '.', '_' and '-'"
        ));
    }
    Ok(())
}

/// Whether the name is kept for the server.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// The topic whose name is the same once dots are read as underscores, if there is one: the two would share a metric.
pub(crate) fn colliding<'a>(node: &'a Node, name: &str) -> Option<&'a str> {
    if !name.contains(['.', '_']) {
        return None;
    }
    let folded = name.replace('.', "_");
    let mut names = node.metadata.image().topics().map(|topic| topic.name.as_str());
    names.find(|other| other.replace('.', "_") == folded)
}

/// What a new topic shall be.
#[derive(Clone, Debug)]
pub(crate) struct NewTopic {
    pub(crate) name: String,
    pub(crate) partitions: i32,
    pub(crate) configs: BTreeMap<String, String>,
}

/// A topic of users, with a fresh identity.
pub(crate) fn new_topic(random: &mut dyn Random, topic: NewTopic) -> Topic {
    Topic {
        id: random::uuid(random),
        name: topic.name,
        partition_count: topic.partitions,
        replication_factor: 1,
        is_internal: false,
        configs: topic.configs,
    }
}

/// [`TRANSACTIONS_TOPIC`] as it is made when it is first needed.
pub(crate) fn new_transactions_topic(id: TopicId, settings: &BrokerSettings) -> Topic {
    let segment_bytes = settings.values.get(broker_setting("transaction.state.log.segment.bytes")).0;
    let configs = BTreeMap::from([
        ("cleanup.policy".to_owned(), "compact".to_owned()),
        ("compression.type".to_owned(), "uncompressed".to_owned()),
        ("segment.bytes".to_owned(), segment_bytes.to_owned()),
    ]);
    Topic {
        id,
        name: TRANSACTIONS_TOPIC.to_owned(),
        partition_count: settings.transactions_partitions,
        replication_factor: 1,
        is_internal: true,
        configs,
    }
}

/// Writes the record of a new topic. It exists once the record is durable; returns its id and the record's position.
///
/// # Errors
/// [`ProposeError`] when nothing can be written now.
pub(crate) fn propose(node: &mut Node, topic: NewTopic, now: Now) -> Result<(TopicId, Offset), ProposeError> {
    let topic = new_topic(node.random.as_mut(), topic);
    let id = topic.id;
    let position =
        node.metadata.propose(&mut node.logs, vec![MetadataRecord::Topic(Arc::new(topic))], now)?;
    Ok((id, position))
}

/// Refuses to change a topic while an earlier change of it is not durable: what the second one was decided on could
/// be gone. The code is one that admin clients try again on; the wait is a disk's.
///
/// # Errors
/// NOT_CONTROLLER.
pub(crate) fn check_not_changing(node: &Node, id: TopicId) -> Result<(), Refusal> {
    let changing =
        node.metadata.image().topic_by_id(id).is_some_and(|topic| node.metadata.is_pending(&topic.name));
    if changing {
        return Err(Refusal::with_message(ErrorCode::NotController, "the topic is being changed; try again"));
    }
    Ok(())
}

/// Makes the logs of a topic's partitions that do not exist yet, and gives all of them their configuration. Where
/// there is no room for that now it is tried again later; until then the partition has no leader.
pub(crate) fn open_partitions(node: &mut Node, topic: &Topic) {
    let config = partition_config(&TopicSettings::new(&topic.configs, &node.settings.values));
    let kind = if topic.is_internal { LogKind::Internal } else { LogKind::User };
    for (partition, directory) in topic.partitions() {
        if let Err(error) = node.logs.create_partition(partition, &directory, kind, config.clone()) {
            tracing::warn!("partition {directory} cannot be opened yet: {error}");
            node.unopened.insert(topic.id);
            return;
        }
    }
}

/// The partition, if topic and partition exist.
pub(crate) fn partition(topic: &Topic, index: i32) -> Option<TopicPartition> {
    (0..topic.partition_count)
        .contains(&index)
        .then_some(TopicPartition { topic: topic.id, partition: PartitionIndex(index) })
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn names_are_those_kafka_accepts() {
        for good in ["t", "a.b_c-D9", &"x".repeat(249)] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "a b", "a/b", "é", &"x".repeat(250)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
