//! ConsumerGroupDescribe (69), versions 0–1: consumer groups (KIP-848), their members and assignments.
//!
//! Topics are named as they are called now; those that are gone are left out, as in Kafka.

use std::collections::BTreeSet;

use milepost_groups::{Assignment, DescribeGroup, DescribedConsumer, DescribedConsumerGroup, Reply, Request};
use milepost_log::metadata::MetadataImage;
use milepost_wire::ErrorCode;
use milepost_wire::messages::consumer_group_describe::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, DescribedAssignment,
    DescribedConsumerGroup as WireGroup, DescribedConsumerGroupMember, DescribedTopicPartitions,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};
use crate::operations;

/// The number of a member that speaks the classic protocol.
const CLASSIC_MEMBER: i8 = 0;
/// The number of one that speaks the consumer protocol.
const CONSUMER_MEMBER: i8 = 1;

/// What the answer repeats.
#[derive(Debug)]
pub(crate) struct Asked {
    groups: Vec<String>,
    authorized_operations: i32,
}

/// A description, or the code and the words that refuse it.
type Described = Result<DescribedConsumerGroup, (ErrorCode, Option<String>)>;

pub(crate) fn handle(
    node: &mut Node,
    context: Context<'_>,
    request: &ConsumerGroupDescribeRequest<'_>,
) -> Handled {
    // Once is enough: a short request must not ask for the same long answer a million times.
    let mut seen = BTreeSet::new();
    let groups: Vec<&str> = request.group_ids.iter().copied().filter(|group| seen.insert(*group)).collect();
    let asked = Asked {
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        authorized_operations: operations::if_asked(request.include_authorized_operations, operations::GROUP),
    };
    if !node.settings.serves_consumer_groups {
        let refused = |group_id| WireGroup {
            error_code: ErrorCode::UnsupportedVersion,
            group_id,
            ..WireGroup::default()
        };
        let groups = groups.into_iter().map(refused).collect();
        let response = ConsumerGroupDescribeResponse { groups, ..ConsumerGroupDescribeResponse::default() };
        node.connections.respond(context.key, &response);
        return Ok(());
    }
    let parts = groups
        .into_iter()
        .map(|group_id| (node.shard_of(group_id), Request::DescribeConsumerGroup(DescribeGroup { group_id })))
        .collect();
    node.ask_all(context.now, context.key, GroupAnswer::ConsumerGroupDescribe(asked), parts);
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, results: Vec<GroupResult>) {
    let described: Vec<Described> = results.into_iter().map(described).collect();
    let image = node.metadata.image();
    let groups = asked
        .groups
        .iter()
        .zip(&described)
        .map(|(group_id, described)| match described {
            Ok(group) => to_wire(image, group_id, group, asked.authorized_operations),
            Err((error_code, message)) => WireGroup {
                error_code: *error_code,
                error_message: message.as_deref(),
                group_id,
                ..WireGroup::default()
            },
        })
        .collect();
    let response = ConsumerGroupDescribeResponse { groups, ..ConsumerGroupDescribeResponse::default() };
    node.connections.respond(key, &response);
}

fn described(result: GroupResult) -> Described {
    match result {
        Ok(Reply::DescribeConsumerGroup(Ok(group))) => Ok(group),
        Ok(Reply::DescribeConsumerGroup(Err(error))) => {
            Err((errors::of_group(error), Some(error.to_string())))
        }
        Ok(other) => panic!("a coordinator answered ConsumerGroupDescribe with {other:?}"),
        Err(refusal) => Err((errors::of_runtime(refusal), None)),
    }
}

fn to_wire<'a>(
    image: &'a MetadataImage,
    group_id: &'a str,
    group: &'a DescribedConsumerGroup,
    authorized_operations: i32,
) -> WireGroup<'a> {
    WireGroup {
        error_code: ErrorCode::None,
        error_message: None,
        group_id,
        group_state: group.state.name(),
        group_epoch: group.epoch.0,
        assignment_epoch: group.target_epoch.0,
        assignor_name: group.assignor.name(),
        members: group.members.iter().map(|member| member_to_wire(image, member)).collect(),
        authorized_operations,
    }
}

fn member_to_wire<'a>(
    image: &'a MetadataImage,
    described: &'a DescribedConsumer,
) -> DescribedConsumerGroupMember<'a> {
    let member = &described.member;
    DescribedConsumerGroupMember {
        member_id: &described.member_id,
        instance_id: member.instance_id.as_deref(),
        rack_id: member.rack_id.as_deref(),
        member_epoch: described.epoch.0,
        client_id: &member.client_id,
        client_host: &member.client_host,
        subscribed_topic_names: member.subscribed_topics.iter().map(AsRef::as_ref).collect(),
        subscribed_topic_regex: Some(member.subscribed_regex.as_deref().unwrap_or_default()),
        assignment: assignment_to_wire(image, &described.assignment),
        target_assignment: assignment_to_wire(image, &described.target),
        member_type: if member.classic.is_some() { CLASSIC_MEMBER } else { CONSUMER_MEMBER },
    }
}

fn assignment_to_wire<'a>(image: &'a MetadataImage, assignment: &Assignment) -> DescribedAssignment<'a> {
    let topics = assignment.0.iter().filter_map(|(topic_id, partitions)| {
        Some(DescribedTopicPartitions {
            topic_id: *topic_id,
            topic_name: &image.topic_by_id(*topic_id)?.name,
            partitions: partitions.iter().map(|partition| partition.0).collect(),
        })
    });
    DescribedAssignment { topic_partitions: topics.collect() }
}
