//! The settings of topics and brokers: those that a topic has of its own, and those that hold.

use std::collections::BTreeMap;

use milepost_wire::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse, DescribeConfigsResult,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::metadata::Broker;

/// How the wire numbers topics and brokers among the things that have settings.
const TOPIC: i8 = 2;
const BROKER: i8 = 4;
/// How the wire says that a value was given to this very topic.
const SET_ON_THE_TOPIC: i8 = 1;
/// How many topics one request asks about.
const TOPICS_A_REQUEST: usize = 500;

/// A setting of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicConfig {
    /// Kafka's name.
    pub name: String,
    /// Its value; `None` where the broker keeps it to itself.
    pub value: Option<String>,
}

/// Settings that hold, by Kafka's names; those that the broker keeps to itself are left out.
pub type Settings = BTreeMap<String, String>;

/// The settings that hold for these topics, whether they were given to them or not.
///
/// # Errors
/// When nobody can be asked. A topic that cannot be asked about has its own error.
pub fn settings_of_topics(
    cluster: &mut Cluster,
    names: &[&str],
) -> Result<BTreeMap<String, Result<Settings, ClientError>>, ClientError> {
    let mut found = BTreeMap::new();
    for part in names.chunks(TOPICS_A_REQUEST) {
        let deadline = cluster.deadline();
        let answers = cluster
            .with(Target::Any, deadline, |connection| ask(connection, TOPIC, part, deadline, holding))?;
        found.extend(part.iter().map(|name| (*name).to_owned()).zip(answers));
    }
    Ok(found)
}

/// The settings that hold for the first of these brokers that answers. Each knows only its own. `None` where there is no broker.
///
/// # Errors
/// When none answers, or one refuses.
pub fn settings_of_a_broker(
    cluster: &mut Cluster,
    brokers: &[Broker],
) -> Option<Result<Settings, ClientError>> {
    let deadline = cluster.deadline();
    let mut last = None;
    for broker in brokers {
        let id = broker.id.to_string();
        let connection = cluster.connection(Target::Broker(&broker.address), deadline);
        let outcome = connection
            .and_then(|connection| ask(connection, BROKER, &[&id], deadline, holding))
            .and_then(|answers| {
                let lacking = ClientError::Incomplete { what: "DescribeConfigs".to_owned(), lacks: id };
                answers.into_iter().next().unwrap_or(Err(lacking))
            });
        match outcome {
            Err(error) if error.is_connection() => last = Some(Err(error)),
            outcome => return Some(outcome),
        }
    }
    last
}

fn holding(result: &DescribeConfigsResult<'_>) -> Settings {
    let known = result.configs.iter().filter(|config| !config.is_sensitive);
    known.filter_map(|config| Some((config.name.to_owned(), config.value?.to_owned()))).collect()
}

/// The settings that were given to the topics themselves, in the order of `topics`; those that hold by default are
/// left out.
pub(crate) fn set_on(
    connection: &mut Connection,
    topics: &[&str],
    deadline: Deadline,
) -> Result<Vec<Vec<TopicConfig>>, ClientError> {
    let answers = ask(connection, TOPIC, topics, deadline, |result| {
        let own = result.configs.iter().filter(|config| config.config_source == SET_ON_THE_TOPIC);
        let mut own: Vec<TopicConfig> = own
            .map(|config| TopicConfig {
                name: config.name.to_owned(),
                value: config.value.map(str::to_owned).filter(|_| !config.is_sensitive),
            })
            .collect();
        own.sort_by(|left, right| left.name.cmp(&right.name));
        own
    })?;
    answers.into_iter().collect()
}

/// Asks about things of one kind, in their order.
fn ask<T>(
    connection: &mut Connection,
    kind: i8,
    names: &[&str],
    deadline: Deadline,
    read: impl Fn(&DescribeConfigsResult<'_>) -> T,
) -> Result<Vec<Result<T, ClientError>>, ClientError> {
    let version = connection.version(ApiKey::DescribeConfigs)?;
    let resource =
        |name| DescribeConfigsResource { resource_type: kind, resource_name: name, configuration_keys: None };
    let request = DescribeConfigsRequest {
        resources: names.iter().map(|name| resource(*name)).collect(),
        ..DescribeConfigsRequest::default()
    };
    let answer: DescribeConfigsResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    let of_one = |name: &&str| {
        let Some(result) = answer.results.iter().find(|one| one.resource_name == *name) else {
            let lacks = (*name).to_owned();
            return Err(ClientError::Incomplete { what: "DescribeConfigs".to_owned(), lacks });
        };
        if result.error_code != ErrorCode::None {
            let what = format!("the settings of {name}");
            return Err(ClientError::refused(what, result.error_code, result.error_message));
        }
        Ok(read(result))
    };
    Ok(names.iter().map(of_one).collect())
}
