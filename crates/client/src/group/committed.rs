//! Asking where a group has read up to, in some partitions, once no transaction is about to change it.

use std::collections::BTreeMap;

use milepost_model::Offset;

use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::groups::{Pending, PerGroup};
use crate::offset_fetch::{self, Wanted};
use crate::topic_partition::TopicPartition;

/// The offset that a group has committed for each of these partitions; `None` where it never did.
///
/// # Errors
/// When the group's coordinator does not answer in time, or refuses.
pub fn committed(
    cluster: &mut Cluster,
    group: &str,
    partitions: &[TopicPartition],
) -> Result<BTreeMap<TopicPartition, Option<Offset>>, ClientError> {
    if partitions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let deadline = cluster.deadline();
    let mut sorted = partitions.to_vec();
    sorted.sort();
    let found = cluster
        .with(Target::Coordinator(group), deadline, |connection| ask(connection, group, &sorted, deadline))?;
    // A partition that the answer lacks was not said to have no offset.
    let missing = sorted.iter().find(|one| !found.contains_key(*one));
    match missing {
        Some(one) => Err(ClientError::Incomplete { what: "OffsetFetch".to_owned(), lacks: one.to_string() }),
        None => Ok(found),
    }
}

fn ask(
    connection: &mut Connection,
    group: &str,
    partitions: &[TopicPartition],
    deadline: Deadline,
) -> Result<BTreeMap<TopicPartition, Option<Offset>>, ClientError> {
    let mut found = PerGroup::new();
    offset_fetch::ask(
        connection,
        &[group],
        Wanted::Named(partitions),
        Pending::Refused,
        deadline,
        &mut found,
    )?;
    let incomplete = || ClientError::Incomplete { what: "OffsetFetch".to_owned(), lacks: group.to_owned() };
    let said = found.remove(group).ok_or_else(incomplete)??;
    said.into_iter().map(|(place, outcome)| Ok((place, outcome?.map(|committed| committed.offset)))).collect()
}
