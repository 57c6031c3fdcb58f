//! OffsetFetch in all its versions: what groups have committed, for everybody in this room who asks.
//!
//! It must never decide what an answer means to whoever asked: a partition that is refused, or was never committed, is said
//! as it is. `group` and `groups` call it.

use std::collections::BTreeMap;

use milepost_model::{LeaderEpoch, Offset, PartitionIndex};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
    OffsetFetchResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::groups::{Committed, Pending, PerGroup};
use crate::topic_partition::{TopicPartition, by_topic};

/// The first version in which no topics means all topics.
const ALL_TOPICS_FROM: i16 = 2;
/// The first version in which the broker can be told to refuse where a transaction is open.
const STABLE_FROM: i16 = 7;
/// The first version in which one request asks about any number of groups.
const GROUPS_FROM: i16 = 8;
/// How many it then asks about: a group may have thousands of partitions, and an answer comes whole.
const GROUPS_A_REQUEST: usize = 50;

/// What was said of each partition; `None`: nothing is committed.
pub(crate) type Said = BTreeMap<TopicPartition, Result<Option<Committed>, ClientError>>;

/// Which partitions of a group are asked about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'a> {
    /// Every one that it has committed something for.
    All,
    /// These.
    Named(&'a [TopicPartition]),
}

/// Asks a coordinator about groups of its own.
pub(crate) fn ask(
    connection: &mut Connection,
    groups: &[&str],
    wanted: Wanted<'_>,
    pending: Pending,
    deadline: Deadline,
    found: &mut PerGroup<Said>,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::OffsetFetch)?;
    if version < ALL_TOPICS_FROM && matches!(wanted, Wanted::All) {
        let what = format!("all offsets of a group, from {}", connection.address());
        return Err(ClientError::refused(what, ErrorCode::UnsupportedVersion, None));
    }
    let require_stable = version >= STABLE_FROM && pending == Pending::Refused;
    let names = named(wanted);
    if version >= GROUPS_FROM {
        let requests = groups.chunks(GROUPS_A_REQUEST).map(|part| OffsetFetchRequest {
            groups: part.iter().map(|group| about(group, names.as_deref())).collect(),
            require_stable,
            ..OffsetFetchRequest::default()
        });
        connection.pipeline(requests, version, deadline, |answer| {
            read_groups(&answer.decode()?, found);
            Ok(())
        })
    } else {
        let mut asked = groups.iter();
        let requests = groups.iter().map(|group| OffsetFetchRequest {
            group_id: group,
            topics: names.as_deref().map(topics_of_one_group),
            require_stable,
            ..OffsetFetchRequest::default()
        });
        connection.pipeline(requests, version, deadline, |answer| {
            let answer = answer.decode()?;
            // Answers come in the order of the requests.
            if let Some(group) = asked.next() {
                found.insert((*group).to_owned(), read_one(&answer, group));
            }
            Ok(())
        })
    }
}

/// The partitions by topic; `None`: all.
fn named(wanted: Wanted<'_>) -> Option<Vec<(&str, Vec<i32>)>> {
    let Wanted::Named(partitions) = wanted else { return None };
    let topics = by_topic(partitions.iter().map(|one| (one, ())));
    let indexes = |of_it: Vec<(PartitionIndex, ())>| of_it.into_iter().map(|(index, ())| index.0).collect();
    Some(topics.into_iter().map(|(name, of_it)| (name, indexes(of_it))).collect())
}

fn about<'a>(group_id: &'a str, names: Option<&[(&'a str, Vec<i32>)]>) -> OffsetFetchRequestGroup<'a> {
    let topic = |(name, indexes): &(&'a str, Vec<i32>)| OffsetFetchRequestTopics {
        name,
        partition_indexes: indexes.clone(),
        ..OffsetFetchRequestTopics::default()
    };
    OffsetFetchRequestGroup {
        group_id,
        topics: names.map(|names| names.iter().map(topic).collect()),
        ..OffsetFetchRequestGroup::default()
    }
}

fn topics_of_one_group<'a>(names: &[(&'a str, Vec<i32>)]) -> Vec<OffsetFetchRequestTopic<'a>> {
    let topic = |(name, indexes): &(&'a str, Vec<i32>)| OffsetFetchRequestTopic {
        name,
        partition_indexes: indexes.clone(),
    };
    names.iter().map(topic).collect()
}

fn refused(group: &str, code: ErrorCode) -> ClientError {
    ClientError::refused(format!("the offsets of {group}"), code, None)
}

fn read_groups(answer: &OffsetFetchResponse<'_>, found: &mut PerGroup<Said>) {
    for group in &answer.groups {
        let outcome = match group.error_code {
            ErrorCode::None => {
                let mut said = Said::new();
                for topic in &group.topics {
                    for one in &topic.partitions {
                        let epoch = one.committed_leader_epoch;
                        let place = TopicPartition::new(topic.name, PartitionIndex(one.partition_index));
                        put(&mut said, place, one.error_code, (one.committed_offset, epoch, one.metadata));
                    }
                }
                Ok(said)
            }
            code => Err(refused(group.group_id, code)),
        };
        found.insert(group.group_id.to_owned(), outcome);
    }
}

fn read_one(answer: &OffsetFetchResponse<'_>, group: &str) -> Result<Said, ClientError> {
    if answer.error_code != ErrorCode::None {
        return Err(refused(group, answer.error_code));
    }
    let mut said = Said::new();
    for topic in &answer.topics {
        for one in &topic.partitions {
            let place = TopicPartition::new(topic.name, PartitionIndex(one.partition_index));
            let words = (one.committed_offset, one.committed_leader_epoch, one.metadata);
            put(&mut said, place, one.error_code, words);
        }
    }
    Ok(said)
}

fn put(
    said: &mut Said,
    place: TopicPartition,
    code: ErrorCode,
    (offset, epoch, metadata): (i64, i32, Option<&str>),
) {
    let outcome = match code {
        ErrorCode::None => Ok((offset >= 0).then(|| Committed {
            offset: Offset(offset),
            leader_epoch: (epoch >= 0).then_some(LeaderEpoch(epoch)),
            metadata: metadata.unwrap_or_default().to_owned(),
        })),
        code => Err(ClientError::refused(place.to_string(), code, None)),
    };
    said.insert(place, outcome);
}
