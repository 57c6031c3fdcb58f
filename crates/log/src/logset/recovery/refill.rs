//! Appending again what the journal holds of one partition above its checkpoint.

use bytes::Bytes;
use milepost_batch::BatchView;
use milepost_model::Timestamp;
use milepost_storage::StoreError;

use super::super::LogSet;
use super::images::Refill;
use crate::partition::PartitionLog;
use crate::segment::{Extent, FileKind, SegmentId};
use crate::settings::{MAX_SEGMENT_BYTES, RecoveryTrust};

/// How much was refilled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refilled {
    pub(super) batches: u64,
    pub(super) bytes: u64,
}

/// Why a partition was not refilled.
pub(super) enum RefillError {
    /// Its own files or frames are not what they should be: it is held offline.
    Unusable(String),
    /// The store refuses altogether: the start fails.
    Store(StoreError),
}

impl From<StoreError> for RefillError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Missing { .. } => Self::Unusable(error.to_string()),
            StoreError::Full | StoreError::Io { .. } => Self::Store(error),
        }
    }
}

/// Batches that were accepted again and are still to be written, all of the last segment.
struct AcceptedRun {
    position: u64,
    batches: Bytes,
    end: Extent,
}

impl LogSet {
    pub(super) fn refill(
        &mut self,
        partition: &mut PartitionLog,
        steps: Vec<Refill>,
        now: Timestamp,
    ) -> Result<Refilled, RefillError> {
        let mut refilled = Refilled::default();
        let mut runs = Vec::new();
        self.cut_last_segment(partition)?;
        for step in steps {
            match step {
                Refill::AddSegment(segment) => self.begin_segment(partition, &mut runs, segment, now)?,
                Refill::Data(batches) => {
                    self.accept_again(partition, &mut runs, &batches, now, &mut refilled)?;
                }
                Refill::RemoveSegments(segments) => {
                    self.write_runs(partition, &mut runs)?;
                    self.remove_refilled(partition, &segments)?;
                }
            }
        }
        self.write_runs(partition, &mut runs)?;
        partition.raise_high_watermark(partition.log_end);
        partition.segments.iter_mut().for_each(|segment| segment.durable = segment.written);
        Ok(refilled)
    }

    /// Opens the files of the last segment, which cuts them to the checkpoint. Sealed ones can't be longer.
    fn cut_last_segment(&mut self, partition: &mut PartitionLog) -> Result<(), RefillError> {
        let Some(segment) = partition.segments.back_mut() else { return Ok(()) };
        if self.settings.recovery_trust == RecoveryTrust::FileContents {
            return Ok(());
        }
        for kind in FileKind::ALL {
            if segment.written_bytes(kind) > 0 {
                segment.open(self.store.as_mut(), &partition.directory, kind)?;
            }
        }
        Ok(())
    }

    fn begin_segment(
        &mut self,
        partition: &mut PartitionLog,
        runs: &mut Vec<AcceptedRun>,
        segment: SegmentId,
        now: Timestamp,
    ) -> Result<(), RefillError> {
        self.write_runs(partition, runs)?;
        partition.add_segment(segment, now);
        let last = partition.segments.len() - 1;
        if let Some(previous) = last.checked_sub(1).and_then(|index| partition.segments.get_mut(index)) {
            previous.finish_writing(self.store.as_mut(), &partition.directory)?;
        }
        Ok(())
    }

    fn accept_again(
        &mut self,
        partition: &mut PartitionLog,
        runs: &mut Vec<AcceptedRun>,
        batches: &Bytes,
        now: Timestamp,
        refilled: &mut Refilled,
    ) -> Result<(), RefillError> {
        let mut rest = &batches[..];
        // Batches of one entry lie side by side, and are written together.
        let mut open: Option<(usize, AcceptedRun)> = None;
        while !rest.is_empty() {
            let at = batches.len() - rest.len();
            let (batch, after) = BatchView::parse(rest)
                .map_err(|error| RefillError::Unusable(format!("the journal holds a bad batch: {error}")))?;
            rest = after;
            if batch.last_offset() < partition.log_end {
                continue;
            }
            if batch.base_offset() < partition.log_end {
                return Err(RefillError::Unusable(format!(
                    "the journal holds offset {} twice",
                    batch.base_offset()
                )));
            }
            if !has_room_for(partition, &batch) {
                // Only where damage took the entry that began a segment.
                runs.extend(open.take().map(|(_, run)| run));
                let segment = SegmentId { base_offset: batch.base_offset(), generation: 0 };
                self.begin_segment(partition, runs, segment, now)?;
            }
            let accepted = partition.accept(&batch);
            refilled.batches += 1;
            refilled.bytes += batch.size_bytes() as u64;
            let (start, position) =
                open.as_ref().map_or((at, accepted.position), |(start, run)| (*start, run.position));
            let run = AcceptedRun {
                position,
                batches: batches.slice(start..batches.len() - rest.len()),
                end: accepted.end,
            };
            open = Some((start, run));
        }
        runs.extend(open.map(|(_, run)| run));
        Ok(())
    }

    /// Writes what was accepted of the last segment.
    fn write_runs(
        &mut self,
        partition: &mut PartitionLog,
        runs: &mut Vec<AcceptedRun>,
    ) -> Result<(), StoreError> {
        let (Some(segment), Some(last)) = (partition.segments.back_mut(), runs.last()) else { return Ok(()) };
        let (store, directory) = (self.store.as_mut(), &partition.directory);
        // The planted bug: whoever finds a file long enough believes it.
        let trusted = self.settings.recovery_trust == RecoveryTrust::FileContents
            && segment.open_trusting(store, directory, FileKind::Log, last.end.log_bytes).is_ok();
        for run in runs.drain(..) {
            let batches = if trusted { &[][..] } else { &run.batches[..] };
            match segment.write(store, directory, run.position, batches, run.end) {
                Err(StoreError::Full) => {
                    store.release_reserve();
                    segment.write(store, directory, run.position, batches, run.end)?;
                }
                result => result?,
            }
        }
        Ok(())
    }

    /// Removes segments that were added and removed again since the checkpoint.
    fn remove_refilled(
        &mut self,
        partition: &mut PartitionLog,
        removed: &[SegmentId],
    ) -> Result<(), StoreError> {
        let directory = partition.directory.clone();
        for segment in partition.segments.iter_mut().filter(|segment| removed.contains(&segment.id)) {
            let names: Vec<_> = segment.file_names(&directory).collect();
            segment.close(self.store.as_mut());
            for name in names {
                self.store.remove(&name)?;
            }
        }
        partition.segments.retain(|segment| !removed.contains(&segment.id));
        Ok(())
    }
}

fn has_room_for(partition: &PartitionLog, batch: &BatchView<'_>) -> bool {
    partition.segments.back().is_some_and(|segment| {
        let end_bytes = segment.accepted.log_bytes + batch.size_bytes() as u64;
        segment.relative(batch.last_offset()).is_some() && end_bytes <= MAX_SEGMENT_BYTES
    })
}
