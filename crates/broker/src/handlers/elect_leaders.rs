//! ElectLeaders (43), versions 0–2. On one node every partition has the only leader it can have.

use std::collections::BTreeMap;

use milepost_wire::ErrorCode;
use milepost_wire::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
};

use super::{Context, Handled};
use crate::node::Node;
use crate::topics;

const PREFERRED: i8 = 0;
const UNCLEAN: i8 = 1;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &ElectLeadersRequest<'_>) -> Handled {
    if !matches!(request.election_type, PREFERRED | UNCLEAN) {
        let error_code = ErrorCode::InvalidRequest;
        node.connections
            .respond(context.key, &ElectLeadersResponse { error_code, ..ElectLeadersResponse::default() });
        return Ok(());
    }
    let mut asked: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
    // Who asks for all hears only of those where something was to be done, and there are none.
    for topic in request.topic_partitions.iter().flatten() {
        asked.entry(topic.topic).or_default().extend(&topic.partitions);
    }
    let replica_election_results = asked
        .into_iter()
        .map(|(topic, mut partitions)| {
            partitions.sort_unstable();
            partitions.dedup();
            let partition_result = partitions.into_iter().map(|index| result(node, topic, index)).collect();
            ReplicaElectionResult { topic, partition_result }
        })
        .collect();
    let response = ElectLeadersResponse { replica_election_results, ..ElectLeadersResponse::default() };
    node.connections.respond(context.key, &response);
    Ok(())
}

fn result(node: &Node, topic: &str, index: i32) -> PartitionResult<'static> {
    let found = node.metadata.image().topic(topic).and_then(|topic| topics::partition(topic, index));
    let (error_code, why) = match found {
        Some(_) => (ErrorCode::ElectionNotNeeded, "Leader election not needed for topic partition."),
        None => (ErrorCode::UnknownTopicOrPartition, "The partition does not exist."),
    };
    PartitionResult { partition_id: index, error_code, error_message: Some(why) }
}
