//! Writing offsets from outside of a group: a commit without a member. The coordinator takes it only while nobody is in
//! the group, and makes a group that is not there.

use std::collections::BTreeMap;

use milepost_model::PartitionIndex;
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use super::commits::Committed;
use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::leaders::PerPartition;
use crate::topic_partition::{TopicPartition, by_topic};

/// How many partitions one request commits. All of them are one batch in the coordinator's log, whose size the cluster
/// bounds (max.message.bytes, by default 1 MiB); with metadata of the longest kind that is four kilobytes each.
const PARTITIONS_A_REQUEST: usize = 1000;
/// How many bytes of metadata one request commits.
const METADATA_A_REQUEST_BYTES: usize = 256 << 10;

/// Commits these offsets for the group. After a part that could not be sent the rest is not tried, and has its error.
///
/// # Errors
/// [`ClientError::Stopped`] when the stop came during the first part, which may be stored all the same. After that, what is wrong
/// is in each partition's result.
pub fn alter(
    cluster: &mut Cluster,
    group: &str,
    offsets: &BTreeMap<TopicPartition, Committed>,
) -> Result<PerPartition<()>, ClientError> {
    let mut altered = PerPartition::new();
    for part in parts(offsets) {
        let deadline = cluster.deadline();
        let outcome = cluster.with(Target::Coordinator(group), deadline, |connection| {
            commit(connection, group, &part, deadline, &mut altered)
        });
        match outcome {
            Err(ClientError::Stopped) if altered.is_empty() => return Err(ClientError::Stopped),
            Err(error) => {
                for one in
                    offsets.keys().filter(|one| !altered.contains_key(*one)).cloned().collect::<Vec<_>>()
                {
                    altered.insert(one, Err(error.clone()));
                }
                return Ok(altered);
            }
            Ok(()) => {}
        }
    }
    Ok(altered)
}

type Part<'a> = Vec<(&'a TopicPartition, &'a Committed)>;

fn parts(offsets: &BTreeMap<TopicPartition, Committed>) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut bytes = 0;
    for entry in offsets {
        bytes += entry.1.metadata.len();
        match parts.last_mut() {
            Some(part) if part.len() < PARTITIONS_A_REQUEST && bytes <= METADATA_A_REQUEST_BYTES => {
                part.push(entry);
            }
            _ => {
                bytes = entry.1.metadata.len();
                parts.push(vec![entry]);
            }
        }
    }
    parts
}

fn commit(
    connection: &mut Connection,
    group: &str,
    part: &Part<'_>,
    deadline: Deadline,
    altered: &mut PerPartition<()>,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::OffsetCommit)?;
    let mut topics = Vec::new();
    for (name, of_it) in by_topic(part.iter().copied()) {
        let partitions = of_it.into_iter().map(|(index, committed)| committed.in_request(index));
        topics.push(OffsetCommitRequestTopic {
            name,
            partitions: partitions.collect(),
            ..Default::default()
        });
    }
    let request = OffsetCommitRequest { group_id: group, topics, ..OffsetCommitRequest::default() };
    let answer: OffsetCommitResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    let mut transient = None;
    for topic in &answer.topics {
        for one in &topic.partitions {
            let place = TopicPartition::new(topic.name, PartitionIndex(one.partition_index));
            let outcome = ClientError::of_code(place.to_string(), one.error_code, None);
            if let Err(error) = &outcome
                && is_of_the_whole(error)
            {
                transient.get_or_insert_with(|| error.clone());
            }
            altered.insert(place, outcome);
        }
    }
    transient.map_or(Ok(()), Err)
}

/// Whether another attempt at the whole request may succeed: the coordinator is another or not ready yet.
fn is_of_the_whole(error: &ClientError) -> bool {
    matches!(
        error.code(),
        Some(
            ErrorCode::CoordinatorLoadInProgress
                | ErrorCode::CoordinatorNotAvailable
                | ErrorCode::NotCoordinator
        )
    )
}
