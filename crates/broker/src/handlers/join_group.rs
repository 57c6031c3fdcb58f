//! JoinGroup (11), versions 0–9. The answer may come much later, in the outcome of somebody else's request.

use milepost_groups::{JoinGroup, JoinProtocol, JoinedMember, NewMember, Reply, Request, StaticLeader};
use milepost_wire::ErrorCode;
use milepost_wire::messages::join_group::{JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};
use crate::random;

/// The first version whose clients take MEMBER_ID_REQUIRED (KIP-394).
const MEMBER_ID_REQUIRED_FROM: i16 = 4;
/// The first version that can tell a leader not to assign (KIP-814).
const SKIP_ASSIGNMENT_FROM: i16 = 9;

/// What the answer repeats.
#[derive(Debug)]
pub(crate) struct Asked {
    member_id: String,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &JoinGroupRequest<'_>) -> Handled {
    let version = context.key.version;
    let client_host = node.connections.host(context.key.connection).unwrap_or("").to_owned();
    let uuid = random::uuid(node.random.as_mut());
    let (suffix, bare_id) = (random::hyphenated(uuid), uuid.to_string());
    let join = JoinGroup {
        group_id: request.group_id,
        member_id: Some(request.member_id).filter(|id| !id.is_empty()),
        group_instance_id: request.group_instance_id,
        client_id: context.client_id,
        client_host: &client_host,
        protocol_type: request.protocol_type,
        protocols: request
            .protocols
            .iter()
            .map(|protocol| JoinProtocol { name: protocol.name, metadata: protocol.metadata })
            .collect(),
        session_timeout_ms: request.session_timeout_ms,
        rebalance_timeout_ms: (version >= 1 && request.rebalance_timeout_ms >= 0)
            .then_some(request.rebalance_timeout_ms),
        member_id_suffix: &suffix,
        bare_member_id: &bare_id,
        new_member: if version >= MEMBER_ID_REQUIRED_FROM {
            NewMember::JoinsAgainWithId
        } else {
            NewMember::JoinsAtOnce
        },
        static_leader: if version >= SKIP_ASSIGNMENT_FROM {
            StaticLeader::CanSkipAssignment
        } else {
            StaticLeader::SeesFormerLeader
        },
        topics: node.cluster_topics(),
    };
    let asked = Asked { member_id: request.member_id.to_owned() };
    node.ask(
        context.now,
        context.key,
        GroupAnswer::JoinGroup(asked),
        request.group_id,
        Request::JoinGroup(join),
    );
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, result: GroupResult) {
    let refuse = |node: &mut Node, error_code: ErrorCode, member_id: &str| {
        let response = JoinGroupResponse { error_code, member_id, ..JoinGroupResponse::default() };
        node.connections.respond(key, &response);
    };
    match result {
        Ok(Reply::JoinGroup(Ok(joined))) => {
            let response = JoinGroupResponse {
                generation_id: joined.generation.0,
                protocol_type: joined.protocol_type.as_deref(),
                protocol_name: joined.protocol.as_deref(),
                leader: &joined.leader,
                skip_assignment: joined.skip_assignment,
                member_id: &joined.member_id,
                members: joined.members.iter().map(to_wire).collect(),
                ..JoinGroupResponse::default()
            };
            node.connections.respond(key, &response);
        }
        Ok(Reply::JoinGroup(Err(refused))) => {
            refuse(node, errors::of_group(refused.error), refused.member_id.as_deref().unwrap_or(""));
        }
        Ok(other) => panic!("a coordinator answered JoinGroup with {other:?}"),
        Err(refusal) => refuse(node, errors::of_runtime(refusal), &asked.member_id),
    }
}

fn to_wire(member: &JoinedMember) -> JoinGroupResponseMember<'_> {
    JoinGroupResponseMember {
        member_id: &member.member_id,
        group_instance_id: member.group_instance_id.as_deref(),
        metadata: &member.metadata,
    }
}
