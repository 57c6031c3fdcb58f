//! The new segments of one group, as they are written.

use std::sync::Arc;

use milepost_batch::BatchView;
use milepost_model::{Offset, Timestamp};
use milepost_storage::{SegmentStore, StoreError};

use crate::segment::{BatchShape, Segment, SegmentId};
use crate::settings::{MAX_SEGMENT_BYTES, PartitionConfig};
use crate::transactions::AbortEntry;

/// Segments with what was kept so far.
#[derive(Debug)]
pub(super) struct Outputs {
    directory: Arc<str>,
    /// The generation of what is clean, above that of everything it replaces.
    generation: u32,
    /// What lies from here on was not looked at and stays dirty: segments of generation 0.
    clean_end: Offset,
    /// Where the first segment begins, and when its newest source was made.
    base: Offset,
    created: Timestamp,
    segments: Vec<Segment>,
    /// Batches that were accepted by the last segment and are still to be written.
    unwritten: Vec<u8>,
}

impl Outputs {
    pub(super) fn new(
        directory: Arc<str>,
        generation: u32,
        clean_end: Offset,
        base: Offset,
        created: Timestamp,
    ) -> Self {
        Self { directory, generation, clean_end, base, created, segments: Vec::new(), unwritten: Vec::new() }
    }

    /// Takes a batch that stays, and the entry of the abort index that stays with it.
    pub(super) fn push(
        &mut self,
        store: &mut dyn SegmentStore,
        batch: &BatchView<'_>,
        aborted: Option<AbortEntry>,
        config: &PartitionConfig,
    ) -> Result<(), StoreError> {
        if self.must_roll(batch, config) {
            self.seal(store)?;
            let is_clean = batch.base_offset() < self.clean_end;
            let id = SegmentId {
                base_offset: self.next_base(batch, is_clean),
                generation: if is_clean { self.generation } else { 0 },
            };
            self.segments.push(Segment::new(id, self.created));
        }
        let segment = self.segments.last_mut().expect("one was just made if there was none");
        let max_timestamp = batch.max_timestamp();
        // The header of a batch that lost its records still has their largest timestamp, which is nobody's now.
        let is_somebodys = max_timestamp >= Timestamp(0) && batch.record_count() > 0;
        let shape = BatchShape {
            last_offset: batch.last_offset(),
            max_timestamp: is_somebodys.then_some(max_timestamp),
            size_bytes: batch.size_bytes() as u64,
        };
        segment.accept(shape, config.index_interval_bytes);
        if let Some(aborted) = aborted {
            segment.note_aborted(aborted);
        }
        self.unwritten.extend_from_slice(batch.bytes());
        Ok(())
    }

    /// Where the segment begins whose first batch this is. The first of a group begins where its sources did, unless
    /// what stays lies so far above that no index entry could say how far: a log whose keys are all written again and
    /// again keeps nothing of its old offsets.
    fn next_base(&self, batch: &BatchView<'_>, is_clean: bool) -> Offset {
        let is_in_reach = i32::try_from(batch.last_offset().0 - self.base.0).is_ok();
        if self.segments.is_empty() && is_clean && is_in_reach { self.base } else { batch.base_offset() }
    }

    fn must_roll(&self, batch: &BatchView<'_>, config: &PartitionConfig) -> bool {
        let Some(segment) = self.segments.last() else { return true };
        let end_bytes = segment.accepted.log_bytes + batch.size_bytes() as u64;
        let was_clean = segment.id.generation > 0;
        end_bytes > config.segment_bytes.min(MAX_SEGMENT_BYTES)
            || segment.is_index_full(config.segment_index_bytes)
            || segment.relative(batch.last_offset()).is_none()
            || was_clean != (batch.base_offset() < self.clean_end)
    }

    /// Writes what was taken since the last time.
    pub(super) fn write(&mut self, store: &mut dyn SegmentStore) -> Result<(), StoreError> {
        let Some(segment) = self.segments.last_mut() else { return Ok(()) };
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let (at, end) = (segment.written.log_bytes, segment.accepted);
        segment.write(store, &self.directory, at, &self.unwritten, end)?;
        segment.durable = segment.written;
        self.unwritten.clear();
        Ok(())
    }

    /// Writes the last segment to its end.
    fn seal(&mut self, store: &mut dyn SegmentStore) -> Result<(), StoreError> {
        self.write(store)?;
        let Some(segment) = self.segments.last_mut() else { return Ok(()) };
        segment.seal();
        segment.finish_writing(store, &self.directory)?;
        segment.durable = segment.written;
        Ok(())
    }

    /// All of them, written to the end.
    pub(super) fn finish(&mut self, store: &mut dyn SegmentStore) -> Result<Vec<Segment>, StoreError> {
        self.seal(store)?;
        Ok(std::mem::take(&mut self.segments))
    }

    /// The pass is given up: the files go. What cannot be removed is garbage that the next start removes.
    pub(super) fn discard(self, store: &mut dyn SegmentStore) {
        for mut segment in self.segments {
            let names: Vec<_> = segment.file_names(&self.directory).collect();
            segment.close(store);
            for name in names {
                if let Err(error) = store.remove(&name) {
                    tracing::warn!(file = %name, %error, "a file of the cleaner stays until the next start");
                }
            }
        }
    }
}
