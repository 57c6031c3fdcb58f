//! DescribeGroups (15), versions 0–6: state, protocol and members of classic groups.
//!
//! What keeps a coordinator from being served (its log cannot be understood) is told from version 6 on, which has room for
//! words. A group that does not exist is "Dead" without an error before version 6, and GROUP_ID_NOT_FOUND from then on.

use std::collections::BTreeSet;

use milepost_groups::{DescribeGroup, DescribedGroup, DescribedMember, GroupError, Reply, Request};
use milepost_wire::ErrorCode;
use milepost_wire::messages::describe_groups::{
    DescribeGroupsRequest, DescribeGroupsResponse, DescribedGroup as WireGroup, DescribedGroupMember,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};
use crate::operations;

/// The first version that knows GROUP_ID_NOT_FOUND.
const GROUP_ID_NOT_FOUND_FROM: i16 = 6;

/// What the answer repeats.
#[derive(Debug)]
pub(crate) struct Asked {
    groups: Vec<String>,
    authorized_operations: i32,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &DescribeGroupsRequest<'_>) -> Handled {
    // Once is enough: a short request must not ask for the same long answer a million times.
    let mut seen = BTreeSet::new();
    let groups: Vec<&str> = request.groups.iter().copied().filter(|group| seen.insert(*group)).collect();
    let asked = Asked {
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        authorized_operations: operations::if_asked(request.include_authorized_operations, operations::GROUP),
    };
    let parts = groups
        .into_iter()
        .map(|group_id| (node.shard_of(group_id), Request::DescribeGroup(DescribeGroup { group_id })))
        .collect();
    node.ask_all(context.now, context.key, GroupAnswer::DescribeGroups(asked), parts);
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, results: Vec<GroupResult>) {
    let described: Vec<Result<DescribedGroup, ErrorCode>> =
        results.into_iter().map(|result| described(key.version, result)).collect();
    let failures: Vec<Option<String>> =
        asked.groups.iter().map(|group_id| node.coordinator_failure(group_id)).collect();
    let groups = asked
        .groups
        .iter()
        .zip(&described)
        .zip(&failures)
        .map(|((group_id, result), failure)| match result {
            Ok(group) => to_wire(group, asked.authorized_operations),
            Err(code) => missing(group_id, *code, failure.as_deref()),
        })
        .collect();
    node.connections.respond(key, &DescribeGroupsResponse { groups, ..DescribeGroupsResponse::default() });
}

fn described(version: i16, result: GroupResult) -> Result<DescribedGroup, ErrorCode> {
    match result {
        Ok(Reply::DescribeGroup(Ok(group))) => Ok(group),
        Ok(Reply::DescribeGroup(Err(GroupError::GroupIdNotFound))) if version < GROUP_ID_NOT_FOUND_FROM => {
            Err(ErrorCode::None)
        }
        Ok(Reply::DescribeGroup(Err(error))) => Err(errors::of_group(error)),
        Ok(other) => panic!("a coordinator answered DescribeGroups with {other:?}"),
        Err(refusal) => Err(errors::of_runtime(refusal)),
    }
}

fn missing<'a>(group_id: &'a str, error_code: ErrorCode, failure: Option<&'a str>) -> WireGroup<'a> {
    let gone = matches!(error_code, ErrorCode::None | ErrorCode::GroupIdNotFound);
    WireGroup {
        error_code,
        error_message: match error_code {
            ErrorCode::GroupIdNotFound => Some("there is no such group"),
            ErrorCode::NotCoordinator => failure,
            _ => None,
        },
        group_id,
        group_state: if gone { "Dead" } else { "" },
        ..WireGroup::default()
    }
}

fn to_wire(group: &DescribedGroup, authorized_operations: i32) -> WireGroup<'_> {
    WireGroup {
        error_code: ErrorCode::None,
        error_message: None,
        group_id: &group.group_id,
        group_state: group.state.name(),
        protocol_type: group.protocol_type.as_deref().unwrap_or(""),
        protocol_data: group.protocol.as_deref().unwrap_or(""),
        members: group.members.iter().map(member_to_wire).collect(),
        authorized_operations,
    }
}

fn member_to_wire(member: &DescribedMember) -> DescribedGroupMember<'_> {
    DescribedGroupMember {
        member_id: &member.member_id,
        group_instance_id: member.group_instance_id.as_deref(),
        client_id: &member.client_id,
        client_host: &member.client_host,
        member_metadata: member.metadata.as_deref().unwrap_or(&[]),
        member_assignment: &member.assignment,
    }
}
