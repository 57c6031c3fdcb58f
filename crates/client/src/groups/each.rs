//! Asking each coordinator about its own groups, and again about those of which it could not say anything yet.

use std::collections::BTreeMap;

use milepost_wire::ErrorCode;

use crate::address::Address;
use crate::backoff::Backoff;
use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;

/// What came of each group that was asked about.
pub type PerGroup<T> = BTreeMap<String, Result<T, ClientError>>;

/// Lets `ask` ask each coordinator about its groups; what it puts into the map is settled, unless the error may pass.
///
/// # Errors
/// When nobody at all can be asked, or a stop is set.
pub(super) fn each_group<T>(
    cluster: &mut Cluster,
    groups: &[&str],
    mut ask: impl FnMut(&mut Connection, &[&str], Deadline, &mut PerGroup<T>) -> Result<(), ClientError>,
) -> Result<PerGroup<T>, ClientError> {
    let deadline = cluster.deadline();
    let mut backoff = Backoff::default();
    let mut settled: PerGroup<T> = BTreeMap::new();
    let mut open: Vec<&str> = groups.to_vec();
    open.sort_unstable();
    open.dedup();
    loop {
        let mut failed: BTreeMap<String, ClientError> = BTreeMap::new();
        for (address, of_it) in by_coordinator(cluster, &open, deadline, &mut failed)? {
            let mut found = BTreeMap::new();
            let asked = cluster
                .connection(Target::Broker(&address), deadline)
                .and_then(|connection| ask(connection, &of_it, deadline, &mut found));
            if let Err(ClientError::Stopped) = asked {
                return Err(ClientError::Stopped);
            }
            for group in of_it {
                let outcome = match (found.remove(group), &asked) {
                    (Some(outcome), _) => outcome,
                    (None, Err(error)) => Err(error.clone()),
                    (None, Ok(())) => {
                        let (what, lacks) = ("the coordinator".to_owned(), group.to_owned());
                        Err(ClientError::Incomplete { what, lacks })
                    }
                };
                match outcome {
                    Err(error) if is_worth_another(&error) => {
                        failed.insert(group.to_owned(), error);
                    }
                    outcome => {
                        settled.insert(group.to_owned(), outcome);
                    }
                }
            }
        }
        let Some(error) = failed.values().next().cloned() else { return Ok(settled) };
        for group in failed.keys() {
            cluster.forget(Target::Coordinator(group));
        }
        let stop = cluster.options().stop.clone();
        match backoff.wait(deadline, &stop, error) {
            Ok(()) => {
                open.retain(|group| failed.contains_key(*group));
            }
            Err(ClientError::Stopped) => return Err(ClientError::Stopped),
            Err(_) => {
                settled.extend(failed.into_iter().map(|(group, error)| (group, Err(error))));
                return Ok(settled);
            }
        }
    }
}

/// A rebalance or an open transaction is an answer, not a hindrance: whoever asks wants to be told.
fn is_worth_another(error: &ClientError) -> bool {
    error.is_transient() && error.code() != Some(ErrorCode::UnstableOffsetCommit)
}

fn by_coordinator<'a>(
    cluster: &mut Cluster,
    groups: &[&'a str],
    deadline: Deadline,
    failed: &mut BTreeMap<String, ClientError>,
) -> Result<BTreeMap<Address, Vec<&'a str>>, ClientError> {
    let mut found = cluster.coordinators(groups, deadline)?;
    let mut by_address: BTreeMap<Address, Vec<&'a str>> = BTreeMap::new();
    for group in groups {
        match found.remove(*group) {
            Some(Ok(address)) => by_address.entry(address).or_default().push(group),
            Some(Err(error)) => {
                failed.insert((*group).to_owned(), error);
            }
            None => {}
        }
    }
    Ok(by_address)
}
