//! Deleting a topic.

use milepost_wire::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest, DeleteTopicsResponse};
use milepost_wire::{ApiKey, ErrorCode};

use crate::backoff::Backoff;
use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;

/// The first version that has names and ids in a structure of their own.
const STATES_FROM: i16 = 6;

/// Deletes a topic, and waits until a broker no longer shows it.
///
/// # Errors
/// When the cluster refuses. That the topic is still shown when the time is over is none: it goes a moment later.
pub fn delete(cluster: &mut Cluster, name: &str) -> Result<(), ClientError> {
    let deadline = cluster.deadline();
    cluster.with(Target::Controller, deadline, |connection| delete_once(connection, name, deadline))?;
    let mut backoff = Backoff::default();
    loop {
        let metadata = cluster.metadata(Some(&[name]))?;
        let error = metadata.topic(name).map_or(ErrorCode::UnknownTopicOrPartition, |topic| topic.error);
        if error == ErrorCode::UnknownTopicOrPartition {
            return Ok(());
        }
        let stop = cluster.options().stop.clone();
        let shown = ClientError::refused(name, ErrorCode::RequestTimedOut, None);
        match backoff.wait(deadline, &stop, shown) {
            Err(ClientError::Refused { .. }) => return Ok(()),
            other => other?,
        }
    }
}

fn delete_once(connection: &mut Connection, name: &str, deadline: Deadline) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::DeleteTopics)?;
    let mut request = DeleteTopicsRequest {
        timeout_ms: deadline.left().map_or(0, |left| i32::try_from(left.as_millis()).unwrap_or(i32::MAX)),
        ..DeleteTopicsRequest::default()
    };
    if version >= STATES_FROM {
        request.topics = vec![DeleteTopicState { name: Some(name), ..DeleteTopicState::default() }];
    } else {
        request.topic_names = vec![name];
    }
    let answer: DeleteTopicsResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    let Some(result) = answer.responses.iter().find(|one| one.name == Some(name)) else {
        return Err(ClientError::Incomplete { what: "DeleteTopics".to_owned(), lacks: name.to_owned() });
    };
    if result.error_code != ErrorCode::None {
        return Err(ClientError::refused(name, result.error_code, result.error_message));
    }
    Ok(())
}
