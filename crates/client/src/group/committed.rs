//! Asking where a group has read up to.

use std::collections::BTreeMap;

use milepost_model::{Offset, PartitionIndex};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
    OffsetFetchResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::topic_partition::{TopicPartition, by_topic};

/// From this version on one request asks about any number of groups.
const GROUPS_FROM: i16 = 8;
/// From this version on the broker can be told to wait for open transactions.
const STABLE_FROM: i16 = 7;

/// The offset that a group has committed for each of these partitions; `None` where it never did.
///
/// # Errors
/// When the group's coordinator does not answer in time, or refuses.
pub fn committed(
    cluster: &mut Cluster,
    group: &str,
    partitions: &[TopicPartition],
) -> Result<BTreeMap<TopicPartition, Option<Offset>>, ClientError> {
    if partitions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let deadline = cluster.deadline();
    let mut sorted = partitions.to_vec();
    sorted.sort();
    let found = cluster
        .with(Target::Coordinator(group), deadline, |connection| ask(connection, group, &sorted, deadline))?;
    // A partition that the answer lacks was not said to have no offset.
    let missing = sorted.iter().find(|one| !found.contains_key(*one));
    match missing {
        Some(one) => Err(ClientError::Incomplete { what: "OffsetFetch".to_owned(), lacks: one.to_string() }),
        None => Ok(found),
    }
}

fn ask(
    connection: &mut Connection,
    group: &str,
    partitions: &[TopicPartition],
    deadline: Deadline,
) -> Result<BTreeMap<TopicPartition, Option<Offset>>, ClientError> {
    let version = connection.version(ApiKey::OffsetFetch)?;
    let topics: Vec<(&str, Vec<i32>)> = by_topic(partitions.iter().map(|one| (one, ())))
        .into_iter()
        .map(|(name, of_it)| (name, of_it.into_iter().map(|(index, ())| index.0).collect()))
        .collect();
    let mut request = OffsetFetchRequest { require_stable: version >= STABLE_FROM, ..Default::default() };
    if version >= GROUPS_FROM {
        request.groups = vec![OffsetFetchRequestGroup {
            group_id: group,
            topics: Some(
                topics
                    .into_iter()
                    .map(|(name, partition_indexes)| OffsetFetchRequestTopics {
                        name,
                        partition_indexes,
                        ..OffsetFetchRequestTopics::default()
                    })
                    .collect(),
            ),
            ..OffsetFetchRequestGroup::default()
        }];
    } else {
        request.group_id = group;
        let of_topic = |(name, partition_indexes)| OffsetFetchRequestTopic { name, partition_indexes };
        request.topics = Some(topics.into_iter().map(of_topic).collect());
    }
    let answer: OffsetFetchResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    read(&answer, group)
}

fn read(
    answer: &OffsetFetchResponse<'_>,
    group: &str,
) -> Result<BTreeMap<TopicPartition, Option<Offset>>, ClientError> {
    let what = || format!("the offsets of group {group}");
    let of_group = answer.groups.iter().find(|one| one.group_id == group);
    let code = of_group.map_or(answer.error_code, |one| one.error_code);
    if code != ErrorCode::None {
        return Err(ClientError::refused(what(), code, None));
    }
    let old = answer.topics.iter().flat_map(|topic| {
        topic
            .partitions
            .iter()
            .map(|one| (topic.name, one.partition_index, one.committed_offset, one.error_code))
    });
    let new = of_group.into_iter().flat_map(|one| &one.topics).flat_map(|topic| {
        topic
            .partitions
            .iter()
            .map(|one| (topic.name, one.partition_index, one.committed_offset, one.error_code))
    });
    let mut found = BTreeMap::new();
    for (topic, index, offset, code) in old.chain(new) {
        if code != ErrorCode::None {
            return Err(ClientError::refused(what(), code, None));
        }
        let place = TopicPartition::new(topic, PartitionIndex(index));
        found.insert(place, (offset >= 0).then_some(Offset(offset)));
    }
    Ok(found)
}
