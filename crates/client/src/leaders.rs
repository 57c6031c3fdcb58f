//! Asking the leader of each partition about it, all of them at the same time, and again about those of which it could not
//! say anything yet.

use std::collections::BTreeMap;

use crate::address::Address;
use crate::backoff::Backoff;
use crate::cluster::Cluster;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::metadata::Metadata;
use crate::topic_partition::TopicPartition;

/// What came of each partition that was asked about.
pub type PerPartition<T> = BTreeMap<TopicPartition, Result<T, ClientError>>;

/// A partition and what is asked of it.
pub(crate) type Asked<'a, A> = (&'a TopicPartition, &'a A);

/// Lets `ask` ask each leader about its partitions; what it puts into the map is settled, unless the error may pass.
///
/// # Errors
/// When nobody at all can be asked, or a stop is set. A partition that is not there, or whose leader is dead, has its own
/// error and hides no other.
pub(crate) fn each_partition<A: Sync, T: Send>(
    cluster: &mut Cluster,
    asked: &BTreeMap<TopicPartition, A>,
    ask: impl Fn(&mut Connection, &[Asked<'_, A>], Deadline, &mut PerPartition<T>) -> Result<(), ClientError>
    + Sync,
) -> Result<PerPartition<T>, ClientError> {
    let deadline = cluster.deadline();
    let until = cluster.patience.until(deadline);
    let mut backoff = Backoff::default();
    let mut settled: PerPartition<T> = BTreeMap::new();
    loop {
        let open: Vec<Asked<'_, A>> = asked.iter().filter(|(one, _)| !settled.contains_key(*one)).collect();
        if open.is_empty() {
            return Ok(settled);
        }
        let mut names: Vec<&str> = open.iter().map(|(one, _)| &*one.topic).collect();
        names.dedup();
        let metadata = cluster.metadata(Some(&names))?;
        let mut failed: BTreeMap<TopicPartition, ClientError> = BTreeMap::new();
        let mut found: PerPartition<T> = BTreeMap::new();
        let of_each = by_leader(&metadata, &open, &mut found);
        let answers = cluster.at_once(
            &of_each,
            deadline,
            |connection, of_it: &Vec<Asked<'_, A>>, deadline, found: &mut PerPartition<T>| {
                ask(connection, of_it, deadline, found)
            },
        )?;
        for (of_it, (of_one, outcome)) in of_each.into_values().zip(answers) {
            found.extend(of_one);
            let error = match outcome {
                Err(error) => error,
                Ok(()) => ClientError::Incomplete {
                    what: "the leader".to_owned(),
                    lacks: of_it.first().map_or_else(String::new, |(one, _)| one.to_string()),
                },
            };
            for (one, _) in of_it {
                found.entry(one.clone()).or_insert_with(|| Err(error.clone()));
            }
        }
        for (one, outcome) in found {
            match outcome {
                Err(error) if error.is_transient() => {
                    failed.insert(one, error);
                }
                outcome => {
                    settled.insert(one, outcome);
                }
            }
        }
        let Some(error) = failed.values().next().cloned() else { continue };
        let stop = cluster.options().stop.clone();
        match backoff.wait(until, &stop, error) {
            Ok(()) => {}
            Err(ClientError::Stopped) => return Err(ClientError::Stopped),
            Err(_) => {
                cluster.patience.give_up();
                settled.extend(failed.into_iter().map(|(one, error)| (one, Err(error))));
            }
        }
    }
}

fn by_leader<'a, A, T>(
    metadata: &Metadata,
    open: &[Asked<'a, A>],
    found: &mut PerPartition<T>,
) -> BTreeMap<Address, Vec<Asked<'a, A>>> {
    let mut by_leader: BTreeMap<Address, Vec<Asked<'_, A>>> = BTreeMap::new();
    for (one, what) in open {
        match metadata.leader(&one.topic, one.partition) {
            Ok(leader) => by_leader.entry(leader.clone()).or_default().push((one, what)),
            Err(error) => {
                found.insert((*one).clone(), Err(error));
            }
        }
    }
    by_leader
}
