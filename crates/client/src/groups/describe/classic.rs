//! Classic groups: of consumers, of workers of Kafka Connect, and of whoever else speaks JoinGroup.

use milepost_records::connect_protocol::{self, WorkerAssignment, WorkerState};
use milepost_records::consumer_protocol::{Assignment, subscribed_topics};
use milepost_wire::messages::describe_groups::{
    DescribeGroupsRequest, DescribeGroupsResponse, DescribedGroup, DescribedGroupMember,
};
use milepost_wire::{ApiKey, ErrorCode};

use super::{
    CONSUMER, ConnectWorker, ConnectorTasks, DEAD, GROUPS_A_REQUEST, GroupDescription, MemberDescription,
    Work, sorted,
};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::groups::GroupKind;
use crate::groups::each::PerGroup;
use crate::topic_partition::TopicPartition;

pub(super) fn ask(
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
        topology: None,
        members: Vec::new(),
    }
}

fn classic(one: &DescribedGroup<'_>) -> GroupDescription {
    let is_consumer = one.protocol_type == CONSUMER;
    let is_connect = one.protocol_type == connect_protocol::PROTOCOL_TYPE;
    let members = one.members.iter().map(|member| MemberDescription {
        work: if is_connect { worker(member).map(Work::Connect) } else { None },
        ..classic_member(member, is_consumer)
    });
    GroupDescription {
        kind: GroupKind::Classic,
        state: one.group_state.to_owned(),
        protocol_type: one.protocol_type.to_owned(),
        assignor: one.protocol_data.to_owned(),
        epochs: None,
        topology: None,
        members: sorted(members),
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
        work: None,
    }
}

/// What a worker of Kafka Connect runs. `None` while the group rebalances, when nobody says it.
fn worker(one: &DescribedGroupMember<'_>) -> Option<ConnectWorker> {
    let state = WorkerState::decode(one.member_metadata).ok()?;
    let assignment = WorkerAssignment::decode(one.member_assignment).ok()?;
    let assigned = assignment.iter().flat_map(|assignment| &assignment.assigned).map(|work| ConnectorTasks {
        connector: work.connector.to_owned(),
        runs_connector: work.runs_connector,
        tasks: work.tasks.clone(),
    });
    Some(ConnectWorker {
        version: state.version,
        url: state.url.to_owned(),
        config_offset: state.config_offset,
        assigned: assigned.collect(),
        leader: assignment.map(|assignment| assignment.leader.to_owned()),
    })
}
