//! Asking each coordinator about its own groups, all of them at the same time, and again about those of which it could not
//! say anything yet.

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
pub(super) fn each_group<T: Send>(
    cluster: &mut Cluster,
    groups: &[&str],
    ask: impl Fn(&mut Connection, &[&str], Deadline, &mut PerGroup<T>) -> Result<(), ClientError> + Sync,
) -> Result<PerGroup<T>, ClientError> {
    let deadline = cluster.deadline();
    let until = cluster.patience.until(deadline);
    let mut backoff = Backoff::default();
    let mut settled: PerGroup<T> = BTreeMap::new();
    let mut open: Vec<&str> = groups.to_vec();
    open.sort_unstable();
    open.dedup();
    loop {
        let mut failed: BTreeMap<String, ClientError> = BTreeMap::new();
        let (of_each, without) = by_coordinator(cluster, &open, deadline)?;
        for (group, error) in without {
            if is_worth_another(&error) {
                failed.insert(group.to_owned(), error);
            } else {
                settled.insert(group.to_owned(), Err(error));
            }
        }
        let answers = cluster.at_once(
            &of_each,
            deadline,
            |connection, of_it: &Vec<&str>, deadline, found: &mut PerGroup<T>| {
                ask(connection, of_it, deadline, found)
            },
        )?;
        for (of_it, (mut found, asked)) in of_each.into_values().zip(answers) {
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
        match backoff.wait(until, &stop, error) {
            Ok(()) => {
                open.retain(|group| failed.contains_key(*group));
            }
            Err(ClientError::Stopped) => return Err(ClientError::Stopped),
            Err(_) => {
                cluster.patience.give_up();
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

/// The groups of each coordinator, and those that have none, with the reason.
type Homes<'a> = (BTreeMap<Address, Vec<&'a str>>, Vec<(&'a str, ClientError)>);

fn by_coordinator<'a>(
    cluster: &mut Cluster,
    groups: &[&'a str],
    deadline: Deadline,
) -> Result<Homes<'a>, ClientError> {
    let mut found = cluster.coordinators(groups, deadline)?;
    let mut by_address: BTreeMap<Address, Vec<&'a str>> = BTreeMap::new();
    let mut without = Vec::new();
    for group in groups {
        match found.remove(*group) {
            Some(Ok(address)) => by_address.entry(address).or_default().push(group),
            Some(Err(error)) => without.push((*group, error)),
            None => {}
        }
    }
    Ok((by_address, without))
}
