//! Groups seen again and again: how fast they read, how fast there is more to read, and when they will have caught up.
//!
//! Whoever looks hands in the facts of each look with the time that has passed since the first one; there is no clock
//! here. What is kept of a partition is of a fixed size, however long it is watched.

mod catch_up;
mod group;
mod meter;
mod partition;

use std::collections::BTreeMap;
use std::time::Duration;

pub use catch_up::CatchUp;
pub use group::{Figures, HISTORY_LOOKS_MAX, WatchedGroup, WatchedMember};
pub use partition::WatchedPartition;

use crate::facts::GroupFacts;

/// Whether a look has shown every group that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// It has: a group that it did not show is gone.
    Whole,
    /// Some brokers did not say theirs: a group that it did not show may be among those.
    Partial,
}

/// All groups that are watched.
#[derive(Debug, Default)]
pub struct Watched {
    groups: BTreeMap<String, WatchedGroup>,
    looks: u64,
}

impl Watched {
    /// Takes in what a look says of a group: once in a look. `at` is the time since the first look.
    pub fn note(&mut self, at: Duration, facts: GroupFacts) {
        let group = self.groups.entry(facts.group.clone()).or_default();
        group.note(at, facts);
        group.seen_in = self.looks;
    }

    /// Ends a look.
    pub fn end_look(&mut self, coverage: Coverage) {
        if coverage == Coverage::Whole {
            let look = self.looks;
            self.groups.retain(|_, group| group.seen_in == look);
        }
        self.looks += 1;
    }

    /// The groups by name.
    #[must_use]
    pub fn groups(&self) -> &BTreeMap<String, WatchedGroup> {
        &self.groups
    }
}

#[cfg(test)]
mod tests;
