//! Removing files: only after the journal entry that gave them up is durable, and never under a running checkpoint.

use std::collections::VecDeque;
use std::sync::Arc;

use milepost_storage::StoreError;

use super::LogSet;
use crate::cleaner::Replacement;
use crate::partition::PartitionLog;
use crate::segment::{Segment, SegmentId};

/// Segments whose files nothing durable names any more.
pub(super) struct Removal {
    directory: Arc<str>,
    segments: Vec<Segment>,
    scope: Scope,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Segments,
    WholePartition,
}

impl Removal {
    /// Takes these segments out of a partition.
    pub(super) fn of_segments(partition: &mut PartitionLog, ids: &[SegmentId]) -> Self {
        let (removed, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut partition.segments)
            .into_iter()
            .partition(|segment| ids.contains(&segment.id));
        partition.segments = VecDeque::from(kept);
        partition.next_read = None;
        Self { directory: partition.directory.clone(), segments: removed, scope: Scope::Segments }
    }

    pub(super) fn of_partition(partition: PartitionLog) -> Self {
        Self {
            directory: partition.directory,
            segments: all_segments(partition.segments, partition.replacement),
            scope: Scope::WholePartition,
        }
    }
}

/// Also what the cleaner wrote for a partition that is gone before it was named.
fn all_segments(segments: VecDeque<Segment>, replacement: Option<Replacement>) -> Vec<Segment> {
    segments.into_iter().chain(replacement.into_iter().flat_map(|it| it.added)).collect()
}

impl LogSet {
    /// Unlinks what may be unlinked now. A file that cannot be removed is garbage that the next start removes.
    pub(super) fn remove_files(&mut self) {
        if self.checkpointing.is_running() {
            return;
        }
        for removal in std::mem::take(&mut self.removals) {
            let directory = removal.directory.clone();
            if let Err(error) = self.remove(removal) {
                tracing::warn!(%directory, %error, "files of a deleted log stay until the next start");
            }
        }
    }

    fn remove(&mut self, removal: Removal) -> Result<(), StoreError> {
        for mut segment in removal.segments {
            let names: Vec<_> = segment.file_names(&removal.directory).collect();
            segment.close(self.store.as_mut());
            for name in names {
                self.store.remove(&name)?;
            }
        }
        if removal.scope == Scope::WholePartition {
            self.store.remove_directory(&removal.directory)?;
            // Only now may a new partition use the folder: its files cannot be mistaken for the old ones.
            self.directories.remove(&removal.directory);
        }
        Ok(())
    }
}
