//! Writing segments behind: what a round made durable in the journal reaches its segment file a little later, many
//! small runs with one write.
//!
//! The journal is what keeps an acknowledged batch; a segment file is where it is read. So a run may wait in memory
//! until a reader, the cleaner or a checkpoint wants the file, or until enough has gathered, or a second has passed. It
//! must never wait longer than that, nor hold more than a bound, and nobody may read a file past what was written to it.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use milepost_model::{Instant, Now};
use milepost_storage::{SegmentStore, Space, StoreError};

use super::LogSet;
use crate::partition::PartitionLog;
use crate::segment::{Extent, SegmentId};
use crate::settings::{WRITE_BEHIND_BYTES, WRITE_BEHIND_MS};

/// A run that a round took and that is not in its segment file yet.
#[derive(Clone, Debug)]
pub(crate) struct UnwrittenRun {
    pub(crate) segment: SegmentId,
    pub(crate) opens_segment: bool,
    pub(crate) position: u64,
    pub(crate) batches: Bytes,
    pub(crate) end: Extent,
}

/// What of one partition is still to be written, in order.
#[derive(Debug, Default)]
pub(crate) struct Unwritten {
    runs: VecDeque<UnwrittenRun>,
    bytes: u64,
}

impl Unwritten {
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

/// What of all partitions is still to be written.
#[derive(Debug, Default)]
pub(super) struct WriteBehind {
    /// The partitions that have something.
    slots: BTreeSet<usize>,
    bytes: u64,
    /// When the oldest of it began to wait.
    since: Option<Instant>,
    /// Room for runs that are written together.
    buffer: Vec<u8>,
}

impl LogSet {
    /// When [`LogSet::poll`] wants to be called even if nothing happens.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.write_behind.since.map(|since| since.plus_ms(WRITE_BEHIND_MS))
    }

    /// Lets a run wait, and writes what has waited enough.
    pub(super) fn write_later(&mut self, slot: usize, run: UnwrittenRun, now: Now) {
        let partition = self.slots[slot].as_mut().expect("a partition in a round is not removed");
        let run_bytes = run.batches.len() as u64;
        partition.unwritten.runs.push_back(run);
        partition.unwritten.bytes += run_bytes;
        let is_enough = partition.unwritten.bytes >= WRITE_BEHIND_BYTES;
        self.write_behind.bytes += run_bytes;
        self.write_behind.since.get_or_insert(now.monotonic);
        self.write_behind.slots.insert(slot);
        if is_enough {
            // On a full disk it goes on waiting; what else fails poisons.
            let _waits = self.write_partition(slot);
        }
    }

    /// Writes everything if it is too much, has waited too long, or the disk is full and must not be needed later.
    pub(super) fn write_if_due(&mut self, now: Now) {
        let is_late = self.next_deadline().is_some_and(|deadline| deadline <= now.monotonic);
        let is_full = self.space == Space::Full && self.write_behind.bytes > 0;
        if (is_late || is_full || self.write_behind.bytes > self.settings.max_unwritten_bytes)
            && self.write_everything() == Wrote::NotYet
        {
            self.write_behind.since = Some(now.monotonic);
        }
    }

    /// Writes what every partition has.
    pub(super) fn write_everything(&mut self) -> Wrote {
        while let Some(slot) = self.write_behind.slots.first().copied() {
            if self.write_partition(slot).is_err() {
                return Wrote::NotYet;
            }
            // What is written is listed no more; a slot that has nothing must not be met again either.
            self.write_behind.slots.remove(&slot);
        }
        Wrote::Everything
    }

    /// Writes what one partition has. For whoever reads its files.
    ///
    /// # Errors
    /// On a full disk, whose reserve did not help: what is to be written goes on waiting. Any other error poisons the
    /// log.
    pub(super) fn write_partition(&mut self, slot: usize) -> Result<(), StoreError> {
        let Some(partition) = self.slots[slot].as_mut() else { return Ok(()) };
        if partition.unwritten.is_empty() {
            return Ok(());
        }
        if let Some(reason) = &self.poisoned {
            // A failed write is not tried again, so the file ends before what is durable.
            let source = std::io::Error::other(reason.clone());
            return Err(StoreError::Io { action: format!("write {}", partition.directory), source });
        }
        let unwritten = std::mem::take(&mut partition.unwritten);
        let (store, buffer) = (self.store.as_mut(), &mut self.write_behind.buffer);
        let written = match write_runs(partition, store, &unwritten.runs, buffer) {
            Err(StoreError::Full) => {
                store.release_reserve();
                write_runs(partition, store, &unwritten.runs, buffer)
            }
            result => result,
        };
        let id = partition.id;
        match written {
            Ok(()) => {
                self.wrote(slot, unwritten.bytes);
                self.note_open_sealed(id);
                Ok(())
            }
            Err(StoreError::Full) => {
                partition.unwritten = unwritten;
                Err(StoreError::Full)
            }
            Err(error) => {
                partition.unwritten = unwritten;
                self.poison(format!("cannot write a segment: {error}"));
                Err(error)
            }
        }
    }

    /// Forgets what waits for segments that are being removed.
    pub(super) fn forget_unwritten(&mut self, slot: usize, removed: &[SegmentId]) {
        let Some(partition) = self.slots[slot].as_mut() else { return };
        let unwritten = &mut partition.unwritten;
        let before_bytes = unwritten.bytes;
        unwritten.runs.retain(|run| !removed.contains(&run.segment));
        unwritten.bytes = unwritten.runs.iter().map(|run| run.batches.len() as u64).sum();
        let (left_bytes, forgotten_bytes) = (unwritten.bytes, before_bytes - unwritten.bytes);
        if left_bytes == 0 {
            self.wrote(slot, forgotten_bytes);
        } else {
            self.write_behind.bytes -= forgotten_bytes;
        }
    }

    /// Forgets what waits for a partition that is gone.
    pub(super) fn forget_all_unwritten(&mut self, slot: usize) {
        let Some(partition) = self.slots[slot].as_mut() else { return };
        let bytes = std::mem::take(&mut partition.unwritten).bytes;
        self.wrote(slot, bytes);
    }

    /// Nothing of a partition waits any more.
    fn wrote(&mut self, slot: usize, bytes: u64) {
        self.write_behind.bytes -= bytes;
        self.write_behind.slots.remove(&slot);
        if self.write_behind.slots.is_empty() {
            self.write_behind.since = None;
        }
    }
}

/// Whether anything goes on waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrote {
    Everything,
    /// The disk is full, or the log is poisoned.
    NotYet,
}

/// Writes runs in order, those of one segment together. Doing it again writes the same bytes to the same places.
fn write_runs(
    partition: &mut PartitionLog,
    store: &mut dyn SegmentStore,
    runs: &VecDeque<UnwrittenRun>,
    buffer: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let mut runs = runs.iter().peekable();
    while let Some(first) = runs.next() {
        let index =
            partition.segment_index(first.segment).expect("a segment with unwritten runs is not removed");
        if first.opens_segment && index > 0 {
            partition.segments[index - 1].finish_writing(store, &partition.directory)?;
        }
        let mut last = first;
        buffer.clear();
        while let Some(next) = runs.next_if(|next| next.segment == first.segment) {
            if buffer.is_empty() {
                buffer.extend_from_slice(&first.batches);
            }
            buffer.extend_from_slice(&next.batches);
            last = next;
        }
        let bytes = if buffer.is_empty() { &first.batches[..] } else { &buffer[..] };
        partition.segments[index].write(store, &partition.directory, first.position, bytes, last.end)?;
    }
    Ok(())
}
