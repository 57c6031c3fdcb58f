//! CreateTopics (19), versions 2–7. A topic is answered as created once its record is durable.

use std::collections::{BTreeMap, BTreeSet};

use milepost_model::{Offset, TopicId};
use milepost_wire::ErrorCode;
use milepost_wire::messages::create_topics::{
    CreatableTopic, CreatableTopicConfigs, CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse,
};

use super::{Context, Handled};
use crate::config::{TOPIC_SETTINGS, TopicSettings, Values, check_topic_configs};
use crate::errors::{self, Refusal};
use crate::handlers::describe_configs;
use crate::node::{Node, RequestKey, TopicWait};
use crate::topics::{self, NewTopic};

/// The result for one topic, until the answer leaves.
#[derive(Debug)]
pub(crate) struct Created {
    name: String,
    result: Result<Topic, Refusal>,
}

#[derive(Debug)]
struct Topic {
    id: TopicId,
    partitions: i32,
    configs: BTreeMap<String, String>,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &CreateTopicsRequest<'_>) -> Handled {
    let repeated = repeated_names(request);
    let too_many = total_partitions(node, request) > topics::PARTITIONS_PER_REQUEST_MAX;
    let mut last = None;
    let mut created: Vec<Created> = Vec::new();
    let mut done = BTreeSet::new();
    for topic in request.topics.iter().filter(|topic| done.insert(topic.name)) {
        let result = if too_many {
            Err(Refusal::with_message(
                ErrorCode::PolicyViolation,
                "more than 10000 partitions in one request",
            ))
        } else if repeated.contains(topic.name) {
            Err(Refusal::with_message(ErrorCode::InvalidRequest, "the topic is named twice in the request"))
        } else {
            create(node, context, request.validate_only, topic, &mut last)
        };
        created.push(Created { name: topic.name.to_owned(), result });
    }
    match last {
        Some(position) => node.topics.park(position, context.key, TopicWait::Create(created)),
        None => finish(node, context.key, &created),
    }
    Ok(())
}

fn repeated_names<'a>(request: &CreateTopicsRequest<'a>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    request.topics.iter().map(|topic| topic.name).filter(|name| !seen.insert(*name)).collect()
}

fn total_partitions(node: &Node, request: &CreateTopicsRequest<'_>) -> i64 {
    let count = |topic: &CreatableTopic<'_>| match topic.num_partitions {
        -1 if topic.assignments.is_empty() => i64::from(node.settings.num_partitions),
        -1 => topic.assignments.len() as i64,
        count => i64::from(count.max(0)),
    };
    request.topics.iter().map(count).sum()
}

fn create(
    node: &mut Node,
    context: Context<'_>,
    validate_only: bool,
    topic: &CreatableTopic<'_>,
    last: &mut Option<Offset>,
) -> Result<Topic, Refusal> {
    check_new_name(node, topic.name)?;
    let configs = configs(&node.settings.values, topic)?;
    let partitions = partition_count(node, topic)?;
    if validate_only {
        return Ok(Topic { id: crate::random::uuid(node.random.as_mut()), partitions, configs });
    }
    let new = NewTopic { name: topic.name.to_owned(), partitions, configs: configs.clone() };
    let (id, position) =
        topics::propose(node, new, context.now).map_err(|error| errors::of_proposal(&error))?;
    *last = Some(position);
    Ok(Topic { id, partitions, configs })
}

fn check_new_name(node: &Node, name: &str) -> Result<(), Refusal> {
    if topics::is_reserved(name) {
        return Err(Refusal::with_message(ErrorCode::InvalidRequest, "this topic cannot be created"));
    }
    topics::check_name(name).map_err(|why| Refusal::with_message(ErrorCode::InvalidTopicException, why))?;
    // That the topic exists wins over a collision: an existing topic collides with its own name.
    if node.metadata.image().topic(name).is_some() || node.metadata.is_pending(name) {
        return Err(Refusal::with_message(
            ErrorCode::TopicAlreadyExists,
            format!("topic {name:?} already exists"),
        ));
    }
    match topics::colliding(node, name) {
        Some(other) => Err(Refusal::with_message(
            ErrorCode::InvalidTopicException,
            format!(
                "topic {name:?} collides with the existing topic {other:?} ('.' and '_' count as the same)"
            ),
        )),
        None => Ok(()),
    }
}

fn configs(values: &Values, topic: &CreatableTopic<'_>) -> Result<BTreeMap<String, String>, Refusal> {
    let invalid = |why: String| Refusal::with_message(ErrorCode::InvalidConfig, why);
    let mut configs = BTreeMap::new();
    for config in &topic.configs {
        let value = config.value.ok_or_else(|| invalid(format!("the value of {} is null", config.name)))?;
        configs.insert(config.name.to_owned(), value.to_owned());
    }
    check_topic_configs(&configs, values).map_err(|error| invalid(error.0))?;
    Ok(configs)
}

/// Checks partitions, replication and assignments in Kafka's order.
fn partition_count(node: &Node, topic: &CreatableTopic<'_>) -> Result<i32, Refusal> {
    let bad_assignment = |why: &'static str| Refusal::with_message(ErrorCode::InvalidReplicaAssignment, why);
    if !topic.assignments.is_empty() {
        if topic.num_partitions != -1 || topic.replication_factor != -1 {
            let why = "with an assignment, partitions and replication factor must be -1";
            return Err(Refusal::with_message(ErrorCode::InvalidRequest, why));
        }
        let indices: BTreeSet<i32> =
            topic.assignments.iter().map(|assignment| assignment.partition_index).collect();
        let count =
            i32::try_from(topic.assignments.len()).map_err(|_| bad_assignment("too many partitions"))?;
        if indices.len() != topic.assignments.len() || !(0..count).eq(indices) {
            return Err(bad_assignment("partition numbers must be 0, 1, 2 … without gaps or repetition"));
        }
        let own = [node.settings.node_id];
        if topic.assignments.iter().any(|assignment| assignment.broker_ids != own) {
            return Err(bad_assignment("every partition must have this broker as its one replica"));
        }
        return Ok(count);
    }
    match topic.replication_factor {
        -1 | 1 => {}
        factor if factor < 1 => {
            return Err(Refusal::with_message(
                ErrorCode::InvalidReplicationFactor,
                "the replication factor must be above 0",
            ));
        }
        factor => {
            let why = format!("replication factor {factor} is larger than the number of brokers, 1");
            return Err(Refusal::with_message(ErrorCode::InvalidReplicationFactor, why));
        }
    }
    match topic.num_partitions {
        -1 => Ok(node.settings.num_partitions),
        count if count < 1 => {
            Err(Refusal::with_message(ErrorCode::InvalidPartitions, "a topic needs at least one partition"))
        }
        count => Ok(count),
    }
}

/// Answers once the records are durable.
pub(crate) fn finish(node: &mut Node, key: RequestKey, created: &[Created]) {
    let values = &node.settings.values;
    let topics = created.iter().map(|topic| result(values, topic)).collect();
    let response = CreateTopicsResponse { topics, ..CreateTopicsResponse::default() };
    node.connections.respond(key, &response);
}

fn result<'a>(values: &'a Values, created: &'a Created) -> CreatableTopicResult<'a> {
    match &created.result {
        Err(refusal) => CreatableTopicResult {
            name: &created.name,
            error_code: refusal.code,
            error_message: refusal.message.as_deref(),
            configs: Some(Vec::new()),
            ..CreatableTopicResult::default()
        },
        Ok(topic) => CreatableTopicResult {
            name: &created.name,
            topic_id: topic.id,
            num_partitions: topic.partitions,
            replication_factor: 1,
            configs: Some(effective_configs(values, &topic.configs)),
            ..CreatableTopicResult::default()
        },
    }
}

fn effective_configs<'a>(
    values: &'a Values,
    own: &'a BTreeMap<String, String>,
) -> Vec<CreatableTopicConfigs<'a>> {
    let settings = TopicSettings::new(own, values);
    TOPIC_SETTINGS
        .iter()
        .map(|setting| CreatableTopicConfigs {
            name: setting.name,
            value: Some(settings.get(setting)),
            read_only: false,
            config_source: describe_configs::topic_source(values, own, setting),
            is_sensitive: false,
        })
        .collect()
}
