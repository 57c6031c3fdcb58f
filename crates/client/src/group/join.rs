//! Entering a generation of a group: JoinGroup, the sharing out if this member leads, SyncGroup.

use std::collections::BTreeMap;
use std::time::Duration;

use milepost_model::{Generation, PartitionIndex};
use milepost_records::consumer_protocol::{
    AssignedTopic, Assignment, encode_subscription, subscribed_topics,
};
use milepost_records::{DecodeError, EncodeError};
use milepost_wire::messages::join_group::{JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse};
use milepost_wire::messages::sync_group::{SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse};
use milepost_wire::{ApiKey, ErrorCode};

use super::assignor::{self, Shares, Wishes};
use super::{GroupOptions, wire_ms};
use crate::backoff::Backoff;
use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::topic_partition::TopicPartition;

/// The kind of group that consumers form.
const CONSUMERS: &str = "consumer";
/// How long a generation may take to form: as long as the slowest member of another program may let it wait.
const JOIN_TIMEOUT: Duration = Duration::from_secs(600);
/// Bytes of all assignments of a group that a leader sends. Brokers store them in one record.
const ASSIGNMENTS_BYTES_MAX: usize = 16 << 20;

/// A place in a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Membership {
    /// The generation.
    pub(super) generation: Generation,
    /// The name that the coordinator has given this member.
    pub(super) member_id: String,
    /// The partitions that are this member's.
    pub(super) partitions: Vec<TopicPartition>,
}

/// What the coordinator answers to JoinGroup when a generation has formed.
struct Joined {
    generation: Generation,
    member_id: String,
    protocol: String,
    /// What the members want, if this one is to share out.
    wishes: Option<Wishes>,
}

/// What to do after a refusal.
enum Next {
    /// Again, as the same member or under the id that the coordinator has just given.
    As(String),
    Fail(ClientError),
}

/// Takes part in the next generation, as the member of that id or, if it is empty, as a new one. The id is kept up to date,
/// so that a member that gives up waiting can still leave.
pub(super) fn join(
    cluster: &mut Cluster,
    options: &GroupOptions,
    topics: &[String],
    member_id: &mut String,
) -> Result<Membership, ClientError> {
    let deadline = Deadline::after(JOIN_TIMEOUT);
    // Whatever does not pass within the time of an operation, is said; waiting for other members is something else.
    let mut patience = cluster.deadline();
    let mut backoff = Backoff::default();
    loop {
        let error = match attempt(cluster, options, topics, member_id, deadline)? {
            Ok(membership) => {
                member_id.clone_from(&membership.member_id);
                return Ok(membership);
            }
            Err(Next::As(id)) => {
                *member_id = id;
                patience = cluster.deadline();
                continue;
            }
            Err(Next::Fail(error)) => error,
        };
        cluster.forget(Target::Coordinator(&options.group));
        let stop = cluster.options().stop.clone();
        backoff.wait(patience, &stop, error)?;
    }
}

/// One round. The outer error is final.
fn attempt(
    cluster: &mut Cluster,
    options: &GroupOptions,
    topics: &[String],
    member_id: &str,
    deadline: Deadline,
) -> Result<Result<Membership, Next>, ClientError> {
    let target = Target::Coordinator(&options.group);
    let joined = cluster
        .connection(target, deadline)
        .and_then(|connection| join_once(connection, options, topics, member_id, deadline));
    let joined = match joined {
        Ok(Ok(joined)) => joined,
        Ok(Err(id)) => return Ok(Err(Next::As(id))),
        Err(error) if error.is_transient() => return Ok(Err(Next::Fail(error))),
        Err(error) => return Err(error),
    };
    let shares = match &joined.wishes {
        Some(wishes) => share_out(cluster, wishes)?,
        None => Shares::new(),
    };
    let synced = cluster
        .connection(target, deadline)
        .and_then(|connection| sync_once(connection, options, &joined, &shares, deadline));
    match synced {
        Ok(Ok(partitions)) => {
            Ok(Ok(Membership { generation: joined.generation, member_id: joined.member_id, partitions }))
        }
        Ok(Err(id)) => Ok(Err(Next::As(id))),
        Err(error) if error.is_transient() => Ok(Err(Next::Fail(error))),
        Err(error) => Err(error),
    }
}

/// Under which id to try again after a refusal that is part of the game.
fn next_id(code: ErrorCode, given: &str, current: &str) -> Option<String> {
    match code {
        ErrorCode::MemberIdRequired => Some(given.to_owned()),
        ErrorCode::UnknownMemberId => Some(String::new()),
        ErrorCode::RebalanceInProgress | ErrorCode::IllegalGeneration => Some(current.to_owned()),
        _ => None,
    }
}

fn join_once(
    connection: &mut Connection,
    options: &GroupOptions,
    topics: &[String],
    member_id: &str,
    deadline: Deadline,
) -> Result<Result<Joined, String>, ClientError> {
    let version = connection.version(ApiKey::JoinGroup)?;
    let metadata =
        encode_subscription(topics.iter().map(String::as_str)).map_err(|error| unwritable(&error))?;
    let request = JoinGroupRequest {
        group_id: &options.group,
        session_timeout_ms: wire_ms(options.session_timeout),
        rebalance_timeout_ms: wire_ms(options.rebalance_timeout),
        member_id,
        protocol_type: CONSUMERS,
        protocols: vec![JoinGroupRequestProtocol { name: assignor::NAME, metadata: &metadata }],
        ..JoinGroupRequest::default()
    };
    let answer: JoinGroupResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    if answer.error_code != ErrorCode::None {
        return match next_id(answer.error_code, answer.member_id, member_id) {
            Some(id) => Ok(Err(id)),
            None => Err(ClientError::refused(group(options), answer.error_code, None)),
        };
    }
    let wishes = (answer.leader == answer.member_id).then(|| wishes(&answer)).transpose();
    Ok(Ok(Joined {
        generation: Generation(answer.generation_id),
        member_id: answer.member_id.to_owned(),
        protocol: answer.protocol_name.unwrap_or(assignor::NAME).to_owned(),
        wishes: wishes.map_err(|error| unreadable(options, &error))?,
    }))
}

fn wishes(answer: &JoinGroupResponse<'_>) -> Result<Wishes, DecodeError> {
    let wish = |member: &milepost_wire::messages::join_group::JoinGroupResponseMember<'_>| {
        let topics = subscribed_topics(member.metadata)?;
        Ok((member.member_id.to_owned(), topics.into_iter().map(str::to_owned).collect()))
    };
    answer.members.iter().map(wish).collect()
}

fn share_out(cluster: &mut Cluster, wishes: &Wishes) -> Result<Shares, ClientError> {
    let mut names: Vec<&str> = wishes.values().flatten().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let metadata = cluster.metadata(Some(&names))?;
    let there = metadata.topics.iter().filter(|topic| topic.error == ErrorCode::None);
    let partitions: BTreeMap<String, usize> =
        there.map(|topic| (topic.name.clone(), topic.partitions.len())).collect();
    Ok(assignor::assign(wishes, &partitions))
}

fn sync_once(
    connection: &mut Connection,
    options: &GroupOptions,
    joined: &Joined,
    shares: &Shares,
    deadline: Deadline,
) -> Result<Result<Vec<TopicPartition>, String>, ClientError> {
    let version = connection.version(ApiKey::SyncGroup)?;
    let assignments = encode_shares(options, shares)?;
    let request = SyncGroupRequest {
        group_id: &options.group,
        generation_id: joined.generation.0,
        member_id: &joined.member_id,
        protocol_type: Some(CONSUMERS),
        protocol_name: Some(&joined.protocol),
        assignments: assignments
            .iter()
            .map(|(member_id, assignment)| SyncGroupRequestAssignment { member_id, assignment })
            .collect(),
        ..SyncGroupRequest::default()
    };
    let answer: SyncGroupResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    if answer.error_code != ErrorCode::None {
        return match next_id(answer.error_code, "", &joined.member_id) {
            Some(id) => Ok(Err(id)),
            None => Err(ClientError::refused(group(options), answer.error_code, None)),
        };
    }
    let assignment = Assignment::decode(answer.assignment).map_err(|error| unreadable(options, &error))?;
    let mut partitions: Vec<TopicPartition> = assignment
        .partitions
        .iter()
        .flat_map(|of| of.partitions.iter().map(|partition| TopicPartition::new(of.topic, *partition)))
        .collect();
    partitions.sort();
    Ok(Ok(partitions))
}

fn encode_shares<'a>(
    options: &GroupOptions,
    shares: &'a Shares,
) -> Result<Vec<(&'a str, Vec<u8>)>, ClientError> {
    let assigned = |(topic, partitions): (&'a String, &Vec<PartitionIndex>)| AssignedTopic {
        topic,
        partitions: partitions.clone(),
    };
    let mut encoded = Vec::with_capacity(shares.len());
    for (member, share) in shares {
        let partitions = share.iter().map(assigned).collect();
        let assignment = Assignment { partitions, user_data: None };
        encoded.push((member.as_str(), assignment.encode().map_err(|error| unwritable(&error))?));
    }
    let bytes: usize = encoded.iter().map(|(_, assignment)| assignment.len()).sum();
    if bytes > ASSIGNMENTS_BYTES_MAX {
        return Err(ClientError::refused(group(options), ErrorCode::MessageTooLarge, None));
    }
    Ok(encoded)
}

fn group(options: &GroupOptions) -> String {
    format!("group {}", options.group)
}

fn unwritable(error: &EncodeError) -> ClientError {
    ClientError::Incomplete { what: "joining the group".to_owned(), lacks: error.to_string() }
}

fn unreadable(options: &GroupOptions, error: &DecodeError) -> ClientError {
    let message = format!("another member's bytes cannot be read: {error}");
    ClientError::refused(group(options), ErrorCode::InconsistentGroupProtocol, Some(&message))
}
