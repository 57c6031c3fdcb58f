//! Consumer groups (KIP-848).

use milepost_model::PartitionIndex;
use milepost_wire::ApiKey;
use milepost_wire::messages::consumer_group_describe::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, DescribedAssignment, DescribedConsumerGroup,
    DescribedConsumerGroupMember,
};

use super::{
    Assigned, CONSUMER, GROUPS_A_REQUEST, GroupDescription, GroupEpochs, MemberDescription, note, sorted,
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
    let version = connection.version(ApiKey::ConsumerGroupDescribe)?;
    let requests = groups.chunks(GROUPS_A_REQUEST).map(|part| ConsumerGroupDescribeRequest {
        group_ids: part.to_vec(),
        include_authorized_operations: false,
    });
    connection.pipeline(requests, version, deadline, |answer| {
        let answer: ConsumerGroupDescribeResponse<'_> = answer.decode()?;
        for one in &answer.groups {
            note(found, one.group_id, (one.error_code, one.error_message), || consumer(one));
        }
        Ok(())
    })
}

fn consumer(one: &DescribedConsumerGroup<'_>) -> GroupDescription {
    let member = |member: &DescribedConsumerGroupMember<'_>| {
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
            work: None,
        }
    };
    GroupDescription {
        kind: GroupKind::Consumer,
        state: one.group_state.to_owned(),
        protocol_type: CONSUMER.to_owned(),
        assignor: one.assignor_name.to_owned(),
        epochs: Some(GroupEpochs { group: one.group_epoch, assignment: one.assignment_epoch }),
        topology: None,
        members: sorted(one.members.iter().map(member)),
    }
}

pub(super) fn assigned(assignment: &DescribedAssignment<'_>) -> Assigned {
    let of_topic = assignment.topic_partitions.iter().flat_map(|topic| {
        topic.partitions.iter().map(|index| TopicPartition::new(topic.topic_name, PartitionIndex(*index)))
    });
    of_topic.collect()
}
