//! LeaveGroup (13), versions 0–5. Before version 3 one member leaves and its error is the request's.

use milepost_groups::{LeaveGroup, LeavingMember, Reply, Request};
use milepost_wire::ErrorCode;
use milepost_wire::messages::leave_group::{LeaveGroupRequest, LeaveGroupResponse, MemberResponse};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};

/// The first version in which several members may leave.
const MEMBERS_FROM: i16 = 3;

/// Who asked to leave: member id and group instance id.
#[derive(Debug)]
pub(crate) struct Asked {
    members: Vec<(String, Option<String>)>,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &LeaveGroupRequest<'_>) -> Handled {
    let leaving: Vec<(&str, Option<&str>)> = if context.key.version >= MEMBERS_FROM {
        request.members.iter().map(|member| (member.member_id, member.group_instance_id)).collect()
    } else {
        vec![(request.member_id, None)]
    };
    let members = leaving
        .iter()
        .map(|(id, instance)| LeavingMember {
            // With an instance id an empty member id names the instance's member, whoever that is.
            member_id: Some(*id).filter(|id| !(id.is_empty() && instance.is_some())),
            group_instance_id: *instance,
        })
        .collect();
    let asked = Asked {
        members: leaving
            .iter()
            .map(|(id, instance)| ((*id).to_owned(), instance.map(str::to_owned)))
            .collect(),
    };
    let leave = LeaveGroup { group_id: request.group_id, members, topics: node.cluster_topics() };
    node.ask(
        context.now,
        context.key,
        GroupAnswer::LeaveGroup(asked),
        request.group_id,
        Request::LeaveGroup(leave),
    );
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, result: GroupResult) {
    let (mut error_code, results) = match result {
        Ok(Reply::LeaveGroup(Ok(results))) => (ErrorCode::None, results),
        Ok(Reply::LeaveGroup(Err(error))) => (errors::of_group(error), Vec::new()),
        Ok(other) => panic!("a coordinator answered LeaveGroup with {other:?}"),
        Err(refusal) => (errors::of_runtime(refusal), Vec::new()),
    };
    let members: Vec<MemberResponse<'_>> = asked
        .members
        .iter()
        .zip(results)
        .map(|((member_id, instance), result)| MemberResponse {
            member_id,
            group_instance_id: instance.as_deref(),
            error_code: result.err().map_or(ErrorCode::None, errors::of_group),
        })
        .collect();
    if key.version < MEMBERS_FROM && error_code == ErrorCode::None {
        error_code = members.first().map_or(ErrorCode::None, |member| member.error_code);
    }
    node.connections
        .respond(key, &LeaveGroupResponse { error_code, members, ..LeaveGroupResponse::default() });
}
