//! CreatePartitions (37), versions 0–3: a topic grows. `__consumer_offsets` does not: its number of partitions decides
//! which coordinator a group has.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_log::metadata::{MetadataRecord, Topic};
use milepost_model::Offset;
use milepost_wire::ErrorCode;
use milepost_wire::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic, CreatePartitionsTopicResult,
};

use super::{Context, Handled};
use crate::errors::{self, Refusal};
use crate::node::{Node, RequestKey, TopicWait};
use crate::topics;

/// The result for one topic, until the answer leaves.
#[derive(Debug)]
pub(crate) struct Grown {
    name: String,
    result: Result<(), Refusal>,
}

pub(crate) fn handle(
    node: &mut Node,
    context: Context<'_>,
    request: &CreatePartitionsRequest<'_>,
) -> Handled {
    let mut seen = BTreeSet::new();
    let repeated: BTreeSet<&str> =
        request.topics.iter().map(|topic| topic.name).filter(|name| !seen.insert(*name)).collect();
    let mut last = None;
    let mut grown: Vec<Grown> = Vec::new();
    let mut done = BTreeSet::new();
    for topic in request.topics.iter().filter(|topic| done.insert(topic.name)) {
        let result = if repeated.contains(topic.name) {
            Err(Refusal::with_message(ErrorCode::InvalidRequest, "the topic is named twice in the request"))
        } else {
            grow(node, context, request.validate_only, topic, &mut last)
        };
        grown.push(Grown { name: topic.name.to_owned(), result });
    }
    match last {
        Some(position) => node.topics.park(position, context.key, TopicWait::Partitions(grown)),
        None => finish(node, context.key, &grown),
    }
    Ok(())
}

fn grow(
    node: &mut Node,
    context: Context<'_>,
    validate_only: bool,
    asked: &CreatePartitionsTopic<'_>,
    last: &mut Option<Offset>,
) -> Result<(), Refusal> {
    let Some(topic) = node.metadata.image().topic(asked.name) else {
        return Err(ErrorCode::UnknownTopicOrPartition.into());
    };
    if topic.is_internal {
        let what = if topic.name == topics::OFFSETS_TOPIC { "groups" } else { "transactional ids" };
        let name = &topic.name;
        let why = format!(
            "the partitions of {name} are fixed: more of them would move {what} to other coordinators"
        );
        return Err(Refusal::with_message(ErrorCode::InvalidPartitions, why));
    }
    if asked.count <= topic.partition_count {
        let why = format!("topic {:?} already has {} partitions", asked.name, topic.partition_count);
        return Err(Refusal::with_message(ErrorCode::InvalidPartitions, why));
    }
    let added = asked.count - topic.partition_count;
    if i64::from(added) > topics::PARTITIONS_PER_REQUEST_MAX {
        return Err(Refusal::with_message(
            ErrorCode::PolicyViolation,
            "more than 10000 partitions in one request",
        ));
    }
    if let Some(assignments) = &asked.assignments {
        let own = [node.settings.node_id];
        let fits = usize::try_from(added).is_ok_and(|added| added == assignments.len());
        if !fits || assignments.iter().any(|assignment| assignment.broker_ids != own) {
            let why = "the assignment must name this broker once for every new partition";
            return Err(Refusal::with_message(ErrorCode::InvalidReplicaAssignment, why));
        }
    }
    if validate_only {
        return Ok(());
    }
    topics::check_not_changing(node, topic.id)?;
    let topic = Topic { partition_count: asked.count, ..Topic::clone(topic) };
    let position = node
        .metadata
        .propose(&mut node.logs, vec![MetadataRecord::Topic(Arc::new(topic))], context.now)
        .map_err(|error| errors::of_proposal(&error))?;
    *last = Some(position);
    Ok(())
}

/// Answers once the records are durable.
pub(crate) fn finish(node: &mut Node, key: RequestKey, grown: &[Grown]) {
    let results = grown
        .iter()
        .map(|topic| CreatePartitionsTopicResult {
            name: &topic.name,
            error_code: topic.result.as_ref().err().map_or(ErrorCode::None, |refusal| refusal.code),
            error_message: topic.result.as_ref().err().and_then(|refusal| refusal.message.as_deref()),
        })
        .collect();
    node.connections
        .respond(key, &CreatePartitionsResponse { results, ..CreatePartitionsResponse::default() });
}
