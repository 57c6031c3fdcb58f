//! The plan of everything that writes offsets: from where to where, partition by partition.

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::TopicPartition;
use milepost_client::groups::{Committed, GroupDescription};
use milepost_client::stamps::Stamp;
use milepost_model::{LeaderEpoch, Offset, Timestamp};

use crate::facts::LogFacts;
use crate::reason::Reason;

/// Whether there is a group, and whether it can be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// There is none; writing makes one.
    Absent,
    /// It is there and nobody is in it.
    Empty,
    /// It has this many members, and the cluster will refuse.
    Members {
        /// How many.
        count: usize,
        /// The group's state.
        state: String,
    },
    /// That cannot be said; the cluster will be the judge.
    Unknown(Reason),
}

impl Presence {
    /// As a description shows it. `Dead` is how a group that is not there is described, and on some clusters one that is
    /// there without members.
    #[must_use]
    pub fn of(description: Option<&Result<GroupDescription, Reason>>) -> Self {
        match description {
            None => Self::Unknown(Reason::other("the group was not asked about")),
            Some(Err(reason)) => Self::Unknown(reason.clone()),
            Some(Ok(description)) if !description.exists() => Self::Absent,
            Some(Ok(description)) if description.members.is_empty() => Self::Empty,
            Some(Ok(description)) => {
                Self::Members { count: description.members.len(), state: description.state.clone() }
            }
        }
    }
}

/// That a target lay outside of the log and was moved to its nearest end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clamped {
    /// What was asked for.
    pub asked: Offset,
}

/// The times of the records between the old and the new place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Of the record at the earlier place, if there is one and it has a time.
    pub from: Option<Timestamp>,
    /// Of the record at the later place, likewise.
    pub to: Option<Timestamp>,
}

/// What a move means for whoever reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// This many offsets are read again.
    Replays(i64),
    /// This many are not read.
    Skips(i64),
    /// The place stays; at most epoch or metadata change.
    Stays,
    /// There was no place before.
    First,
}

/// Where the epoch of an offset comes from that has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EpochSource {
    /// From the log at that offset, where it is looked up.
    #[default]
    Log,
    /// From nowhere: it was committed without one, and what is put back is what was.
    AsSaid,
}

/// One partition's move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Which partition.
    pub partition: TopicPartition,
    /// What is committed now.
    pub old: Option<Committed>,
    /// What is to be committed. Its epoch is that of the log at this offset or none: never one that belongs to another.
    pub new: Committed,
    /// Where its epoch comes from, if it has none yet.
    pub epoch: EpochSource,
    /// If the target lay outside of the log.
    pub clamped: Option<Clamped>,
    /// Where the log begins and ends, if that is known.
    pub log: Option<LogFacts>,
    /// When the records in between were written, if that was looked up.
    pub span: Span,
}

impl Move {
    fn lacks_epoch(&self) -> bool {
        self.new.leader_epoch.is_none() && self.epoch == EpochSource::Log
    }

    /// What it means for whoever reads.
    #[must_use]
    pub fn shift(&self) -> Shift {
        let Some(old) = &self.old else { return Shift::First };
        // What is not in the log any more is neither read again nor skipped.
        let inside = |offset: Offset| match &self.log {
            Some(log) => offset.0.clamp(log.start.offset.0, log.end.offset.0.max(log.start.offset.0)),
            None => offset.0,
        };
        if old.offset == self.new.offset {
            return Shift::Stays;
        }
        let ahead = inside(self.new.offset) - inside(old.offset);
        if self.new.offset > old.offset {
            Shift::Skips(ahead.max(0))
        } else {
            Shift::Replays((-ahead).max(0))
        }
    }

    /// Whether it changes anything at all.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.old.as_ref() != Some(&self.new)
    }
}

/// A partition that was meant and is not touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Which.
    pub partition: TopicPartition,
    /// Why.
    pub why: Reason,
}

/// How offsets come to be deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deletion {
    /// Each by itself. Brokers refuse it for topics that do not exist.
    #[default]
    ByPartition,
    /// The group is deleted with all that it has committed, and made anew by what is written. The plan has all of it.
    WithGroup,
}

/// What is to be written to one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetPlan {
    /// The group.
    pub group: String,
    /// Whether there is one.
    pub presence: Presence,
    /// What is written, by partition.
    pub moves: Vec<Move>,
    /// Partitions whose offset is deleted, with what is committed there now.
    pub forgets: Vec<(TopicPartition, Committed)>,
    /// How those are deleted.
    pub deletion: Deletion,
    /// Partitions that were meant and are not touched.
    pub left_out: Vec<LeftOut>,
}

impl OffsetPlan {
    /// One that does nothing yet.
    #[must_use]
    pub fn new(group: impl Into<String>, presence: Presence) -> Self {
        Self {
            group: group.into(),
            presence,
            moves: Vec::new(),
            forgets: Vec::new(),
            deletion: Deletion::ByPartition,
            left_out: Vec::new(),
        }
    }

    /// Whether carrying it out changes nothing.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.forgets.is_empty() && !self.moves.iter().any(Move::changes)
    }

    /// Records read again and records not read, over all partitions.
    #[must_use]
    pub fn records(&self) -> (i64, i64) {
        self.moves.iter().fold((0_i64, 0_i64), |(replayed, skipped), one| match one.shift() {
            Shift::Replays(count) => (replayed.saturating_add(count), skipped),
            Shift::Skips(count) => (replayed, skipped.saturating_add(count)),
            Shift::Stays | Shift::First => (replayed, skipped),
        })
    }

    /// Offsets whose epoch is to be looked up: the cluster said none with them, and nobody else did.
    #[must_use]
    pub fn without_epoch(&self) -> BTreeMap<TopicPartition, Offset> {
        let lacking = self.moves.iter().filter(|one| one.lacks_epoch() && one.log.is_some());
        lacking.map(|one| (one.partition.clone(), one.new.offset)).collect()
    }

    /// Puts the epochs in that were looked up.
    pub fn set_epochs(&mut self, epochs: &BTreeMap<TopicPartition, Option<LeaderEpoch>>) {
        for one in &mut self.moves {
            if one.lacks_epoch() {
                one.new.leader_epoch = epochs.get(&one.partition).copied().flatten();
            }
        }
    }

    /// The places whose records' times say what span of time a move covers: the earlier ones, or the later ones.
    #[must_use]
    pub fn span_ends(&self, end: SpanEnd) -> BTreeMap<TopicPartition, Offset> {
        let mut places = BTreeMap::new();
        for one in &self.moves {
            let (Some(old), Some(log)) = (&one.old, &one.log) else { continue };
            let (low, high) = (old.offset.min(one.new.offset), old.offset.max(one.new.offset));
            let place = match end {
                SpanEnd::From => low.max(log.start.offset),
                // The last record in between.
                SpanEnd::To => Offset(high.min(log.end.offset).0 - 1),
            };
            if low < high && (log.start.offset..log.end.offset).contains(&place) {
                places.insert(one.partition.clone(), place);
            }
        }
        places
    }

    /// Puts the times in that were looked up.
    pub fn set_span(&mut self, end: SpanEnd, stamps: &BTreeMap<TopicPartition, Option<Stamp>>) {
        for one in &mut self.moves {
            let time = stamps.get(&one.partition).copied().flatten().and_then(|stamp| stamp.timestamp);
            match end {
                SpanEnd::From => one.span.from = time,
                SpanEnd::To => one.span.to = time,
            }
        }
    }

    /// Every partition that it is about: those that it touches, and those that it would if it could.
    #[must_use]
    pub fn meant(&self) -> BTreeSet<TopicPartition> {
        let left_out = self.left_out.iter().map(|one| one.partition.clone());
        self.touched().into_iter().chain(left_out).collect()
    }

    /// Every partition that it touches.
    #[must_use]
    pub fn touched(&self) -> BTreeSet<TopicPartition> {
        let moved = self.moves.iter().map(|one| one.partition.clone());
        moved.chain(self.forgets.iter().map(|(one, _)| one.clone())).collect()
    }
}

/// One of the two ends of the records between the old and the new place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanEnd {
    /// The first of them.
    From,
    /// The last of them.
    To,
}

/// Moves an offset into the log, and says so.
pub(super) fn clamp(asked: Offset, log: &LogFacts) -> (Offset, Option<Clamped>) {
    let inside = asked.max(log.start.offset).min(log.end.offset.max(log.start.offset));
    (inside, (inside != asked).then_some(Clamped { asked }))
}

/// What is committed at this offset: at an end of the log with the epoch that the log has there, else with one that is to
/// be looked up.
pub(super) fn at(offset: Offset, log: &LogFacts, metadata: String) -> Committed {
    let leader_epoch = [&log.start, &log.end]
        .into_iter()
        .find(|found| found.offset == offset)
        .and_then(|found| found.leader_epoch);
    Committed { offset, leader_epoch, metadata }
}
