//! SyncGroup (14), versions 0–5: the leader brings assignments, everyone waits for theirs.

use milepost_groups::{MemberAssignment, Reply, Request, SyncGroup};
use milepost_model::Generation;
use milepost_wire::ErrorCode;
use milepost_wire::messages::sync_group::{SyncGroupRequest, SyncGroupResponse};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};

/// The first version that names the protocol; both names must then be there.
const PROTOCOL_FROM: i16 = 5;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &SyncGroupRequest<'_>) -> Handled {
    let unnamed = request.protocol_type.is_none() || request.protocol_name.is_none();
    if context.key.version >= PROTOCOL_FROM && unnamed {
        refuse(node, context.key, ErrorCode::InconsistentGroupProtocol);
        return Ok(());
    }
    let sync = SyncGroup {
        group_id: request.group_id,
        member_id: request.member_id,
        group_instance_id: request.group_instance_id,
        generation: Generation(request.generation_id),
        protocol_type: request.protocol_type,
        protocol: request.protocol_name,
        assignments: request
            .assignments
            .iter()
            .map(|entry| MemberAssignment { member_id: entry.member_id, assignment: entry.assignment })
            .collect(),
        topics: node.cluster_topics(),
    };
    node.ask(context.now, context.key, GroupAnswer::SyncGroup, request.group_id, Request::SyncGroup(sync));
    Ok(())
}

fn refuse(node: &mut Node, key: RequestKey, error_code: ErrorCode) {
    node.connections.respond(key, &SyncGroupResponse { error_code, ..SyncGroupResponse::default() });
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, result: GroupResult) {
    match result {
        Ok(Reply::SyncGroup(Ok(synced))) => {
            let response = SyncGroupResponse {
                protocol_type: synced.protocol_type.as_deref(),
                protocol_name: synced.protocol.as_deref(),
                assignment: &synced.assignment,
                ..SyncGroupResponse::default()
            };
            node.connections.respond(key, &response);
        }
        Ok(Reply::SyncGroup(Err(error))) => refuse(node, key, errors::of_group(error)),
        Ok(other) => panic!("a coordinator answered SyncGroup with {other:?}"),
        Err(refusal) => refuse(node, key, errors::of_runtime(refusal)),
    }
}
