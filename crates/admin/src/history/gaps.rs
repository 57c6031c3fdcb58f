//! From where on a compacted log lacks nothing.

use milepost_batch::BatchView;
use milepost_model::{Offset, Timestamp};

/// How far back nothing is missing, the farthest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// The log has all that was ever written to it.
    Everything,
    /// All that was written since then.
    Since(Timestamp),
    /// The cleaner has been everywhere, or there was more than can be held, so something may be missing anywhere.
    Nothing,
}

/// What is known of one log.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    next: Offset,
    /// The first batch behind the last gap. None: the gap is at the end, or no gap was found.
    behind: Option<Timestamp>,
    has_gap: bool,
}

impl Gaps {
    pub(super) fn take(&mut self, batch: &BatchView<'_>) {
        if batch.base_offset() > self.next {
            self.open();
        }
        if self.has_gap && self.behind.is_none() {
            self.behind = Some(batch.base_timestamp());
        }
        // A batch keeps its last offset when the cleaner takes records out of it.
        if batch.record_count() <= batch.last_offset_delta() {
            self.open();
        }
        self.next = batch.next_offset();
    }

    fn open(&mut self) {
        self.has_gap = true;
        self.behind = None;
    }

    pub(super) fn reach(&self) -> Reach {
        match (self.has_gap, self.behind) {
            (false, _) => Reach::Everything,
            (true, Some(time)) => Reach::Since(time),
            (true, None) => Reach::Nothing,
        }
    }
}
