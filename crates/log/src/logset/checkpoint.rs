//! Checkpoints: between two rounds the state of every partition is written down, the dirty files are synced, and the
//! journal before that point is given back.

use milepost_model::{Instant, Now, TopicPartition};
use milepost_storage::{CheckpointState, Entry, RoundNumber, Space};

use super::LogSet;
use super::document::DocumentWriter;
use super::write_behind::Wrote;
use crate::partition::PartitionLog;
use crate::segment::SegmentId;
use crate::settings::{CHECKPOINT_RETRY_MS, MAX_OPEN_SEALED_SEGMENTS, MAX_UNSYNCED_SEALED_SEGMENTS};

/// How checkpoints stand.
#[derive(Default)]
pub(super) struct Checkpointing {
    running: Option<Running>,
    /// The round that the last finished checkpoint covers.
    covered: RoundNumber,
    /// Journal bytes since the last checkpoint was begun.
    journal_bytes: u64,
    /// One is wanted whatever the bytes: after a recovery, at a clean stop.
    wanted: bool,
    /// Segments of the cleaner wait for one, even if no round is uncovered.
    wanted_for_replacement: bool,
    stopping: bool,
    retry_at: Option<Instant>,
}

struct Running {
    covers: RoundNumber,
    synced: Vec<(TopicPartition, SegmentId)>,
    journal_bytes: u64,
}

impl Checkpointing {
    pub(super) fn new(covered: RoundNumber, journal_bytes: u64) -> Self {
        Self { covered, journal_bytes, ..Self::default() }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping
    }

    pub(super) fn want_for_replacement(&mut self) {
        self.wanted_for_replacement = self.running.is_none();
    }

    pub(super) fn count_journal_bytes(&mut self, entries: &[Entry]) {
        self.journal_bytes += entries.iter().map(|entry| entry.payload.len() as u64).sum::<u64>();
    }
}

impl LogSet {
    /// Wants a last checkpoint once everything accepted is durable. Poll and begin rounds until
    /// [`LogSet::is_cleanly_stopped`]; append nothing more.
    pub fn begin_clean_stop(&mut self, now: Now) {
        self.checkpointing.stopping = true;
        self.checkpoint_if_due(now);
    }

    /// Wants a checkpoint as soon as no round is in flight.
    pub fn request_checkpoint(&mut self) {
        self.checkpointing.wanted = true;
    }

    /// Whether a checkpoint is being made.
    #[must_use]
    pub fn is_checkpointing(&self) -> bool {
        self.checkpointing.is_running()
    }

    /// Whether nothing is left to do after [`LogSet::begin_clean_stop`]: the next start will replay nothing.
    #[must_use]
    pub fn is_cleanly_stopped(&self) -> bool {
        let checkpointing = &self.checkpointing;
        checkpointing.stopping
            && !self.has_work()
            && self.in_flight.is_none()
            && self.removals.is_empty()
            && !checkpointing.is_running()
            && checkpointing.covered == self.durable_round
    }

    /// Begins a checkpoint if one is due. No round is in flight.
    pub(super) fn checkpoint_if_due(&mut self, now: Now) {
        if self.checkpointing.is_running() || self.in_flight.is_some() || self.poisoned.is_some() {
            return;
        }
        if self.checkpointing.retry_at.is_some_and(|at| now.monotonic < at) {
            return;
        }
        let checkpointing = &self.checkpointing;
        let uncovered = checkpointing.covered < self.durable_round;
        let due = checkpointing.wanted
            || checkpointing.journal_bytes >= self.settings.checkpoint_journal_bytes
            || self.space == Space::Full
            || (checkpointing.stopping && !self.has_work())
            // Only synced segments are closed, so too many open ones are unsynced ones.
            || self.open_sealed.len() > MAX_OPEN_SEALED_SEGMENTS + MAX_UNSYNCED_SEALED_SEGMENTS;
        if (uncovered && due) || checkpointing.wanted_for_replacement {
            if self.space == Space::Full {
                self.store.release_reserve();
            }
            self.begin_checkpoint();
        }
    }

    pub(super) fn begin_checkpoint(&mut self) {
        if self.write_everything() == Wrote::NotYet {
            return;
        }
        let covers = self.durable_round;
        let mut document = DocumentWriter::new(covers);
        let mut files = Vec::new();
        let mut synced = Vec::new();
        for partition in self.slots.iter_mut().flatten().filter(|partition| partition.created) {
            document.add(partition);
            partition.replacement_enters_checkpoint();
            let id = partition.id;
            for segment in partition.all_segments_mut().filter(|segment| segment.is_dirty()) {
                segment.take_dirty(&mut files);
                synced.push((id, segment.id));
            }
        }
        let journal_bytes = std::mem::take(&mut self.checkpointing.journal_bytes);
        self.checkpointing.wanted = false;
        self.checkpointing.wanted_for_replacement = false;
        self.checkpointing.running = Some(Running { covers, synced, journal_bytes });
        self.store.begin_checkpoint(&files, document.finish());
    }

    /// Looks at the running checkpoint; when it is done, gives the journal back.
    pub(super) fn poll_checkpoint(&mut self, now: Now) {
        if !self.checkpointing.is_running() {
            return;
        }
        match self.store.poll_checkpoint() {
            CheckpointState::Running => {}
            CheckpointState::Done => {
                if let Some(done) = self.checkpointing.running.take() {
                    self.checkpointing.covered = done.covers;
                    self.checkpointing.retry_at = None;
                    self.journal.trim(done.covers.next());
                    self.replacements_are_durable();
                    self.close_sealed();
                }
            }
            CheckpointState::Idle => self.checkpoint_failed(now, "the store forgot it"),
            CheckpointState::Failed(reason) => self.checkpoint_failed(now, &reason),
        }
    }

    /// The old checkpoint stands and the journal is kept, so nothing is lost: it is tried again. If the store is
    /// poisoned, its next write fails and poisons the log.
    fn checkpoint_failed(&mut self, now: Now, reason: &str) {
        tracing::warn!(%reason, "a checkpoint failed; it is tried again");
        let Some(failed) = self.checkpointing.running.take() else { return };
        self.checkpointing.journal_bytes += failed.journal_bytes;
        self.checkpointing.wanted = true;
        self.checkpointing.retry_at = Some(now.monotonic.plus_ms(CHECKPOINT_RETRY_MS));
        self.slots.iter_mut().flatten().for_each(PartitionLog::replacement_left_checkpoint);
        for (id, segment) in failed.synced {
            let partition = self.slots.iter_mut().flatten().find(|partition| partition.id == id);
            let mut segments = partition.into_iter().flat_map(PartitionLog::all_segments_mut);
            if let Some(segment) = segments.find(|candidate| candidate.id == segment) {
                segment.mark_dirty();
            }
        }
        self.store.release_reserve();
    }
}
