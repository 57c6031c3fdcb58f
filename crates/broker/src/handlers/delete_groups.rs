//! DeleteGroups (42), versions 0–3. The groups of one shard go in one atomic batch, as in Kafka.

use std::collections::{BTreeMap, BTreeSet};

use milepost_groups::{DeleteGroups, Reply, Request};
use milepost_model::PartitionIndex;
use milepost_wire::ErrorCode;
use milepost_wire::messages::delete_groups::{
    DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};

/// The groups of each shard, in the order of the parts asked.
#[derive(Debug)]
pub(crate) struct Asked {
    shards: Vec<Vec<String>>,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &DeleteGroupsRequest<'_>) -> Handled {
    let mut shards: BTreeMap<PartitionIndex, Vec<&str>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for group_id in request.groups_names.iter().filter(|group_id| seen.insert(**group_id)) {
        shards.entry(node.shard_of(group_id)).or_default().push(group_id);
    }
    let owned = |groups: &Vec<&str>| groups.iter().map(|group| (*group).to_owned()).collect();
    let asked = Asked { shards: shards.values().map(owned).collect() };
    let parts = shards
        .into_iter()
        .map(|(shard, group_ids)| (shard, Request::DeleteGroups(DeleteGroups { group_ids })))
        .collect();
    node.ask_all(context.now, context.key, GroupAnswer::DeleteGroups(asked), parts);
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, results: Vec<GroupResult>) {
    let mut answers = Vec::new();
    for (groups, result) in asked.shards.iter().zip(results) {
        let codes: Vec<ErrorCode> = match result {
            Ok(Reply::DeleteGroups(results)) => results
                .into_iter()
                .map(|result| result.err().map_or(ErrorCode::None, errors::of_group))
                .collect(),
            Ok(other) => panic!("a coordinator answered DeleteGroups with {other:?}"),
            Err(refusal) => vec![errors::of_runtime(refusal); groups.len()],
        };
        answers.extend(groups.iter().zip(codes).map(|(group_id, error_code)| DeletableGroupResult {
            group_id,
            error_code,
            error_message: None,
        }));
    }
    node.connections
        .respond(key, &DeleteGroupsResponse { results: answers, ..DeleteGroupsResponse::default() });
}
