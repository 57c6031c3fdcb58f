//! The moment after which nobody waits any more.

use std::time::{Duration, Instant};

/// A moment, and how long it was away when it was set, for the message that says so.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at: Instant,
    after: Duration,
}

impl Deadline {
    /// That long from now.
    #[must_use]
    pub fn after(after: Duration) -> Self {
        Self { at: Instant::now() + after, after }
    }

    /// The earlier of this one and that long from now.
    #[must_use]
    pub fn or_after(self, after: Duration) -> Self {
        let other = Self::after(after);
        if other.at < self.at { other } else { self }
    }

    /// How long it is still away; `None` when it has passed.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// How long it was away when it was set.
    pub(crate) fn whole(&self) -> Duration {
        self.after
    }
}
