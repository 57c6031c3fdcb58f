//! What has to be there before load can run: topics, and who coordinates a group or leads a partition.

use std::time::{Duration, Instant};

use milepost_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest, CreateTopicsResponse};
use milepost_wire::messages::find_coordinator::{FindCoordinatorRequest, FindCoordinatorResponse};
use milepost_wire::messages::metadata::{MetadataRequest, MetadataRequestTopic, MetadataResponse};
use milepost_wire::{ApiKey, ErrorCode};

use crate::client::Client;
use crate::error::BenchError;

/// How long a server may take to get ready: Kafka creates the topic of offsets when it is first asked for a
/// coordinator.
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// How long to wait before asking again.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// How many groups one FindCoordinator asks for.
const GROUPS_A_REQUEST: usize = 1000;
/// The first version of CreateTopics that takes −1 for the default number of replicas (KIP-464).
const DEFAULT_REPLICAS_FROM: i16 = 4;

/// Makes a topic, or finds it there.
pub(crate) fn create_topic(client: &mut Client, name: &str, partitions: u32) -> Result<(), BenchError> {
    let version = client.version(ApiKey::CreateTopics, 7)?;
    let topic = CreatableTopic {
        name,
        num_partitions: i32::try_from(partitions).unwrap_or(i32::MAX),
        replication_factor: if version >= DEFAULT_REPLICAS_FROM { -1 } else { 1 },
        ..CreatableTopic::default()
    };
    let request = CreateTopicsRequest { topics: vec![topic], timeout_ms: 30_000, validate_only: false };
    let response: CreateTopicsResponse<'_> = client.call(&request, version)?;
    match response.topics.first().map_or(ErrorCode::UnknownServerError, |topic| topic.error_code) {
        ErrorCode::None | ErrorCode::TopicAlreadyExists => Ok(()),
        code => Err(BenchError::Refused { what: format!("creating the topic {name}"), code }),
    }
}

/// The address (HOST:PORT) of each group's coordinator, in the order of the groups.
pub(crate) fn coordinators(client: &mut Client, groups: &[String]) -> Result<Vec<String>, BenchError> {
    let give_up = Instant::now() + READY_TIMEOUT;
    let mut found = Vec::with_capacity(groups.len());
    while found.len() < groups.len() {
        let asked = &groups[found.len()..groups.len().min(found.len() + GROUPS_A_REQUEST)];
        match coordinators_once(client, asked)? {
            Ok(addresses) => found.extend(addresses),
            Err(code) if code.is_retriable() && Instant::now() < give_up => {
                std::thread::sleep(RETRY_PAUSE);
            }
            Err(code) => {
                return Err(BenchError::Refused { what: "finding the groups' coordinator".to_owned(), code });
            }
        }
    }
    Ok(found)
}

fn coordinators_once(
    client: &mut Client,
    groups: &[String],
) -> Result<Result<Vec<String>, ErrorCode>, BenchError> {
    let version = client.version(ApiKey::FindCoordinator, 4)?;
    if version < 4 {
        let mut found = Vec::with_capacity(groups.len());
        for group in groups {
            let request = FindCoordinatorRequest { key: group, ..FindCoordinatorRequest::default() };
            let response: FindCoordinatorResponse<'_> = client.call(&request, version)?;
            if response.error_code != ErrorCode::None {
                return Ok(Err(response.error_code));
            }
            found.push(format!("{}:{}", response.host, response.port));
        }
        return Ok(Ok(found));
    }
    let coordinator_keys = groups.iter().map(String::as_str).collect();
    let request = FindCoordinatorRequest { coordinator_keys, ..FindCoordinatorRequest::default() };
    let response: FindCoordinatorResponse<'_> = client.call(&request, version)?;
    let mut found = Vec::with_capacity(groups.len());
    for group in groups {
        let Some(coordinator) = response.coordinators.iter().find(|one| one.key == group) else {
            return Ok(Err(ErrorCode::UnknownServerError));
        };
        if coordinator.error_code != ErrorCode::None {
            return Ok(Err(coordinator.error_code));
        }
        found.push(format!("{}:{}", coordinator.host, coordinator.port));
    }
    Ok(Ok(found))
}

/// The address of the leader of each of a topic's first `partitions` partitions.
pub(crate) fn leaders(client: &mut Client, topic: &str, partitions: u32) -> Result<Vec<String>, BenchError> {
    let give_up = Instant::now() + READY_TIMEOUT;
    loop {
        match leaders_once(client, topic, partitions)? {
            Ok(addresses) => return Ok(addresses),
            Err(code) if code.is_retriable() && Instant::now() < give_up => std::thread::sleep(RETRY_PAUSE),
            Err(code) => {
                return Err(BenchError::Refused { what: format!("finding the leaders of {topic}"), code });
            }
        }
    }
}

fn leaders_once(
    client: &mut Client,
    topic: &str,
    partitions: u32,
) -> Result<Result<Vec<String>, ErrorCode>, BenchError> {
    let version = client.version(ApiKey::Metadata, 12)?;
    let asked = MetadataRequestTopic { name: Some(topic), ..MetadataRequestTopic::default() };
    let request = MetadataRequest {
        topics: Some(vec![asked]),
        allow_auto_topic_creation: version < 4,
        ..MetadataRequest::default()
    };
    let response: MetadataResponse<'_> = client.call(&request, version)?;
    let Some(found) = response.topics.first() else { return Ok(Err(ErrorCode::UnknownServerError)) };
    if found.error_code != ErrorCode::None {
        return Ok(Err(found.error_code));
    }
    let leader = |index: u32| {
        let partition =
            found.partitions.iter().find(|one| u32::try_from(one.partition_index) == Ok(index))?;
        let broker = response.brokers.iter().find(|broker| broker.node_id == partition.leader_id)?;
        Some(format!("{}:{}", broker.host, broker.port))
    };
    let addresses: Option<Vec<String>> = (0..partitions).map(leader).collect();
    Ok(addresses.ok_or(ErrorCode::LeaderNotAvailable))
}
