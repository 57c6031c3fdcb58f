//! Resetting a group: the same target in every partition that is meant.

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::TopicPartition;
use milepost_client::groups::Committed;
use milepost_client::offsets::Found;
use milepost_model::Offset;

use super::offsets::{EpochSource, LeftOut, Move, OffsetPlan, Presence, Span, at, clamp};
use crate::facts::{LogFacts, Logs};
use crate::reason::Reason;

/// What becomes of the metadata beside an offset. Parallel consumers and Kafka Streams keep state in it that belongs to the
/// old place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metadata {
    /// It goes, as with Kafka's own tool.
    #[default]
    Cleared,
    /// It stays as it is.
    Kept,
}

/// A target whose lookups are done.
#[derive(Clone, Debug)]
pub enum Destination {
    /// The beginning of each log.
    Start,
    /// The end of each log.
    End,
    /// This offset in each.
    At(Offset),
    /// So many offsets away from where the group is.
    Shift(i64),
    /// What was found for a time. `None` means no record is that late.
    Found(BTreeMap<TopicPartition, Result<Option<Found>, Reason>>),
    /// What is said of each partition: by a file, a snapshot or another group; and where epochs come from that it lacks.
    Said(BTreeMap<TopicPartition, Committed>, EpochSource),
}

/// What is known when a reset is planned.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The group.
    pub group: String,
    /// Whether it is there.
    pub presence: Presence,
    /// What it has committed.
    pub committed: BTreeMap<TopicPartition, Committed>,
    /// Partitions that are left out from the start: what is committed is not known, or the topic is another now.
    pub left_out: BTreeMap<TopicPartition, Reason>,
    /// The partitions that are meant.
    pub scope: BTreeSet<TopicPartition>,
    /// Where their logs begin and end.
    pub logs: Logs,
}

/// Plans a reset.
#[must_use]
pub fn plan(facts: &Facts, destination: &Destination, metadata: Metadata) -> OffsetPlan {
    let mut plan = OffsetPlan::new(&facts.group, facts.presence.clone());
    for partition in &facts.scope {
        match one(facts, destination, metadata, partition) {
            Ok(planned) => plan.moves.push(planned),
            Err(why) => plan.left_out.push(LeftOut { partition: partition.clone(), why }),
        }
    }
    plan
}

fn one(
    facts: &Facts,
    destination: &Destination,
    metadata: Metadata,
    partition: &TopicPartition,
) -> Result<Move, Reason> {
    if let Some(reason) = facts.left_out.get(partition) {
        return Err(reason.clone());
    }
    let log = match facts.logs.get(partition) {
        Some(log) => log.clone()?,
        None => return Err(Reason::other(format!("{partition} was not asked about"))),
    };
    let old = facts.committed.get(partition);
    let kept = match metadata {
        Metadata::Kept => old.map(|old| old.metadata.clone()).unwrap_or_default(),
        Metadata::Cleared => String::new(),
    };
    let (new, clamped) = match destination {
        Destination::Start => (Committed { metadata: kept, ..end_of(log.start) }, None),
        Destination::End => (Committed { metadata: kept, ..end_of(log.end) }, None),
        Destination::At(offset) => inside(*offset, &log, kept),
        Destination::Shift(count) => {
            let from = old
                .ok_or_else(|| Reason::other(format!("{partition} has no committed offset to count from")))?;
            inside(Offset(from.offset.0.saturating_add(*count)), &log, kept)
        }
        Destination::Found(found) => match found.get(partition) {
            Some(Ok(Some(found))) => (Committed { metadata: kept, ..end_of(*found) }, None),
            // No record is that late: whatever comes next is.
            Some(Ok(None)) => (Committed { metadata: kept, ..end_of(log.end) }, None),
            Some(Err(reason)) => return Err(reason.clone()),
            None => return Err(Reason::other(format!("{partition} was not asked about"))),
        },
        Destination::Said(said, _) => {
            let said = said
                .get(partition)
                .ok_or_else(|| Reason::other(format!("nothing is said of {partition}")))?;
            carried(said, &log)
        }
    };
    let epoch = match (destination, &clamped) {
        (Destination::Said(_, source), None) => *source,
        _ => EpochSource::Log,
    };
    Ok(Move {
        partition: partition.clone(),
        old: old.cloned(),
        new,
        epoch,
        clamped,
        log: Some(log),
        span: Span::default(),
    })
}

fn end_of(found: Found) -> Committed {
    Committed { offset: found.offset, leader_epoch: found.leader_epoch, metadata: String::new() }
}

fn inside(offset: Offset, log: &LogFacts, metadata: String) -> (Committed, Option<super::Clamped>) {
    let (offset, clamped) = clamp(offset, log);
    (at(offset, log, metadata), clamped)
}

/// An offset with the epoch and metadata that it came with. Moved into the log it is another offset, to which neither
/// belongs.
pub(super) fn carried(said: &Committed, log: &LogFacts) -> (Committed, Option<super::Clamped>) {
    let (offset, clamped) = clamp(said.offset, log);
    match clamped {
        None => (said.clone(), None),
        Some(_) => (at(offset, log, String::new()), clamped),
    }
}

#[cfg(test)]
#[path = "reset_tests.rs"]
mod tests;
