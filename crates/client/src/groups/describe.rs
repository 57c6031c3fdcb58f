//! Groups with their members and what those have to read.

use std::collections::BTreeSet;

use milepost_model::PartitionIndex;
use milepost_records::consumer_protocol::{Assignment, subscribed_topics};
use milepost_wire::messages::consumer_group_describe::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, DescribedAssignment, DescribedConsumerGroup,
};
use milepost_wire::messages::describe_groups::{
    DescribeGroupsRequest, DescribeGroupsResponse, DescribedGroup, DescribedGroupMember,
};
use milepost_wire::{ApiKey, ErrorCode};

use super::GroupKind;
use super::each::{PerGroup, each_group};
use crate::cluster::Cluster;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::topic_partition::TopicPartition;

/// How many groups one request asks about.
const GROUPS_A_REQUEST: usize = 50;
/// The protocol type whose subscriptions and assignments are those of consumers.
const CONSUMER: &str = "consumer";
/// How a classic group that is not there is described.
const DEAD: &str = "Dead";

/// The partitions of a member.
pub type Assigned = BTreeSet<TopicPartition>;

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDescription {
    /// Which protocol it speaks.
    pub kind: GroupKind,
    /// Its state by Kafka's name; `Dead` for one that is not there.
    pub state: String,
    /// What its members speak among each other; empty for a group that only stores offsets.
    pub protocol_type: String,
    /// How partitions are shared out, if that is agreed.
    pub assignor: String,
    /// Of a consumer group.
    pub epochs: Option<GroupEpochs>,
    /// Its members, by id.
    pub members: Vec<MemberDescription>,
}

/// The epochs of a consumer group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEpochs {
    /// Changes with its members and what they subscribe to.
    pub group: i32,
    /// That of the latest assignment.
    pub assignment: i32,
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberDescription {
    /// Its id.
    pub member_id: String,
    /// The name under which it keeps its place, if it is static.
    pub instance_id: Option<String>,
    /// What the program calls itself.
    pub client_id: String,
    /// Where it connects from.
    pub host: String,
    /// Its epoch, in a consumer group.
    pub epoch: Option<i32>,
    /// The topics it wants. `None` where that is not known: a pattern, another protocol than that of consumers, or no
    /// answer because the group is rebalancing.
    pub subscribed: Option<BTreeSet<String>>,
    /// What it has to read.
    pub assigned: Assigned,
    /// What it is to have, in a consumer group.
    pub target: Option<Assigned>,
}

impl GroupDescription {
    /// Whether there is such a group.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.state != DEAD
    }

    /// Every topic that some member wants. `None` where that is not known of one of them.
    #[must_use]
    pub fn subscribed(&self) -> Option<BTreeSet<String>> {
        let mut all = BTreeSet::new();
        for member in &self.members {
            all.extend(member.subscribed.clone()?);
        }
        Some(all)
    }
}

/// Describes groups, whichever protocol they speak: as a consumer group first, and where it is none as a classic one. A
/// group that is not there is `Dead`.
///
/// # Errors
/// When nobody can be asked. What is wrong with one group is in its own result.
pub fn describe(cluster: &mut Cluster, groups: &[&str]) -> Result<PerGroup<GroupDescription>, ClientError> {
    each_group(cluster, groups, |connection, of_it, deadline, found| {
        if connection.version(ApiKey::ConsumerGroupDescribe).is_ok() {
            ask_consumer(connection, of_it, deadline, found)?;
        }
        let rest: Vec<&str> = of_it.iter().copied().filter(|group| !found.contains_key(*group)).collect();
        ask_classic(connection, &rest, deadline, found)
    })
}

fn ask_consumer(
    connection: &mut Connection,
    groups: &[&str],
    deadline: Deadline,
    found: &mut PerGroup<GroupDescription>,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::ConsumerGroupDescribe)?;
    let requests = groups.chunks(GROUPS_A_REQUEST).map(|part| ConsumerGroupDescribeRequest {
        group_ids: part.to_vec(),
        include_authorized_operations: false,
    });
    connection.pipeline(requests, version, deadline, |answer| {
        let answer: ConsumerGroupDescribeResponse<'_> = answer.decode()?;
        for one in &answer.groups {
            let outcome = match one.error_code {
                ErrorCode::None => Ok(consumer(one)),
                // It is of another kind, or not there at all. The empty name is none that a consumer group can have.
                ErrorCode::GroupIdNotFound | ErrorCode::UnsupportedVersion | ErrorCode::InvalidGroupId => {
                    continue;
                }
                code => Err(ClientError::refused(one.group_id, code, one.error_message)),
            };
            found.insert(one.group_id.to_owned(), outcome);
        }
        Ok(())
    })
}

fn ask_classic(
    connection: &mut Connection,
    groups: &[&str],
    deadline: Deadline,
    found: &mut PerGroup<GroupDescription>,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::DescribeGroups)?;
    let requests = groups
        .chunks(GROUPS_A_REQUEST)
        .map(|part| DescribeGroupsRequest { groups: part.to_vec(), ..DescribeGroupsRequest::default() });
    connection.pipeline(requests, version, deadline, |answer| {
        let answer: DescribeGroupsResponse<'_> = answer.decode()?;
        for one in &answer.groups {
            let outcome = match one.error_code {
                ErrorCode::None => Ok(classic(one)),
                ErrorCode::GroupIdNotFound => Ok(absent()),
                code => Err(ClientError::refused(one.group_id, code, one.error_message)),
            };
            found.insert(one.group_id.to_owned(), outcome);
        }
        Ok(())
    })
}

fn absent() -> GroupDescription {
    GroupDescription {
        kind: GroupKind::Classic,
        state: DEAD.to_owned(),
        protocol_type: String::new(),
        assignor: String::new(),
        epochs: None,
        members: Vec::new(),
    }
}

fn classic(one: &DescribedGroup<'_>) -> GroupDescription {
    let is_consumer = one.protocol_type == CONSUMER;
    let mut members: Vec<MemberDescription> =
        one.members.iter().map(|member| classic_member(member, is_consumer)).collect();
    members.sort_by(|left, right| left.member_id.cmp(&right.member_id));
    GroupDescription {
        kind: GroupKind::Classic,
        state: one.group_state.to_owned(),
        protocol_type: one.protocol_type.to_owned(),
        assignor: one.protocol_data.to_owned(),
        epochs: None,
        members,
    }
}

/// The bytes of a member are its own business: those that are not what consumers write are not read, and no error.
fn classic_member(one: &DescribedGroupMember<'_>, is_consumer: bool) -> MemberDescription {
    let subscribed = if is_consumer && !one.member_metadata.is_empty() {
        subscribed_topics(one.member_metadata).ok()
    } else {
        None
    };
    let assignment = if is_consumer { Assignment::decode(one.member_assignment).ok() } else { None };
    let assigned = assignment.iter().flat_map(|assignment| &assignment.partitions).flat_map(|topic| {
        topic.partitions.iter().map(|partition| TopicPartition::new(topic.topic, *partition))
    });
    MemberDescription {
        member_id: one.member_id.to_owned(),
        instance_id: one.group_instance_id.map(str::to_owned),
        client_id: one.client_id.to_owned(),
        host: one.client_host.to_owned(),
        epoch: None,
        subscribed: subscribed.map(|topics| topics.into_iter().map(str::to_owned).collect()),
        assigned: assigned.collect(),
        target: None,
    }
}

fn consumer(one: &DescribedConsumerGroup<'_>) -> GroupDescription {
    let member =
        |member: &milepost_wire::messages::consumer_group_describe::DescribedConsumerGroupMember<'_>| {
            let by_pattern = member.subscribed_topic_regex.is_some_and(|pattern| !pattern.is_empty());
            let names = member.subscribed_topic_names.iter().map(|name| (*name).to_owned());
            MemberDescription {
                member_id: member.member_id.to_owned(),
                instance_id: member.instance_id.map(str::to_owned),
                client_id: member.client_id.to_owned(),
                host: member.client_host.to_owned(),
                epoch: Some(member.member_epoch),
                subscribed: (!by_pattern).then(|| names.collect()),
                assigned: assigned(&member.assignment),
                target: Some(assigned(&member.target_assignment)),
            }
        };
    let mut members: Vec<MemberDescription> = one.members.iter().map(member).collect();
    members.sort_by(|left, right| left.member_id.cmp(&right.member_id));
    GroupDescription {
        kind: GroupKind::Consumer,
        state: one.group_state.to_owned(),
        protocol_type: CONSUMER.to_owned(),
        assignor: one.assignor_name.to_owned(),
        epochs: Some(GroupEpochs { group: one.group_epoch, assignment: one.assignment_epoch }),
        members,
    }
}

fn assigned(assignment: &DescribedAssignment<'_>) -> Assigned {
    let of_topic = assignment.topic_partitions.iter().flat_map(|topic| {
        topic.partitions.iter().map(|index| TopicPartition::new(topic.topic_name, PartitionIndex(*index)))
    });
    of_topic.collect()
}
