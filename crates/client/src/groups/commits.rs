//! Where groups have read up to: everything that they have committed.

use std::collections::BTreeMap;

use milepost_model::{LeaderEpoch, Offset, PartitionIndex};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use super::each::{PerGroup, each_group};
use crate::cluster::Cluster;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::topic_partition::TopicPartition;

/// The first version in which no topics means all topics.
const ALL_TOPICS_FROM: i16 = 2;
/// The first version in which the broker can be told to refuse where a transaction is open.
const STABLE_FROM: i16 = 7;
/// The first version in which one request asks about any number of groups.
const GROUPS_FROM: i16 = 8;
/// How many it then asks about: a group may have thousands of partitions, and an answer comes whole.
const GROUPS_A_REQUEST: usize = 50;

/// What a group has committed for a partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Committed {
    /// The next offset to read.
    pub offset: Offset,
    /// The leader's epoch of the record before it, where whoever committed said it.
    pub leader_epoch: Option<LeaderEpoch>,
    /// What whoever committed wrote beside it; mostly empty.
    pub metadata: String,
}

/// What is done about offsets that an open transaction is about to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// They are read as they were before it.
    Passed,
    /// The partition is refused with UNSTABLE_OFFSET_COMMIT.
    Refused,
}

/// What one group has committed, and of which partitions that cannot be said now.
pub type Commits = BTreeMap<TopicPartition, Result<Committed, ClientError>>;

/// All that these groups have committed. A group that is not there has committed nothing.
///
/// # Errors
/// When nobody can be asked. What is wrong with one group or partition is in its own result.
pub fn committed(
    cluster: &mut Cluster,
    groups: &[&str],
    pending: Pending,
) -> Result<PerGroup<Commits>, ClientError> {
    each_group(cluster, groups, |connection, of_it, deadline, found| {
        ask(connection, of_it, pending, deadline, found)
    })
}

fn ask(
    connection: &mut Connection,
    groups: &[&str],
    pending: Pending,
    deadline: Deadline,
    found: &mut PerGroup<Commits>,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::OffsetFetch)?;
    if version < ALL_TOPICS_FROM {
        let what = format!("all offsets of a group, from {}", connection.address());
        return Err(ClientError::refused(what, ErrorCode::UnsupportedVersion, None));
    }
    let require_stable = version >= STABLE_FROM && pending == Pending::Refused;
    if version >= GROUPS_FROM {
        let requests = groups.chunks(GROUPS_A_REQUEST).map(|part| OffsetFetchRequest {
            groups: part.iter().map(|group| all_of(group)).collect(),
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
            topics: None,
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

fn all_of(group_id: &str) -> OffsetFetchRequestGroup<'_> {
    OffsetFetchRequestGroup { group_id, topics: None, ..OffsetFetchRequestGroup::default() }
}

fn refused(group: &str, code: ErrorCode) -> ClientError {
    ClientError::refused(format!("the offsets of {group}"), code, None)
}

fn read_groups(answer: &OffsetFetchResponse<'_>, found: &mut PerGroup<Commits>) {
    for group in &answer.groups {
        let outcome = match group.error_code {
            ErrorCode::None => {
                let mut commits = Commits::new();
                for topic in &group.topics {
                    for one in &topic.partitions {
                        let epoch = one.committed_leader_epoch;
                        let place = TopicPartition::new(topic.name, PartitionIndex(one.partition_index));
                        put(&mut commits, place, one.error_code, (one.committed_offset, epoch, one.metadata));
                    }
                }
                Ok(commits)
            }
            code => Err(refused(group.group_id, code)),
        };
        found.insert(group.group_id.to_owned(), outcome);
    }
}

fn read_one(answer: &OffsetFetchResponse<'_>, group: &str) -> Result<Commits, ClientError> {
    if answer.error_code != ErrorCode::None {
        return Err(refused(group, answer.error_code));
    }
    let mut commits = Commits::new();
    for topic in &answer.topics {
        for one in &topic.partitions {
            let place = TopicPartition::new(topic.name, PartitionIndex(one.partition_index));
            let said = (one.committed_offset, one.committed_leader_epoch, one.metadata);
            put(&mut commits, place, one.error_code, said);
        }
    }
    Ok(commits)
}

fn put(
    commits: &mut Commits,
    place: TopicPartition,
    code: ErrorCode,
    (offset, epoch, metadata): (i64, i32, Option<&str>),
) {
    if code != ErrorCode::None {
        let error = ClientError::refused(place.to_string(), code, None);
        commits.insert(place, Err(error));
    } else if offset >= 0 {
        let leader_epoch = (epoch >= 0).then_some(LeaderEpoch(epoch));
        let metadata = metadata.unwrap_or_default().to_owned();
        commits.insert(place, Ok(Committed { offset: Offset(offset), leader_epoch, metadata }));
    }
}
