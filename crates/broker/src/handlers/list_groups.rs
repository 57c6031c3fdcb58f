//! ListGroups (16), versions 0–5: every group of this broker, from all shards.
//!
//! A shard that is still loading fails the whole listing: a list that silently lacks groups is worse than none.

use std::collections::BTreeSet;

use milepost_coordinator::Refusal;
use milepost_groups::{GroupState, GroupType, ListGroups, ListedGroup, Reply, Request};
use milepost_model::PartitionIndex;
use milepost_wire::ErrorCode;
use milepost_wire::messages::list_groups::{ListGroupsRequest, ListGroupsResponse, ListedGroup as WireGroup};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};

const TYPES: [GroupType; 2] = [GroupType::Classic, GroupType::Consumer];

/// Kafka's name of a kind of group.
fn type_name(kind: GroupType) -> &'static str {
    match kind {
        GroupType::Classic => "classic",
        GroupType::Consumer => "consumer",
    }
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &ListGroupsRequest<'_>) -> Handled {
    let list = ListGroups {
        states: filter(&request.states_filter, &GroupState::ALL, GroupState::name),
        types: filter(&request.types_filter, &TYPES, type_name),
    };
    let parts = (0..node.coordinators.partition_count())
        .map(|index| (PartitionIndex(index), Request::ListGroups(list.clone())))
        .collect();
    node.ask_all(context.now, context.key, GroupAnswer::ListGroups, parts);
    Ok(())
}

/// The values that a filter names, in any case; a word that names none matches nothing.
fn filter<T: Copy>(words: &[&str], all: &[T], name: impl Fn(T) -> &'static str) -> Option<Vec<T>> {
    if words.is_empty() {
        return None;
    }
    let words: BTreeSet<String> = words.iter().map(|word| word.trim().to_ascii_lowercase()).collect();
    Some(all.iter().copied().filter(|value| words.contains(&name(*value).to_ascii_lowercase())).collect())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, results: Vec<GroupResult>) {
    let mut error_code = ErrorCode::None;
    let mut groups: Vec<ListedGroup> = Vec::new();
    for result in results {
        match result {
            Ok(Reply::ListGroups(listed)) => groups.extend(listed),
            Ok(other) => panic!("a coordinator answered ListGroups with {other:?}"),
            Err(Refusal::NotCoordinator) => {}
            Err(refusal) => error_code = errors::of_runtime(refusal),
        }
    }
    if error_code != ErrorCode::None {
        groups.clear();
    }
    let groups = groups.iter().map(to_wire).collect();
    node.connections
        .respond(key, &ListGroupsResponse { error_code, groups, ..ListGroupsResponse::default() });
}

fn to_wire(group: &ListedGroup) -> WireGroup<'_> {
    WireGroup {
        group_id: &group.group_id,
        protocol_type: group.protocol_type.as_deref().unwrap_or(""),
        group_state: group.state.name(),
        group_type: type_name(group.group_type),
    }
}
