//! Carries plans out, and reads back what came of it. Nothing is taken for done that the cluster does not show.

use std::collections::BTreeMap;
use std::time::Duration;

use milepost_client::groups::{self, Committed, Pending};
use milepost_client::{ClientError, Cluster, PerPartition, TopicPartition, epochs, stamps};

use crate::plan::{Deletion, OffsetPlan, SpanEnd};
use crate::reason::Reason;

/// How long it may take after a stop to see what came of what was begun.
const FINISH: Duration = Duration::from_secs(5);

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

/// What the cluster said of something that was to be changed.
#[derive(Clone, Debug)]
enum Said {
    /// That it is done.
    Done,
    /// That it is not.
    Refused(Reason),
    /// Nothing, for this reason: it may be done or not.
    Nothing(Reason),
}

impl Said {
    fn of(result: Result<(), ClientError>) -> Self {
        match result {
            Ok(()) => Self::Done,
            Err(error) if error.is_connection() => Self::Nothing(in_words(&error)),
            Err(error @ (ClientError::Stopped | ClientError::Incomplete { .. })) => {
                Self::Nothing(in_words(&error))
            }
            Err(error) => Self::Refused(in_words(&error)),
        }
    }
}

type SaidOfEach = BTreeMap<TopicPartition, Said>;

/// Writes a plan's offsets and deletes what it forgets, then reads the group again: a partition is done when the cluster
/// shows what was wanted, also where its answer was lost or a stop came before it.
///
/// # Errors
/// [`ClientError::Stopped`] before anything was written. After that, what is wrong is in each partition's outcome.
pub fn write(cluster: &mut Cluster, plan: &OffsetPlan) -> Result<Vec<Outcome>, ClientError> {
    if cluster.options().stop.is_set() {
        return Err(ClientError::Stopped);
    }
    let wanted: BTreeMap<TopicPartition, Committed> =
        plan.moves.iter().map(|one| (one.partition.clone(), one.new.clone())).collect();
    let forgotten: Vec<TopicPartition> = plan.forgets.iter().map(|(one, _)| one.clone()).collect();
    let mut said = SaidOfEach::new();
    if plan.deletion == Deletion::WithGroup {
        let deleted = delete_groups(cluster, &[&plan.group]).remove(&plan.group);
        if let Some(Err(reason)) = deleted {
            let refused = |partition| Outcome { partition, result: Err(reason.clone()) };
            return Ok(plan.touched().into_iter().map(refused).collect());
        }
        // Nothing ends this early any more, or what is kept would be gone.
        cluster.finish_within(cluster.options().timeout);
        said.extend(forgotten.iter().map(|one| (one.clone(), Said::Done)));
    }
    if !wanted.is_empty() {
        said.extend(each(groups::alter(cluster, &plan.group, &wanted), wanted.keys()));
    }
    if plan.deletion == Deletion::ByPartition && !forgotten.is_empty() {
        said.extend(each(groups::delete_offsets(cluster, &plan.group, &forgotten), &forgotten));
    }
    let mut outcomes = read_back(cluster, &plan.group, &wanted, said);
    if plan.deletion == Deletion::WithGroup {
        for reason in outcomes.iter_mut().filter_map(|one| one.result.as_mut().err()) {
            reason.words = format!("the group was deleted, and this was not written again: {}", reason.words);
        }
    }
    Ok(outcomes)
}

/// Deletes groups that are there. Where nothing was said of one, it is looked for: a group that is not there is deleted.
pub fn delete_groups(cluster: &mut Cluster, groups: &[&str]) -> BTreeMap<String, Result<(), Reason>> {
    let mut outcomes = BTreeMap::new();
    let mut unsaid = BTreeMap::new();
    let mut deleted = groups::delete(cluster, groups);
    for group in groups {
        let result = match &mut deleted {
            Ok(deleted) => deleted.remove(*group).unwrap_or_else(|| {
                Err(ClientError::Incomplete { what: "DeleteGroups".to_owned(), lacks: (*group).to_owned() })
            }),
            Err(error) => Err(error.clone()),
        };
        match Said::of(result) {
            Said::Done => drop(outcomes.insert((*group).to_owned(), Ok(()))),
            // It was there: an attempt whose answer was lost has done it.
            Said::Refused(reason) if reason.code() == Some("GROUP_ID_NOT_FOUND") => {
                outcomes.insert((*group).to_owned(), Ok(()));
            }
            Said::Refused(reason) => drop(outcomes.insert((*group).to_owned(), Err(reason))),
            Said::Nothing(reason) => drop(unsaid.insert(*group, reason)),
        }
    }
    if !unsaid.is_empty() {
        finish(cluster);
        let names: Vec<&str> = unsaid.keys().copied().collect();
        let mut described = groups::describe(cluster, &names);
        for (group, reason) in unsaid {
            let there = match &mut described {
                Ok(described) => described.remove(group).and_then(Result::ok).map(|known| known.exists()),
                Err(_) => None,
            };
            let outcome = match there {
                Some(false) => Ok(()),
                Some(true) => Err(reason),
                None => Err(in_doubt(reason)),
            };
            outcomes.insert(group.to_owned(), outcome);
        }
    }
    outcomes
}

/// What was said of each partition, where a request as a whole may have failed.
fn each<'a>(
    answer: Result<PerPartition<()>, ClientError>,
    partitions: impl IntoIterator<Item = &'a TopicPartition>,
) -> SaidOfEach {
    match answer {
        Ok(answer) => answer.into_iter().map(|(one, result)| (one, Said::of(result))).collect(),
        Err(error) => {
            let said = Said::of(Err(error));
            partitions.into_iter().map(|one| (one.clone(), said.clone())).collect()
        }
    }
}

/// After a stop what came of it is still looked at, for a while.
fn finish(cluster: &mut Cluster) {
    if cluster.options().stop.is_set() {
        cluster.finish_within(FINISH);
    }
}

fn in_doubt(reason: Reason) -> Reason {
    Reason { words: format!("it is not known whether it was done: {}", reason.words), ..reason }
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
fn read_back(
    cluster: &mut Cluster,
    group: &str,
    wanted: &BTreeMap<TopicPartition, Committed>,
    said: SaidOfEach,
) -> Vec<Outcome> {
    let mut shown = Ok(groups::Commits::new());
    if said.values().any(|said| !matches!(said, Said::Refused(_))) {
        finish(cluster);
        shown = groups::committed(cluster, &[group], Pending::Passed)
            .and_then(|mut all| all.remove(group).unwrap_or_else(|| Ok(groups::Commits::new())));
    }
    let outcome = |(partition, said): (TopicPartition, Said)| {
        let there = match &shown {
            Ok(shown) => shown.get(&partition).map(Result::as_ref).transpose(),
            Err(error) => Err(error),
        };
        let result = judge(&partition, said, there, wanted.get(&partition));
        Outcome { partition, result }
    };
    said.into_iter().map(outcome).collect()
}

fn judge(
    partition: &TopicPartition,
    said: Said,
    there: Result<Option<&Committed>, &ClientError>,
    wanted: Option<&Committed>,
) -> Result<(), Reason> {
    match (said, there) {
        (Said::Refused(reason), _) => Err(reason),
        (Said::Done, Err(error)) => {
            let reason = Reason::from(error);
            Err(Reason {
                words: format!("written, but it could not be read back: {}", reason.words),
                ..reason
            })
        }
        (Said::Nothing(reason), Err(_)) => Err(in_doubt(reason)),
        (_, Ok(there)) if is_as_wanted(there, wanted) => Ok(()),
        (Said::Done, Ok(there)) => {
            let shown = there.map_or_else(|| "nothing".to_owned(), |there| there.offset.to_string());
            Err(Reason::other(format!("{partition}: written, but the cluster shows {shown}")))
        }
        (Said::Nothing(reason), Ok(_)) => Err(reason),
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
