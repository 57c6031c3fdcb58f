//! ConsumerGroupHeartbeat (68), versions 0–1: members of consumer groups (KIP-848).
//!
//! The topics of the cluster go along, because the coordinator assigns their partitions and knows none by itself.

use milepost_groups::{
    Assignment, ConsumerGroupHeartbeat, Epoch, GroupError, HeartbeatStep, HowToLeave, Reply, Request,
};
use milepost_model::PartitionIndex;
use milepost_wire::ErrorCode;
use milepost_wire::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatAssignment, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatTopicPartitions,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};
use crate::random;

/// The first version whose clients choose their member id themselves (KIP-1082).
const OWN_MEMBER_ID_FROM: i16 = 1;

pub(crate) fn handle(
    node: &mut Node,
    context: Context<'_>,
    request: &ConsumerGroupHeartbeatRequest<'_>,
) -> Handled {
    if !node.settings.serves_consumer_groups {
        refuse(node, context.key, GroupError::UnsupportedVersion);
        return Ok(());
    }
    let Some(step) = step(request.member_epoch) else {
        refuse(node, context.key, GroupError::InvalidRequest);
        return Ok(());
    };
    let client_host = node.connections.host(context.key.connection).unwrap_or("").to_owned();
    let is_given_an_id = context.key.version < OWN_MEMBER_ID_FROM && step == HeartbeatStep::Join;
    let new_id = random::uuid(node.random.as_mut()).to_string();
    let member_id = match request.member_id {
        "" if is_given_an_id => &new_id,
        named => named,
    };
    let owned = request.topic_partitions.as_ref().map(|topics| {
        let partitions = topics.iter().flat_map(|topic| {
            topic.partitions.iter().map(|partition| (topic.topic_id, PartitionIndex(*partition)))
        });
        partitions.collect()
    });
    let heartbeat = ConsumerGroupHeartbeat {
        group_id: request.group_id,
        member_id,
        step,
        instance_id: request.instance_id,
        rack_id: request.rack_id,
        client_id: context.client_id,
        client_host: &client_host,
        rebalance_timeout_ms: Some(request.rebalance_timeout_ms).filter(|&timeout_ms| timeout_ms != -1),
        subscribed_topics: request.subscribed_topic_names.clone(),
        subscribed_regex: request.subscribed_topic_regex,
        server_assignor: request.server_assignor,
        owned,
        topics: node.cluster_topics(),
    };
    let request_to_group = Request::ConsumerGroupHeartbeat(heartbeat);
    node.ask(
        context.now,
        context.key,
        GroupAnswer::ConsumerGroupHeartbeat,
        request.group_id,
        request_to_group,
    );
    Ok(())
}

/// What the number of the epoch means. `None`: nothing.
fn step(member_epoch: i32) -> Option<HeartbeatStep> {
    match member_epoch {
        0 => Some(HeartbeatStep::Join),
        -1 => Some(HeartbeatStep::Leave(HowToLeave::ForGood)),
        -2 => Some(HeartbeatStep::Leave(HowToLeave::ForAWhile)),
        epoch if epoch > 0 => Some(HeartbeatStep::Stay(Epoch(epoch))),
        _ => None,
    }
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, result: GroupResult) {
    match result {
        Ok(Reply::ConsumerGroupHeartbeat(Ok(told))) => {
            let response = ConsumerGroupHeartbeatResponse {
                member_id: Some(&told.member_id),
                member_epoch: told.epoch.0,
                heartbeat_interval_ms: told.heartbeat_interval_ms,
                assignment: told.assignment.as_ref().map(to_wire),
                ..ConsumerGroupHeartbeatResponse::default()
            };
            node.connections.respond(key, &response);
        }
        Ok(Reply::ConsumerGroupHeartbeat(Err(error))) => refuse(node, key, error),
        Ok(other) => panic!("a coordinator answered ConsumerGroupHeartbeat with {other:?}"),
        Err(refusal) => respond_error(node, key, errors::of_runtime(refusal), None),
    }
}

fn to_wire(assignment: &Assignment) -> ConsumerGroupHeartbeatAssignment {
    let topics = assignment.0.iter().map(|(topic_id, partitions)| ConsumerGroupHeartbeatTopicPartitions {
        topic_id: *topic_id,
        partitions: partitions.iter().map(|partition| partition.0).collect(),
    });
    ConsumerGroupHeartbeatAssignment { topic_partitions: topics.collect() }
}

fn refuse(node: &mut Node, key: RequestKey, error: GroupError) {
    respond_error(node, key, errors::of_group(error), Some(&error.to_string()));
}

fn respond_error(node: &mut Node, key: RequestKey, error_code: ErrorCode, error_message: Option<&str>) {
    let response = ConsumerGroupHeartbeatResponse {
        error_code,
        error_message,
        ..ConsumerGroupHeartbeatResponse::default()
    };
    node.connections.respond(key, &response);
}
