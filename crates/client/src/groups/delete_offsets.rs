//! Deleting what a group has committed for some partitions.

use milepost_model::PartitionIndex;
use milepost_wire::messages::offset_delete::{
    OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic, OffsetDeleteResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::leaders::PerPartition;
use crate::topic_partition::{TopicPartition, by_topic};

/// How many partitions one request names.
const PARTITIONS_A_REQUEST: usize = 1000;

/// Deletes the group's offsets for these partitions, which must be sorted.
///
/// # Errors
/// When the coordinator cannot be asked or refuses the group as a whole.
pub fn delete_offsets(
    cluster: &mut Cluster,
    group: &str,
    partitions: &[TopicPartition],
) -> Result<PerPartition<()>, ClientError> {
    let mut deleted = PerPartition::new();
    for part in partitions.chunks(PARTITIONS_A_REQUEST) {
        let deadline = cluster.deadline();
        cluster.with(Target::Coordinator(group), deadline, |connection| {
            ask(connection, group, part, deadline, &mut deleted)
        })?;
    }
    for one in partitions {
        if !deleted.contains_key(one) {
            let lacks = one.to_string();
            deleted
                .insert(one.clone(), Err(ClientError::Incomplete { what: "OffsetDelete".to_owned(), lacks }));
        }
    }
    Ok(deleted)
}

fn ask(
    connection: &mut Connection,
    group: &str,
    part: &[TopicPartition],
    deadline: Deadline,
    deleted: &mut PerPartition<()>,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::OffsetDelete)?;
    let topics = by_topic(part.iter().map(|one| (one, ()))).into_iter().map(|(name, of_it)| {
        let partitions =
            of_it.into_iter().map(|(index, ())| OffsetDeleteRequestPartition { partition_index: index.0 });
        OffsetDeleteRequestTopic { name, partitions: partitions.collect() }
    });
    let request = OffsetDeleteRequest { group_id: group, topics: topics.collect() };
    let answer: OffsetDeleteResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    if answer.error_code != ErrorCode::None {
        return Err(ClientError::refused(format!("the offsets of {group}"), answer.error_code, None));
    }
    for topic in &answer.topics {
        for one in &topic.partitions {
            let place = TopicPartition::new(topic.name, PartitionIndex(one.partition_index));
            let outcome = ClientError::of_code(place.to_string(), one.error_code, None);
            deleted.insert(place, outcome);
        }
    }
    Ok(())
}
