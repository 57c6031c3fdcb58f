//! Making a topic.

use milepost_model::TopicId;
use milepost_wire::messages::create_topics::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest, CreateTopicsResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::backoff::Backoff;
use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;

/// The first version that takes −1 for the cluster's own number of partitions or replicas (KIP-464).
const DEFAULTS_FROM: i16 = 4;

/// A topic to be made.
#[derive(Clone, Debug, Default)]
pub struct NewTopic {
    /// Its name.
    pub name: String,
    /// How many partitions; the cluster's default if not said.
    pub partitions: Option<i32>,
    /// How many replicas; the cluster's default if not said.
    pub replicas: Option<i16>,
    /// Its settings, under Kafka's names.
    pub configs: Vec<(String, String)>,
}

/// Makes a topic, and waits until its partitions can be used. Gives its identity, from brokers that say it.
///
/// # Errors
/// When the cluster refuses, or the topic does not appear in time.
pub fn create(cluster: &mut Cluster, topic: &NewTopic) -> Result<Option<TopicId>, ClientError> {
    let deadline = cluster.deadline();
    let id =
        cluster.with(Target::Controller, deadline, |connection| create_once(connection, topic, deadline))?;
    await_leaders(cluster, &topic.name, deadline)?;
    Ok(id)
}

fn create_once(
    connection: &mut Connection,
    topic: &NewTopic,
    deadline: Deadline,
) -> Result<Option<TopicId>, ClientError> {
    let version = connection.version(ApiKey::CreateTopics)?;
    // Older brokers know no default; one of each is theirs out of the box.
    let default: i16 = if version >= DEFAULTS_FROM { -1 } else { 1 };
    let creatable = CreatableTopic {
        name: &topic.name,
        num_partitions: topic.partitions.unwrap_or(default.into()),
        replication_factor: topic.replicas.unwrap_or(default),
        configs: topic
            .configs
            .iter()
            .map(|(name, value)| CreatableTopicConfig { name, value: Some(value) })
            .collect(),
        ..CreatableTopic::default()
    };
    let timeout_ms = deadline.left().map_or(0, |left| i32::try_from(left.as_millis()).unwrap_or(i32::MAX));
    let request = CreateTopicsRequest { topics: vec![creatable], timeout_ms, validate_only: false };
    let answer: CreateTopicsResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    let Some(result) = answer.topics.iter().find(|one| one.name == topic.name) else {
        return Err(ClientError::Incomplete { what: "CreateTopics".to_owned(), lacks: topic.name.clone() });
    };
    if result.error_code != ErrorCode::None {
        return Err(ClientError::refused(&topic.name, result.error_code, result.error_message));
    }
    Ok((!result.topic_id.is_zero()).then_some(result.topic_id))
}

/// A broker hears of a new topic a moment after the controller has made it.
fn await_leaders(cluster: &mut Cluster, name: &str, deadline: Deadline) -> Result<(), ClientError> {
    let mut backoff = Backoff::default();
    loop {
        let error = match cluster.topics_with_leaders(&[name]) {
            Ok(_) => return Ok(()),
            Err(error) if error.code() == Some(ErrorCode::UnknownTopicOrPartition) => error,
            Err(error) => return Err(error),
        };
        let stop = cluster.options().stop.clone();
        backoff.wait(deadline, &stop, error)?;
    }
}
