//! Cleaning, as the logs see it: whose turn it is, one bounded step at a time, and the swap of segments once a
//! checkpoint names the new ones.
//!
//! It must never swap under a reader that pinned the log, and never begin on a full disk.

use std::collections::VecDeque;

use milepost_model::{Instant, Now, TopicPartition};
use milepost_storage::Space;

use super::LogSet;
use super::removal::Removal;
use crate::cleaner::{
    Candidate, Pass, PassError, PassProgress, Replacement, ReplacementStage, candidate, is_early_due,
    sealed_share_is_enough,
};
use crate::partition::PartitionLog;
use crate::settings::{CLEANING_PACE, CleanerTrust, CleanupPolicy, LogKind, MAX_CLEANING_STEP_BYTES};

/// How the cleaner stands.
#[derive(Default)]
pub(super) struct Cleaning {
    pass: Option<Pass>,
    /// The pass over a user's log that makes way for one over an internal log.
    paused: Option<Pass>,
    /// Partitions that grew so far that they are cleaned before their turn, or that somebody wants cleaned.
    early: VecDeque<TopicPartition>,
    /// Bytes that internal logs grew since the last step, which it must keep pace with.
    grown_bytes: usize,
    /// When all logs are looked at again.
    next_check: Instant,
    /// After a full disk: when early ones are tried again.
    next_early: Instant,
}

impl LogSet {
    /// Cleans about `budget_bytes` of the log whose turn it is, if any; more while internal logs grow quickly. Says
    /// whether another call would go on at once; if not, call it again after a poll. To be called between rounds or while
    /// one is in flight, not before the requests that wait.
    pub fn clean(&mut self, now: Now, budget_bytes: usize) -> bool {
        if self.poisoned.is_some() || self.checkpointing.is_stopping() {
            self.give_up_pass();
            return false;
        }
        if self.space == Space::Ready && self.removals.is_empty() {
            self.choose_pass(now);
        } else {
            // What is under way ends also on a full disk: it holds segments whose removal would give room.
            self.resume();
        }
        let grown_bytes = std::mem::take(&mut self.cleaning.grown_bytes);
        let Some(mut pass) = self.cleaning.pass.take() else { return false };
        let paced_bytes = grown_bytes.saturating_mul(CLEANING_PACE).min(MAX_CLEANING_STEP_BYTES);
        let budget_bytes = budget_bytes.max(paced_bytes);
        let id = pass.id();
        let step = match self.readable(id) {
            // No longer compacted: the rest stays as it is. What waits for a checkpoint already is still swapped.
            Ok((partition, _)) if !partition.config.cleanup.compacts() => Ok(PassProgress::Finished),
            Ok((partition, store)) => pass.step(partition, store, now, budget_bytes),
            Err(gone) => Err(gone.into()),
        };
        let step = match step {
            Err(PassError::Read(error)) => self.after_read(id, Err(error)).map_err(PassError::Read),
            other => {
                self.note_open_sealed(id);
                other
            }
        };
        match step {
            Ok(PassProgress::More) => {
                self.cleaning.pass = Some(pass);
                true
            }
            Ok(PassProgress::Publishing) => {
                self.cleaning.pass = Some(pass);
                // One that is durable waits for its readers, not for another checkpoint.
                let is_written = |it: &Replacement| it.stage == ReplacementStage::Written;
                if self.log(id).and_then(|log| log.replacement.as_ref()).is_some_and(is_written) {
                    self.checkpointing.want_for_replacement();
                }
                self.swap_too_early(id);
                false
            }
            Ok(PassProgress::Finished) => {
                pass.discard(self.store.as_mut());
                self.finish_pass(id, now);
                self.resume()
            }
            Err(error) => {
                pass.discard(self.store.as_mut());
                self.pass_failed(id, &error, now);
                self.resume()
            }
        }
    }

    /// Wants a log cleaned whatever its settings say, up to its present end. Follow it with
    /// [`PartitionLog::is_cleaning_wanted`] and [`PartitionLog::uncleanable`]. Unknown partitions, and logs that are not
    /// compacted, are ignored.
    pub fn request_cleaning(&mut self, id: TopicPartition, now: Now) {
        let Some(partition) = self.partition_mut(id) else { return };
        if !partition.config.cleanup.compacts() || partition.uncleanable.is_some() {
            return;
        }
        partition.roll_now(now.wall);
        let end = partition.log_end;
        if partition.cleaning_wanted.replace(end).is_none() {
            self.cleaning.early.push_back(id);
        }
    }

    /// Keeps the segments of a log in place until [`LogSet::unpin`]: for a reader that reads the whole log in steps and
    /// must not miss a tombstone between two of them. Unknown partitions are ignored.
    pub fn pin(&mut self, id: TopicPartition) {
        if let Some(partition) = self.partition_mut(id) {
            partition.pins += 1;
        }
    }

    /// Gives up one [`LogSet::pin`].
    pub fn unpin(&mut self, id: TopicPartition) {
        let Some(slot) = self.index.get(&id).copied() else { return };
        if let Some(partition) = self.slots[slot].as_mut() {
            partition.pins = partition.pins.saturating_sub(1);
        }
        self.swap_if_ready(slot);
    }

    /// After a round: an internal log may have grown beyond its bound.
    pub(super) fn note_growth(&mut self, slot: usize, grown_bytes: usize) {
        let Some(partition) = self.slots[slot].as_ref().filter(|it| it.kind == LogKind::Internal) else {
            return;
        };
        self.cleaning.grown_bytes += grown_bytes;
        let is_early = partition.config.cleanup == CleanupPolicy::Compact
            && partition.uncleanable.is_none()
            && is_early_due(partition, self.settings.early_cleaning_bytes);
        if is_early && !self.cleaning.early.contains(&partition.id) {
            self.cleaning.early.push_back(partition.id);
        }
    }

    /// Gives up the pass, and one that made way for it. What they wrote goes, unless a checkpoint may name it already.
    pub(super) fn give_up_pass(&mut self) {
        for pass in [self.cleaning.pass.take(), self.cleaning.paused.take()].into_iter().flatten() {
            pass.discard(self.store.as_mut());
        }
    }

    /// The partition is being deleted: its folder must become empty.
    pub(super) fn give_up_pass_over(&mut self, id: TopicPartition) {
        let is_over = |pass: &mut Pass| pass.id() == id;
        let cleaning = &mut self.cleaning;
        for pass in [cleaning.pass.take_if(is_over), cleaning.paused.take_if(is_over)].into_iter().flatten() {
            pass.discard(self.store.as_mut());
        }
    }

    /// Begins a pass if there is none. One over a user's log may take long, so it makes way for logs that are cleaned
    /// early: they would outgrow their bound meanwhile.
    fn choose_pass(&mut self, now: Now) {
        if !self.resume() {
            self.begin_pass(now);
            return;
        }
        let partition = self.cleaning.pass.as_ref().and_then(|pass| self.log(pass.id()));
        let is_of_user = partition.is_some_and(|partition| partition.kind == LogKind::User);
        if is_of_user && self.cleaning.paused.is_none() {
            self.cleaning.paused = self.cleaning.pass.take();
            if !self.begin_early_pass(now) {
                self.resume();
            }
        }
    }

    /// Goes on with the pass that made way, if none is under way. Says whether one is now.
    fn resume(&mut self) -> bool {
        if self.cleaning.pass.is_none() {
            self.cleaning.pass = self.cleaning.paused.take();
        }
        self.cleaning.pass.is_some()
    }

    fn begin_pass(&mut self, now: Now) {
        if self.begin_early_pass(now) || now.monotonic < self.cleaning.next_check {
            return;
        }
        match self.dirtiest(now) {
            Some((id, candidate)) => self.start(id, candidate),
            None => self.cleaning.next_check = now.monotonic.plus_ms(self.settings.cleaner_backoff_ms),
        }
    }

    /// Begins a pass over the first of the early logs that can be cleaned now, and says whether there was one.
    fn begin_early_pass(&mut self, now: Now) -> bool {
        if now.monotonic < self.cleaning.next_early {
            return false;
        }
        for _ in 0..self.cleaning.early.len() {
            let Some(id) = self.cleaning.early.pop_front() else { break };
            match self.early_candidate(id, now) {
                Early::Ready(candidate) => {
                    self.start(id, candidate);
                    return true;
                }
                Early::Later => self.cleaning.early.push_back(id),
                Early::No => {}
            }
        }
        false
    }

    fn start(&mut self, id: TopicPartition, candidate: Candidate) {
        tracing::debug!(partition = %id, segments = candidate.sources.len(), "a log is being cleaned");
        let (hash_key, max_keys) = (self.settings.hash_key, self.settings.max_cleaned_keys);
        self.cleaning.pass = Some(Pass::new(id, candidate, hash_key, max_keys));
    }

    fn early_candidate(&mut self, id: TopicPartition, now: Now) -> Early {
        let early_cleaning_bytes = self.settings.early_cleaning_bytes;
        if self.cleaning.paused.as_ref().is_some_and(|pass| pass.id() == id) {
            return Early::Later;
        }
        let Some(partition) = self.partition_mut(id) else { return Early::No };
        let may_be_cleaned = partition.config.cleanup.compacts()
            && partition.uncleanable.is_none()
            && partition.offline.is_none();
        if !may_be_cleaned {
            partition.cleaning_wanted = None;
            return Early::No;
        }
        if partition.cleaning_wanted.is_none() {
            if !is_early_due(partition, early_cleaning_bytes) {
                return Early::No;
            }
            if !sealed_share_is_enough(partition) {
                partition.roll_now(now.wall);
            }
        }
        match candidate(partition, now.wall) {
            Some(candidate) => Early::Ready(candidate),
            // What is to be cleaned is still on its way to the disk, or is being read.
            None if partition.must_wait_for_cleaning() => Early::Later,
            None => {
                partition.cleaning_wanted = None;
                Early::No
            }
        }
    }

    /// The log with the largest dirty share of those that are due.
    fn dirtiest(&self, now: Now) -> Option<(TopicPartition, Candidate)> {
        let mut best: Option<(TopicPartition, Candidate)> = None;
        for partition in self.slots.iter().flatten().filter(|partition| partition.config.cleanup.compacts()) {
            let Some(found) = candidate(partition, now.wall).filter(|found| found.is_due(partition)) else {
                continue;
            };
            if best.as_ref().is_none_or(|(_, known)| found.dirty_ratio > known.dirty_ratio) {
                best = Some((partition.id, found));
            }
        }
        best
    }

    fn finish_pass(&mut self, id: TopicPartition, now: Now) {
        // There may be more that is due.
        self.cleaning.next_check = now.monotonic;
        let Some(slot) = self.index.get(&id).copied() else { return };
        if let Some(partition) = self.slots[slot].as_mut()
            && let Some(end) = partition.cleaning_wanted
        {
            // This pass may have begun before somebody wanted it, or known too few keys.
            if !partition.is_dirty_below(end) {
                partition.cleaning_wanted = None;
            } else if !self.cleaning.early.contains(&id) {
                self.cleaning.early.push_back(id);
            }
        }
        self.queue_removal_below_log_start(slot);
        self.note_growth(slot, 0);
    }

    fn pass_failed(&mut self, id: TopicPartition, error: &PassError, now: Now) {
        self.cleaning.next_check = now.monotonic.plus_ms(self.settings.cleaner_backoff_ms);
        let Some(slot) = self.index.get(&id).copied() else { return };
        let Some(partition) = self.slots[slot].as_mut() else { return };
        if error.may_pass() {
            tracing::warn!(partition = %id, %error, "a log was not cleaned; it is tried again");
            self.cleaning.next_early = self.cleaning.next_check;
            if partition.cleaning_wanted.is_some() && !self.cleaning.early.contains(&id) {
                self.cleaning.early.push_back(id);
            }
        } else {
            partition.cleaning_wanted = None;
            tracing::error!(partition = %id, %error, "a log cannot be cleaned; it stays as it is until the next start");
            partition.uncleanable = Some(error.to_string());
        }
        self.queue_removal_below_log_start(slot);
    }

    /// Whether the cleaner holds on to segments of this partition.
    pub(super) fn is_cleaning(&self, partition: &PartitionLog) -> bool {
        let passes = [&self.cleaning.pass, &self.cleaning.paused];
        partition.replacement.is_some() || passes.into_iter().flatten().any(|pass| pass.id() == partition.id)
    }

    /// A checkpoint that named every replacement of this stage is durable.
    pub(super) fn replacements_are_durable(&mut self) {
        for slot in 0..self.slots.len() {
            let Some(replacement) = self.slots[slot].as_mut().and_then(|it| it.replacement.as_mut()) else {
                continue;
            };
            if replacement.stage == ReplacementStage::InCheckpoint {
                replacement.stage = ReplacementStage::Durable;
                self.swap_if_ready(slot);
            }
        }
    }

    /// The planted bug.
    fn swap_too_early(&mut self, id: TopicPartition) {
        if self.settings.cleaner_trust == CleanerTrust::Checkpoint {
            return;
        }
        let Some(slot) = self.index.get(&id).copied() else { return };
        if let Some(replacement) = self.slots[slot].as_mut().and_then(|it| it.replacement.as_mut()) {
            replacement.stage = ReplacementStage::Durable;
        }
        self.swap_if_ready(slot);
    }

    /// Puts the new segments in the place of the old ones, whose files are nobody's from here on.
    fn swap_if_ready(&mut self, slot: usize) {
        let Some(partition) = self.slots[slot].as_mut() else { return };
        let is_durable =
            partition.replacement.as_ref().is_some_and(|it| it.stage == ReplacementStage::Durable);
        if !is_durable || partition.pins > 0 {
            return;
        }
        let Some(replacement) = partition.replacement.take() else { return };
        self.removals.push(Removal::of_segments(partition, &replacement.removed));
        for segment in replacement.added.into_iter().rev() {
            let at = partition.segments.partition_point(|other| other.base_offset() < segment.base_offset());
            partition.segments.insert(at, segment);
        }
        let id = partition.id;
        self.note_open_sealed(id);
    }
}

enum Early {
    Ready(Candidate),
    Later,
    No,
}
