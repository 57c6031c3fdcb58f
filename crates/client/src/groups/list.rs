//! All groups of a cluster: every broker is asked for those that it coordinates.

use std::collections::BTreeMap;

use milepost_wire::messages::list_groups::{ListGroupsRequest, ListGroupsResponse};
use milepost_wire::{ApiKey, ErrorCode};

use super::GroupKind;
use crate::address::Address;
use crate::backoff::Backoff;
use crate::cluster::Cluster;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;

/// The first version that can filter by state, and says states.
const STATES_FROM: i16 = 4;
/// The first version that can filter by type, and says types.
const TYPES_FROM: i16 = 5;

/// Which groups are wanted; an empty list lets all pass.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    /// States by Kafka's names, in whatever case.
    pub states: Vec<String>,
    /// Types by Kafka's names, in whatever case.
    pub kinds: Vec<String>,
}

/// A group as a listing shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupListing {
    /// Its name.
    pub group: String,
    /// Its type, from brokers that say it.
    pub kind: Option<GroupKind>,
    /// What its members speak among each other: `consumer`, `connect`, …; empty for a group that only stores offsets.
    pub protocol_type: String,
    /// Its state, from brokers that say it.
    pub state: Option<String>,
    /// The broker that coordinates it.
    pub coordinator: Address,
}

/// What the brokers said.
#[derive(Debug, Default)]
pub struct Listed {
    /// By name.
    pub groups: BTreeMap<String, GroupListing>,
    /// Why groups of some brokers may be missing.
    pub refused: Vec<ClientError>,
}

/// Asks every broker, all of them at the same time. One that does not answer hides only its own groups.
///
/// # Errors
/// When the cluster cannot be asked at all.
pub fn list(cluster: &mut Cluster, filter: &ListFilter) -> Result<Listed, ClientError> {
    let deadline = cluster.deadline();
    let until = cluster.patience.until(deadline);
    let stop = cluster.options().stop.clone();
    let mut backoff = Backoff::default();
    let brokers = cluster.metadata(Some(&[]))?.brokers;
    let mut open: BTreeMap<Address, ()> = brokers.into_iter().map(|broker| (broker.address, ())).collect();
    let mut listed = Listed::default();
    while !open.is_empty() {
        let answers =
            cluster.at_once(&open, deadline, |connection, (), deadline, found: &mut Vec<GroupListing>| {
                *found = ask(connection, filter, deadline)?;
                Ok(())
            })?;
        let mut failed = BTreeMap::new();
        for (address, (groups, outcome)) in open.into_keys().zip(answers) {
            listed.groups.extend(groups.into_iter().map(|one| (one.group.clone(), one)));
            match outcome {
                Err(error) if error.is_transient() => drop(failed.insert(address, error)),
                Err(error) => listed.refused.push(error),
                Ok(()) => {}
            }
        }
        let Some(error) = failed.values().next().cloned() else { break };
        open = match backoff.wait(until, &stop, error) {
            Ok(()) => failed.into_keys().map(|address| (address, ())).collect(),
            Err(ClientError::Stopped) => return Err(ClientError::Stopped),
            Err(_) => {
                cluster.patience.give_up();
                listed.refused.extend(failed.into_values());
                BTreeMap::new()
            }
        };
    }
    for group in listed.groups.values() {
        cluster.remember_coordinator(&group.group, &group.coordinator);
    }
    Ok(listed)
}

fn ask(
    connection: &mut Connection,
    filter: &ListFilter,
    deadline: Deadline,
) -> Result<Vec<GroupListing>, ClientError> {
    let version = connection.version(ApiKey::ListGroups)?;
    let address = connection.address().clone();
    let too_old = |what: &str| {
        Err(ClientError::refused(
            format!("{address} cannot filter groups by {what}"),
            ErrorCode::UnsupportedVersion,
            None,
        ))
    };
    if version < STATES_FROM && !filter.states.is_empty() {
        return too_old("state");
    }
    if version < TYPES_FROM && !filter.kinds.is_empty() {
        return too_old("type");
    }
    let request = ListGroupsRequest {
        states_filter: filter.states.iter().map(String::as_str).collect(),
        types_filter: filter.kinds.iter().map(String::as_str).collect(),
    };
    let answer: ListGroupsResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    if answer.error_code != ErrorCode::None {
        return Err(ClientError::refused(format!("the groups of {address}"), answer.error_code, None));
    }
    let groups = answer.groups.iter().map(|one| GroupListing {
        group: one.group_id.to_owned(),
        kind: (version >= TYPES_FROM).then(|| GroupKind::from_name(one.group_type)),
        protocol_type: one.protocol_type.to_owned(),
        state: (version >= STATES_FROM).then(|| one.group_state.to_owned()),
        coordinator: address.clone(),
    });
    Ok(groups.collect())
}
