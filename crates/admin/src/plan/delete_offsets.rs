//! Deleting what a group has committed for some topics: those that are named, those that it no longer reads, those that
//! no longer exist.
//!
//! Brokers delete single offsets only of topics that exist. Those of others go with the group: it is deleted, and made anew
//! by committing again what is kept.

use std::collections::BTreeSet;

use super::{Deletion, EpochSource, Move, OffsetPlan, Presence, Span};
use crate::facts::{GroupFacts, PartitionFacts, Position};
use crate::reason::Reason;
use crate::topic_filter::TopicFilter;

/// Which offsets are meant. What is in more than one of them is meant once.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Those of these topics or partitions.
    pub named: Vec<TopicFilter>,
    /// Those of topics that no member wants.
    pub unsubscribed: Option<Unsubscribed>,
    /// Those of topics and partitions that are not there.
    pub gone: Option<Gone>,
}

/// Topics that no member wants are meant.
#[derive(Clone, Copy, Debug)]
pub struct Unsubscribed;

/// Topics that are not there are meant.
#[derive(Clone, Copy, Debug)]
pub struct Gone;

/// Plans it.
///
/// # Errors
/// When it is not known what the group reads and that is asked for: a group without members reads nothing now, and
/// may read everything again tomorrow.
pub fn plan(group: &GroupFacts, choice: &Choice, deletion: Deletion) -> Result<OffsetPlan, Reason> {
    if let Some(reason) = &group.unknown {
        return Err(reason.clone());
    }
    let wanted = match choice.unsubscribed {
        Some(Unsubscribed) => Some(wanted_topics(group)?),
        None => None,
    };
    let is_meant = |one: &PartitionFacts| {
        let is_gone = one.log.as_ref().err().is_some_and(Reason::is_gone);
        choice.named.iter().any(|filter| filter.takes(&one.partition))
            || wanted.as_ref().is_some_and(|wanted| !wanted.contains(&*one.partition.topic))
            || (choice.gone.is_some() && is_gone)
    };
    let (meant, others): (Vec<_>, Vec<_>) = group.partitions.iter().partition(|one| is_meant(one));
    let mut plan = OffsetPlan::new(&group.group, Presence::Empty);
    let forgets = meant.into_iter();
    plan.forgets =
        forgets.filter_map(|one| Some((one.partition.clone(), one.position.committed()?.clone()))).collect();
    if deletion == Deletion::WithGroup {
        plan.deletion = deletion;
        plan.presence = Presence::of(group.description.as_ref());
        plan.moves = others.into_iter().filter_map(|one| stays(one).transpose()).collect::<Result<_, _>>()?;
    }
    Ok(plan)
}

/// What is committed again as it is. Where that is not known the group must not be deleted, nor where it could not be
/// committed.
fn stays(one: &PartitionFacts) -> Result<Option<Move>, Reason> {
    let old = match &one.position {
        Position::Committed(old) => old.clone(),
        Position::Never => return Ok(None),
        Position::Share(_) => {
            let why = "a share group commits nothing that could be kept";
            return Err(Reason::other(format!("{}: {why}", one.partition)));
        }
        Position::Unknown(reason) => return Err(reason.clone()),
    };
    if let Err(reason) = &one.log
        && reason.is_gone()
    {
        let why = "it does not exist, so what is committed for it could not be kept; say --gone too";
        return Err(Reason::other(format!("{}: {why}", one.partition)));
    }
    Ok(Some(Move {
        partition: one.partition.clone(),
        new: old.clone(),
        old: Some(old),
        epoch: EpochSource::AsSaid,
        clamped: None,
        log: None,
        span: Span::default(),
    }))
}

fn wanted_topics(group: &GroupFacts) -> Result<BTreeSet<String>, Reason> {
    let name = &group.group;
    let description = match &group.description {
        Some(Ok(description)) => description,
        Some(Err(reason)) => return Err(reason.clone()),
        None => return Err(Reason::other(format!("{name}: the group was not asked about"))),
    };
    if description.members.is_empty() {
        let why = "the group has no members, so what it reads is not known; name the topics";
        return Err(Reason::other(format!("{name}: {why}")));
    }
    description.subscribed().ok_or_else(|| {
        let why = "what some member reads is not known (a pattern, or a rebalance); name the topics";
        Reason::other(format!("{name}: {why}"))
    })
}

#[cfg(test)]
#[path = "delete_offsets_tests.rs"]
mod tests;
