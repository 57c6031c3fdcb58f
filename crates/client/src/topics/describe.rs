//! Looking at topics.

use milepost_model::{Offset, PartitionIndex, TopicId};
use milepost_wire::ErrorCode;

use crate::cluster::{Cluster, Target};
use crate::error::ClientError;
use crate::metadata::{Metadata, TopicMetadata};
use crate::offsets;
use crate::topic_partition::TopicPartition;
use crate::topics::configs::{self, TopicConfig};

/// How many topics are asked about in one request for settings.
const TOPICS_A_REQUEST: usize = 100;

/// All that is shown of a topic.
#[derive(Clone, Debug)]
pub struct TopicDescription {
    /// Its name.
    pub name: String,
    /// Its identity, from brokers that say it.
    pub id: Option<TopicId>,
    /// Whether it belongs to the cluster itself.
    pub is_internal: bool,
    /// By number.
    pub partitions: Vec<PartitionDescription>,
    /// The settings that were given to it, by name.
    pub configs: Vec<TopicConfig>,
}

/// All that is shown of a partition.
#[derive(Clone, Debug)]
pub struct PartitionDescription {
    /// Its number.
    pub index: PartitionIndex,
    /// The broker that leads it, if there is one now.
    pub leader: Option<i32>,
    /// The brokers that hold a copy.
    pub replicas: Vec<i32>,
    /// Those whose copy is complete.
    pub in_sync: Vec<i32>,
    /// The first offset and the one after the last. `None` while the partition has no leader.
    pub offsets: Option<(Offset, Offset)>,
}

/// All topics, by name.
///
/// # Errors
/// When the cluster cannot be asked.
pub fn list(cluster: &mut Cluster) -> Result<Vec<TopicMetadata>, ClientError> {
    Ok(cluster.metadata(None)?.topics)
}

/// What became of each of some topics, in the order in which they were asked for.
#[derive(Debug, Default)]
pub struct Described {
    /// Those that are there.
    pub topics: Vec<TopicDescription>,
    /// Why the others are not.
    pub refused: Vec<ClientError>,
}

/// These topics. One that is gone does not hide the others.
///
/// # Errors
/// Whatever keeps the cluster from answering.
pub fn describe(cluster: &mut Cluster, names: &[&str]) -> Result<Described, ClientError> {
    let mut described = Described::default();
    for names in names.chunks(TOPICS_A_REQUEST) {
        let metadata = cluster.metadata(Some(names))?;
        let mut present = Vec::with_capacity(names.len());
        for name in names {
            match metadata.topic(name).map_or(ErrorCode::UnknownTopicOrPartition, |topic| topic.error) {
                ErrorCode::None => present.push(*name),
                error => described.refused.push(ClientError::refused(*name, error, None)),
            }
        }
        if present.is_empty() {
            continue;
        }
        let deadline = cluster.deadline();
        let configs = cluster
            .with(Target::Any, deadline, |connection| configs::set_on(connection, &present, deadline))?;
        for (name, configs) in present.iter().zip(configs) {
            described.topics.extend(description(cluster, &metadata, name, configs)?);
        }
    }
    Ok(described)
}

fn description(
    cluster: &mut Cluster,
    metadata: &Metadata,
    name: &str,
    configs: Vec<TopicConfig>,
) -> Result<Option<TopicDescription>, ClientError> {
    let Some(topic) = metadata.topic(name) else { return Ok(None) };
    let at = |index| TopicPartition::new(name, index);
    let led = topic.partitions.iter().filter(|one| metadata.leader(name, one.index).is_ok());
    let led: Vec<TopicPartition> = led.map(|one| at(one.index)).collect();
    let offsets = offsets::ends(cluster, &led)?;
    let partitions = topic.partitions.iter().map(|one| PartitionDescription {
        index: one.index,
        leader: one.leader,
        replicas: one.replicas.clone(),
        in_sync: one.in_sync.clone(),
        offsets: offsets.get(&at(one.index)).copied(),
    });
    Ok(Some(TopicDescription {
        name: topic.name.clone(),
        id: topic.id,
        is_internal: topic.is_internal,
        partitions: partitions.collect(),
        configs,
    }))
}
