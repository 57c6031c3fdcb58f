//! What was acknowledged, and what may therefore be seen: a model far smaller than the broker.
//!
//! An answer that a client saw counts as a promise, whether it answered a write or a read: what a fetch or an
//! OffsetFetch showed must never be taken back by a recovery.

mod generations;
mod logs;
mod offsets;
mod topics;

use std::collections::BTreeSet;

use crate::check::{Checked, promise};

pub(crate) use generations::Generations;
pub(crate) use logs::{BatchId, Logs, PartitionKey};
pub(crate) use offsets::{EntryId, OffsetKey, Offsets};
pub(crate) use topics::{Fate, Topic, Topics};

/// Everything that the clients know together.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    pub(crate) topics: Topics,
    pub(crate) logs: Logs,
    pub(crate) offsets: Offsets,
    pub(crate) generations: Generations,
    producer_ids: BTreeSet<i64>,
    epoch: i32,
    /// Starts that were tried since the epoch was last seen.
    starts: i32,
}

impl Oracle {
    /// A producer id was handed out; none is ever handed out twice.
    pub(crate) fn producer_id(&mut self, id: i64) -> Checked {
        promise!(id >= 0, "producer id {id}");
        promise!(self.producer_ids.insert(id), "producer id {id} was handed out twice");
        Ok(())
    }

    /// The engine is about to be opened.
    pub(crate) fn start_tried(&mut self) {
        self.starts += 1;
    }

    /// The leader epoch that a started node says: one higher for each start that got far enough to take one.
    pub(crate) fn leader_epoch(&mut self, epoch: i32) -> Checked {
        let (last, starts) = (self.epoch, self.starts);
        if starts == 0 {
            promise!(epoch == last, "leader epoch {epoch} in the life of {last}");
            return Ok(());
        }
        promise!(epoch > last, "leader epoch {epoch} after a start, and {last} before it");
        let bound = last + starts;
        promise!(epoch <= bound, "leader epoch {epoch}: {last} and {starts} starts make {bound} at most");
        self.epoch = epoch;
        self.starts = 0;
        Ok(())
    }

    /// The epoch of the running node.
    pub(crate) fn epoch(&self) -> i32 {
        self.epoch
    }
}
