//! Heartbeat (12), versions 0–4.

use milepost_coordinator::Refusal;
use milepost_groups::{Heartbeat, Reply, Request};
use milepost_model::Generation;
use milepost_wire::ErrorCode;
use milepost_wire::messages::heartbeat::{HeartbeatRequest, HeartbeatResponse};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &HeartbeatRequest<'_>) -> Handled {
    let heartbeat = Heartbeat {
        group_id: request.group_id,
        member_id: request.member_id,
        group_instance_id: request.group_instance_id,
        generation: Generation(request.generation_id),
        topics: node.cluster_topics(),
    };
    node.ask(
        context.now,
        context.key,
        GroupAnswer::Heartbeat,
        request.group_id,
        Request::Heartbeat(heartbeat),
    );
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, result: GroupResult) {
    let error_code = match result {
        Ok(Reply::Heartbeat(Ok(()))) => ErrorCode::None,
        Ok(Reply::Heartbeat(Err(error))) => errors::of_group(error),
        Ok(other) => panic!("a coordinator answered Heartbeat with {other:?}"),
        // While the shard loads nobody's session runs, so Kafka lets every member be alive.
        Err(Refusal::Loading) => ErrorCode::None,
        Err(refusal) => errors::of_runtime(refusal),
    };
    node.connections.respond(key, &HeartbeatResponse { error_code, ..HeartbeatResponse::default() });
}
