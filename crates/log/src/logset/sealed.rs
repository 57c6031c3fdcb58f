//! Keeping few files open: those of sealed segments are closed oldest first, once they are synced.

use milepost_model::TopicPartition;
use milepost_storage::StoreError;

use super::LogSet;
use crate::error::ReadError;
use crate::settings::MAX_OPEN_SEALED_SEGMENTS;

impl LogSet {
    /// After a read: notes which sealed segments it opened, and holds a partition offline whose file is gone.
    pub(super) fn after_read<T>(
        &mut self,
        id: TopicPartition,
        result: Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        self.note_open_sealed(id);
        if let Err(ReadError::Store(error @ StoreError::Missing { .. })) = &result {
            let reason = error.to_string();
            tracing::error!(partition = %id, %reason, "a partition is offline");
            if let Some(partition) = self.partition_mut(id) {
                partition.offline = Some(reason.clone());
            }
            return Err(ReadError::Offline { reason });
        }
        result
    }

    pub(super) fn note_open_sealed(&mut self, id: TopicPartition) {
        let Some(partition) = self.index.get(&id).and_then(|slot| self.slots[*slot].as_mut()) else { return };
        let sealed = partition.segments.len().saturating_sub(1);
        for segment in partition.segments.iter_mut().take(sealed) {
            if segment.is_open() && !std::mem::replace(&mut segment.is_listed, true) {
                self.open_sealed.push_back((id, segment.id));
            }
        }
        if self.open_sealed.len() > MAX_OPEN_SEALED_SEGMENTS {
            self.close_sealed();
        }
    }

    /// Closes the oldest of too many, except those that a checkpoint has still to sync.
    pub(super) fn close_sealed(&mut self) {
        if self.checkpointing.is_running() {
            return;
        }
        for _ in 0..self.open_sealed.len().saturating_sub(MAX_OPEN_SEALED_SEGMENTS) {
            let Some((id, segment_id)) = self.open_sealed.pop_front() else { return };
            let partition = self.index.get(&id).and_then(|slot| self.slots[*slot].as_mut());
            // A removed segment was closed with its removal.
            let Some(segment) = partition.and_then(|partition| partition.segment_mut(segment_id)) else {
                continue;
            };
            if segment.is_dirty() || segment.written != segment.accepted {
                self.open_sealed.push_back((id, segment_id));
            } else {
                segment.is_listed = false;
                segment.close(self.store.as_mut());
            }
        }
    }
}
