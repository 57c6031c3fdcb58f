//! Asking the leader of each partition about it, and again about those of which it could not say anything yet.

use std::collections::BTreeMap;

use crate::address::Address;
use crate::backoff::Backoff;
use crate::cluster::{Cluster, Target};
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
pub(crate) fn each_partition<A, T>(
    cluster: &mut Cluster,
    asked: &BTreeMap<TopicPartition, A>,
    mut ask: impl FnMut(
        &mut Connection,
        &[Asked<'_, A>],
        Deadline,
        &mut PerPartition<T>,
    ) -> Result<(), ClientError>,
) -> Result<PerPartition<T>, ClientError> {
    let deadline = cluster.deadline();
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
        for (leader, of_it) in by_leader(&metadata, &open, &mut found) {
            let outcome = cluster
                .connection(Target::Broker(leader), deadline)
                .and_then(|connection| ask(connection, &of_it, deadline, &mut found));
            let error = match outcome {
                Err(ClientError::Stopped) => return Err(ClientError::Stopped),
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
        match backoff.wait(deadline, &stop, error) {
            Ok(()) => {}
            Err(ClientError::Stopped) => return Err(ClientError::Stopped),
            Err(_) => settled.extend(failed.into_iter().map(|(one, error)| (one, Err(error)))),
        }
    }
}

fn by_leader<'m, 'a, A, T>(
    metadata: &'m Metadata,
    open: &[Asked<'a, A>],
    found: &mut PerPartition<T>,
) -> BTreeMap<&'m Address, Vec<Asked<'a, A>>> {
    let mut by_leader: BTreeMap<&Address, Vec<Asked<'_, A>>> = BTreeMap::new();
    for (one, what) in open {
        match metadata.leader(&one.topic, one.partition) {
            Ok(leader) => by_leader.entry(leader).or_default().push((one, what)),
            Err(error) => {
                found.insert((*one).clone(), Err(error));
            }
        }
    }
    by_leader
}
