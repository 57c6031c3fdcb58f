//! One partition of a group that is watched.

use std::time::Duration;

use milepost_model::Offset;

use super::catch_up::CatchUp;
use super::meter::Meter;
use crate::facts::{PartitionFacts, Position};
use crate::lag::{Lag, Standing};
use crate::reason::Reason;

/// What the last look showed of it, and how it moves.
#[derive(Clone, Debug)]
pub struct WatchedPartition {
    /// Where the group is, if that is known and somewhere.
    pub committed: Option<Offset>,
    /// Where the log ends, if that is known.
    pub end: Option<Offset>,
    /// How far the group is behind.
    pub lag: Lag,
    /// How far it is behind the last stable offset, where that is known.
    pub stable_lag: Option<i64>,
    /// What is to be thought of its position.
    pub standing: Standing,
    /// Whether a member has to read it, there are records, and nothing is committed.
    pub is_unbegun: bool,
    /// Which of the group's members has to read it, by its place among them.
    pub member: Option<usize>,
    consumed: Meter,
    produced: Meter,
}

impl WatchedPartition {
    /// Seen for the first time.
    pub(super) fn first(at: Duration, facts: &PartitionFacts) -> Self {
        let mut partition = Self {
            committed: None,
            end: None,
            lag: facts.lag(),
            stable_lag: None,
            standing: facts.standing(),
            is_unbegun: false,
            member: None,
            consumed: Meter::default(),
            produced: Meter::default(),
        };
        partition.note(at, facts);
        partition
    }

    /// Seen again. What is not known this time is measured on when it is known again.
    pub(super) fn note(&mut self, at: Duration, facts: &PartitionFacts) {
        self.committed = facts.position.committed().map(|committed| committed.offset);
        self.end = facts.log.as_ref().ok().map(|log| log.end.offset);
        self.lag = facts.lag();
        self.stable_lag = facts.stable_lag().and_then(|lag| lag.behind());
        self.standing = facts.standing();
        self.is_unbegun = facts.is_unbegun();
        self.member = facts.member;
        match (&facts.position, self.committed) {
            (_, Some(offset)) => self.consumed.note(at, offset),
            (Position::Never, None) => self.consumed.forget(),
            // Where a share group begins moves by leaps, and says nothing of how fast it reads.
            (Position::Committed(_) | Position::Share(_) | Position::Unknown(_), None) => {}
        }
        match self.end {
            Some(offset) => self.produced.note(at, offset),
            None if self.standing == Standing::Gone => self.produced.forget(),
            None => {}
        }
    }

    /// Nothing is known of it this time.
    pub(super) fn hide(&mut self, reason: &Reason) {
        self.committed = None;
        self.end = None;
        self.lag = Lag::Unknown(reason.clone());
        self.stable_lag = None;
        self.standing = Standing::Unknown;
        self.is_unbegun = false;
        self.member = None;
    }

    /// Records a second by which the commit moves.
    #[must_use]
    pub fn consumption(&self) -> Option<f64> {
        self.committed.and_then(|_| self.consumed.rate())
    }

    /// Records a second by which the log grows.
    #[must_use]
    pub fn production(&self) -> Option<f64> {
        self.end.and_then(|_| self.produced.rate())
    }

    /// When the group will have read it to the end. `None` where that is not known.
    #[must_use]
    pub fn catch_up(&self) -> Option<CatchUp> {
        CatchUp::estimate(self.lag.behind()?, self.consumption(), self.production())
    }
}
