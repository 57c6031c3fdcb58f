//! Carries plans out, and reads back what came of it. Nothing is taken for done that the cluster does not show.

use std::collections::BTreeMap;

use milepost_client::groups::{self, Committed, Pending};
use milepost_client::{ClientError, Cluster, TopicPartition, epochs, stamps};

use crate::plan::{Deletion, OffsetPlan, SpanEnd};
use crate::reason::Reason;

/// What came of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Which.
    pub partition: TopicPartition,
    /// Done and seen, or why not.
    pub result: Result<(), Reason>,
}

/// Looks up what a plan lacks: epochs that belong to its offsets, and the times of the records in between.
///
/// # Errors
/// When nobody can be asked. What one partition does not say is left open.
pub fn complete(cluster: &mut Cluster, plan: &mut OffsetPlan) -> Result<(), ClientError> {
    let lacking = plan.without_epoch();
    if !lacking.is_empty() {
        let found = epochs::before(cluster, &lacking)?;
        plan.set_epochs(&found);
    }
    for end in [SpanEnd::From, SpanEnd::To] {
        let places = plan.span_ends(end);
        if !places.is_empty() {
            let found = stamps::first_at(cluster, &places)?;
            let known = found.into_iter().filter_map(|(one, stamp)| Some((one, stamp.ok()?))).collect();
            plan.set_span(end, &known);
        }
    }
    Ok(())
}

/// Writes a plan's offsets and deletes what it forgets, then reads the group again: a partition is done when the cluster
/// shows what was wanted.
///
/// # Errors
/// [`ClientError::Stopped`] before anything was written. After that, what is wrong is in each partition's outcome.
pub fn write(cluster: &mut Cluster, plan: &OffsetPlan) -> Result<Vec<Outcome>, ClientError> {
    let wanted: BTreeMap<TopicPartition, Committed> =
        plan.moves.iter().map(|one| (one.partition.clone(), one.new.clone())).collect();
    let mut results: BTreeMap<TopicPartition, Result<(), Reason>> = BTreeMap::new();
    let forgotten: Vec<TopicPartition> = plan.forgets.iter().map(|(one, _)| one.clone()).collect();
    if plan.deletion == Deletion::WithGroup {
        if let Err(reason) = delete_group(cluster, &plan.group)? {
            let refused = |partition| Outcome { partition, result: Err(reason.clone()) };
            return Ok(plan.touched().into_iter().map(refused).collect());
        }
        // Nothing ends this early any more, or what is kept would be gone.
        cluster.finish_within(cluster.options().timeout);
        results.extend(forgotten.iter().map(|one| (one.clone(), Ok(()))));
    }
    if !wanted.is_empty() {
        results.extend(alter(cluster, plan, &wanted)?);
    }
    if plan.deletion == Deletion::ByPartition {
        results.extend(forget(cluster, &plan.group, &forgotten)?);
    }
    verify(cluster, &plan.group, &wanted, &mut results);
    Ok(results.into_iter().map(|(partition, result)| Outcome { partition, result }).collect())
}

/// Where the group was deleted before, nobody being asked is an outcome too.
fn alter(
    cluster: &mut Cluster,
    plan: &OffsetPlan,
    wanted: &BTreeMap<TopicPartition, Committed>,
) -> Result<BTreeMap<TopicPartition, Result<(), Reason>>, ClientError> {
    match groups::alter(cluster, &plan.group, wanted) {
        Ok(altered) => Ok(altered
            .into_iter()
            .map(|(one, result)| (one, result.map_err(|error| in_words(&error))))
            .collect()),
        Err(error) if plan.deletion == Deletion::WithGroup => {
            let reason = in_words(&error);
            Ok(wanted.keys().map(|one| (one.clone(), Err(reason.clone()))).collect())
        }
        Err(error) => Err(error),
    }
}

fn delete_group(cluster: &mut Cluster, group: &str) -> Result<Result<(), Reason>, ClientError> {
    let deleted = groups::delete(cluster, &[group])?.remove(group);
    let lacking =
        || Err(ClientError::Incomplete { what: "DeleteGroups".to_owned(), lacks: group.to_owned() });
    Ok(deleted.unwrap_or_else(lacking).map_err(|error| in_words(&error)))
}

/// Deletes offsets, and reads the group again.
///
/// # Errors
/// As [`write()`].
pub fn delete_offsets(
    cluster: &mut Cluster,
    group: &str,
    partitions: &[TopicPartition],
) -> Result<Vec<Outcome>, ClientError> {
    let mut results = forget(cluster, group, partitions)?;
    verify(cluster, group, &BTreeMap::new(), &mut results);
    Ok(results.into_iter().map(|(partition, result)| Outcome { partition, result }).collect())
}

fn forget(
    cluster: &mut Cluster,
    group: &str,
    partitions: &[TopicPartition],
) -> Result<BTreeMap<TopicPartition, Result<(), Reason>>, ClientError> {
    if partitions.is_empty() {
        return Ok(BTreeMap::new());
    }
    match groups::delete_offsets(cluster, group, partitions) {
        Ok(deleted) => Ok(deleted
            .into_iter()
            .map(|(one, result)| (one, result.map_err(|error| in_words(&error))))
            .collect()),
        Err(error) => {
            let reason = in_words(&error);
            Ok(partitions.iter().map(|one| (one.clone(), Err(reason.clone()))).collect())
        }
    }
}

/// Whoever writes from outside of a group is UNKNOWN_MEMBER_ID to one that has members.
fn in_words(error: &ClientError) -> Reason {
    let mut reason = Reason::from(error);
    if reason.code() == Some("UNKNOWN_MEMBER_ID") {
        reason.words = "someone joined the group meanwhile [UNKNOWN_MEMBER_ID]".to_owned();
    }
    reason
}

/// Compares what the cluster shows with what was wanted; a partition that is not wanted must show nothing.
fn verify(
    cluster: &mut Cluster,
    group: &str,
    wanted: &BTreeMap<TopicPartition, Committed>,
    results: &mut BTreeMap<TopicPartition, Result<(), Reason>>,
) {
    if results.values().all(Result::is_err) {
        return;
    }
    let shown = groups::committed(cluster, &[group], Pending::Passed)
        .and_then(|mut all| all.remove(group).unwrap_or_else(|| Ok(groups::Commits::new())));
    let shown = match shown {
        Ok(shown) => shown,
        Err(error) => {
            let reason = Reason::other(format!("written, but it could not be read back: {error}"));
            for result in results.values_mut().filter(|result| result.is_ok()) {
                *result = Err(reason.clone());
            }
            return;
        }
    };
    for (one, result) in results.iter_mut().filter(|(_, result)| result.is_ok()) {
        let there = match shown.get(one) {
            Some(Ok(there)) => Some(there),
            Some(Err(error)) => {
                *result = Err(Reason::from(error));
                continue;
            }
            None => None,
        };
        if !is_as_wanted(there, wanted.get(one)) {
            let shown = there.map_or_else(|| "nothing".to_owned(), |there| there.offset.to_string());
            *result = Err(Reason::other(format!("{one}: written, but the cluster shows {shown}")));
        }
    }
}

/// A broker that stores no epochs shows none.
fn is_as_wanted(there: Option<&Committed>, wanted: Option<&Committed>) -> bool {
    match (there, wanted) {
        (None, None) => true,
        (Some(there), Some(wanted)) => {
            there.offset == wanted.offset
                && there.metadata == wanted.metadata
                && (there.leader_epoch == wanted.leader_epoch || there.leader_epoch.is_none())
        }
        _ => false,
    }
}
