//! The cluster as a broker sees it: brokers, topics, and who leads which partition.

use milepost_model::{LeaderEpoch, PartitionIndex, TopicId};
use milepost_wire::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponsePartition, MetadataResponseTopic,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::address::Address;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::topic_partition::TopicPartition;

/// From this version on the asker says whether asking may create a topic.
const SAYS_WHETHER_TO_CREATE_FROM: i16 = 4;

/// A broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broker {
    /// Its number.
    pub id: i32,
    /// Where it says that it listens.
    pub address: Address,
}

/// What one answer said.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// The cluster's name for itself.
    pub cluster_id: Option<String>,
    /// The brokers that live, by number.
    pub brokers: Vec<Broker>,
    /// Where to turn to for creating and deleting topics.
    pub controller: Option<Address>,
    /// The topics asked for, in the order of their names.
    pub topics: Vec<TopicMetadata>,
}

/// A topic, or why it cannot be had.
#[derive(Clone, Debug)]
pub struct TopicMetadata {
    /// Its name.
    pub name: String,
    /// Its identity, from brokers that say it.
    pub id: Option<TopicId>,
    /// Whether it belongs to the cluster itself.
    pub is_internal: bool,
    /// [`ErrorCode::None`], or why there is nothing more here.
    pub error: ErrorCode,
    /// By number.
    pub partitions: Vec<PartitionMetadata>,
}

/// A partition.
#[derive(Clone, Debug)]
pub struct PartitionMetadata {
    /// Its number.
    pub index: PartitionIndex,
    /// The broker that leads it, if there is one now.
    pub leader: Option<i32>,
    /// The leader's epoch, from brokers that say it.
    pub leader_epoch: Option<LeaderEpoch>,
    /// The brokers that hold a copy.
    pub replicas: Vec<i32>,
    /// Those whose copy is complete.
    pub in_sync: Vec<i32>,
}

impl Metadata {
    /// The address of a broker.
    #[must_use]
    pub fn broker(&self, id: i32) -> Option<&Address> {
        self.brokers.iter().find(|broker| broker.id == id).map(|broker| &broker.address)
    }

    /// What is known of a topic.
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<&TopicMetadata> {
        self.topics.iter().find(|topic| topic.name == name)
    }

    /// All partitions of a topic.
    ///
    /// # Errors
    /// When the topic is not there.
    pub fn partitions_of(&self, name: &str) -> Result<Vec<TopicPartition>, ClientError> {
        let found = self.topic(name);
        match found.map_or(ErrorCode::UnknownTopicOrPartition, |topic| topic.error) {
            ErrorCode::None => {
                let partitions = found.into_iter().flat_map(|topic| &topic.partitions);
                Ok(partitions.map(|one| TopicPartition::new(name, one.index)).collect())
            }
            code => Err(ClientError::refused(name, code, None)),
        }
    }

    /// Where the leader of a partition listens.
    ///
    /// # Errors
    /// When the topic or partition is not there, or has no leader now.
    pub fn leader(&self, topic: &str, partition: PartitionIndex) -> Result<&Address, ClientError> {
        let what = || format!("{topic}-{partition}");
        let refused = |code| Err(ClientError::refused(what(), code, None));
        let Some(found) = self.topic(topic) else { return refused(ErrorCode::UnknownTopicOrPartition) };
        if found.error != ErrorCode::None {
            return refused(found.error);
        }
        let Some(partition) = found.partitions.iter().find(|one| one.index == partition) else {
            return refused(ErrorCode::UnknownTopicOrPartition);
        };
        let address = partition.leader.and_then(|leader| self.broker(leader));
        address.ok_or_else(|| ClientError::refused(what(), ErrorCode::LeaderNotAvailable, None))
    }
}

/// Asks one broker for topics; `None` means all of them. Never creates one, as far as the broker can be told not to.
pub(crate) fn ask(
    connection: &mut Connection,
    topics: Option<&[&str]>,
    deadline: Deadline,
) -> Result<Metadata, ClientError> {
    let version = connection.version(ApiKey::Metadata)?;
    let request = MetadataRequest {
        topics: topics.map(|names| {
            names
                .iter()
                .map(|name| MetadataRequestTopic { name: Some(name), ..MetadataRequestTopic::default() })
                .collect()
        }),
        allow_auto_topic_creation: version < SAYS_WHETHER_TO_CREATE_FROM,
        ..MetadataRequest::default()
    };
    let answer: MetadataResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    if answer.error_code != ErrorCode::None {
        return Err(ClientError::refused("the cluster's metadata", answer.error_code, None));
    }
    Ok(read(&answer))
}

fn read(answer: &MetadataResponse<'_>) -> Metadata {
    let mut brokers: Vec<Broker> = answer
        .brokers
        .iter()
        .filter_map(|one| Some(Broker { id: one.node_id, address: Address::advertised(one.host, one.port)? }))
        .collect();
    brokers.sort_by_key(|broker| broker.id);
    let mut topics: Vec<TopicMetadata> = answer.topics.iter().filter_map(topic).collect();
    topics.sort_by(|left, right| left.name.cmp(&right.name));
    let controller = brokers.iter().find(|broker| broker.id == answer.controller_id);
    Metadata {
        cluster_id: answer.cluster_id.map(str::to_owned),
        controller: controller.map(|broker| broker.address.clone()),
        brokers,
        topics,
    }
}

fn topic(said: &MetadataResponseTopic<'_>) -> Option<TopicMetadata> {
    let mut partitions: Vec<PartitionMetadata> = said.partitions.iter().map(partition).collect();
    partitions.sort_by_key(|partition| partition.index);
    Some(TopicMetadata {
        name: said.name?.to_owned(),
        id: (!said.topic_id.is_zero()).then_some(said.topic_id),
        is_internal: said.is_internal,
        error: said.error_code,
        partitions,
    })
}

fn partition(said: &MetadataResponsePartition) -> PartitionMetadata {
    PartitionMetadata {
        index: PartitionIndex(said.partition_index),
        leader: (said.leader_id >= 0).then_some(said.leader_id),
        leader_epoch: (said.leader_epoch >= 0).then_some(LeaderEpoch(said.leader_epoch)),
        replicas: said.replica_nodes.clone(),
        in_sync: said.isr_nodes.clone(),
    }
}
