//! Which brokers coordinate which groups.

use std::collections::BTreeMap;

use milepost_wire::messages::find_coordinator::{
    Coordinator, FindCoordinatorRequest, FindCoordinatorResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::address::Address;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;

/// From this version on one request may ask for many groups.
const MANY_KEYS_FROM: i16 = 4;
/// How many it then asks for.
const KEYS_A_REQUEST: usize = 500;

type Found = BTreeMap<String, Result<Address, ClientError>>;

/// Asks one broker. Every group has a result.
pub(crate) fn find(
    connection: &mut Connection,
    groups: &[&str],
    deadline: Deadline,
) -> Result<Found, ClientError> {
    let version = connection.version(ApiKey::FindCoordinator)?;
    let mut found: Found = BTreeMap::new();
    if version >= MANY_KEYS_FROM {
        let requests = groups.chunks(KEYS_A_REQUEST).map(|part| FindCoordinatorRequest {
            coordinator_keys: part.to_vec(),
            ..FindCoordinatorRequest::default()
        });
        connection.pipeline(requests, version, deadline, |answer| {
            let answer: FindCoordinatorResponse<'_> = answer.decode()?;
            for one in &answer.coordinators {
                found.insert(one.key.to_owned(), read(one.key, one));
            }
            Ok(())
        })?;
    } else {
        let mut asked = groups.iter();
        let requests = groups.iter().map(|group| FindCoordinatorRequest { key: group, ..Default::default() });
        connection.pipeline(requests, version, deadline, |answer| {
            let answer: FindCoordinatorResponse<'_> = answer.decode()?;
            let one = Coordinator {
                key: "",
                node_id: answer.node_id,
                host: answer.host,
                port: answer.port,
                error_code: answer.error_code,
                error_message: answer.error_message,
            };
            // Answers come in the order of the requests.
            if let Some(group) = asked.next() {
                found.insert((*group).to_owned(), read(group, &one));
            }
            Ok(())
        })?;
    }
    for group in groups {
        if !found.contains_key(*group) {
            found.insert((*group).to_owned(), Err(missing(group)));
        }
    }
    Ok(found)
}

/// What is to be said of a group that the answer leaves out.
pub(crate) fn missing(group: &str) -> ClientError {
    ClientError::Incomplete { what: "FindCoordinator".to_owned(), lacks: group.to_owned() }
}

fn read(group: &str, one: &Coordinator<'_>) -> Result<Address, ClientError> {
    let what = || format!("the coordinator of {group}");
    if one.error_code != ErrorCode::None {
        return Err(ClientError::refused(what(), one.error_code, one.error_message));
    }
    Address::advertised(one.host, one.port)
        .ok_or_else(|| ClientError::refused(what(), ErrorCode::CoordinatorNotAvailable, None))
}
