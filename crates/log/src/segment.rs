//! One segment: a `.log` file in Kafka's format with its `.index`, `.timeindex` and `.txnindex`, and what is known of
//! them.
//!
//! How far a segment reaches is kept three times: as accepted (batches that wait for a round included), as written to
//! its files, and as durable. Index files come into being with their first entry. Nothing here decides when to roll.

use milepost_model::{Offset, Timestamp};
use milepost_storage::{FileId, FileName, SegmentStore, StoreError};

use crate::index::{Index, IndexEntry, OffsetEntry, TimeEntry};
use crate::transactions::AbortEntry;

/// How far a segment reaches at some point, with all that is needed to go on from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) log_bytes: u64,
    pub(crate) index_entries: u32,
    pub(crate) time_entries: u32,
    /// Transactions that were aborted by a marker in the segment.
    pub(crate) abort_entries: u32,
    /// Log bytes since the last index entry.
    pub(crate) unindexed_bytes: u64,
    /// The timestamp of the last time index entry.
    pub(crate) last_time_entry: Option<Timestamp>,
    /// The largest timestamp of the first batch, which `segment.ms` counts from.
    pub(crate) first_timestamp: Option<Timestamp>,
    /// The largest timestamp, and the last offset of the batch that first reached it.
    pub(crate) max_timestamp: Option<(Timestamp, Offset)>,
}

/// The files of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Log,
    OffsetIndex,
    TimeIndex,
    AbortIndex,
}

impl FileKind {
    pub(crate) const ALL: [Self; 4] = [Self::Log, Self::OffsetIndex, Self::TimeIndex, Self::AbortIndex];

    fn suffix(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::OffsetIndex => "index",
            Self::TimeIndex => "timeindex",
            Self::AbortIndex => "txnindex",
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct FileSlot {
    id: Option<FileId>,
    /// Written since a checkpoint last named it.
    dirty: bool,
}

/// The name of a segment: its base offset, and a number that tells what the cleaner wrote (1 and up) from what was
/// appended (0) and from what it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SegmentId {
    pub(crate) base_offset: Offset,
    pub(crate) generation: u32,
}

impl SegmentId {
    /// Kafka's names: the base offset in twenty digits. Each generation has one more leading zero, so that Kafka's tools,
    /// which read the offset as a number and look for an index beside its segment, read those just as well.
    pub(crate) fn file_name(self, directory: &std::sync::Arc<str>, kind: FileKind) -> FileName {
        let digits = 20 + self.generation as usize;
        let name = format!("{:0digits$}.{}", self.base_offset.0, kind.suffix());
        FileName { directory: directory.clone(), name: name.into() }
    }
}

/// What is appended: all that a segment needs to know of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchShape {
    pub(crate) last_offset: Offset,
    /// `None` when no record has a timestamp.
    pub(crate) max_timestamp: Option<Timestamp>,
    pub(crate) size_bytes: u64,
}

/// One segment of a partition.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) id: SegmentId,
    /// When this process first saw it; `segment.ms` counts from here when the first batch has no timestamp.
    pub(crate) created: Timestamp,
    pub(crate) accepted: Extent,
    pub(crate) written: Extent,
    pub(crate) durable: Extent,
    index: Index<OffsetEntry>,
    time_index: Index<TimeEntry>,
    abort_index: Index<AbortEntry>,
    files: [FileSlot; FileKind::ALL.len()],
    /// Whether it stands in the list of sealed segments with open files.
    pub(crate) is_listed: bool,
}

impl Segment {
    /// A new segment, without files.
    pub(crate) fn new(id: SegmentId, created: Timestamp) -> Self {
        Self::recovered(id, created, Extent::default())
    }

    /// A segment that a checkpoint describes.
    pub(crate) fn recovered(id: SegmentId, created: Timestamp, extent: Extent) -> Self {
        Self {
            id,
            created,
            accepted: extent,
            written: extent,
            durable: extent,
            index: Index::with_unloaded(extent.index_entries),
            time_index: Index::with_unloaded(extent.time_entries),
            abort_index: Index::with_unloaded(extent.abort_entries),
            files: [FileSlot::default(); FileKind::ALL.len()],
            is_listed: false,
        }
    }

    pub(crate) fn base_offset(&self) -> Offset {
        self.id.base_offset
    }

    /// The distance of an offset from the base, if an index entry can hold it.
    pub(crate) fn relative(&self, offset: Offset) -> Option<u32> {
        i32::try_from(offset.0 - self.id.base_offset.0).ok().and_then(|relative| u32::try_from(relative).ok())
    }

    /// Accepts a batch at the end, with the index entries that are due before it.
    pub(crate) fn accept(&mut self, batch: BatchShape, index_interval_bytes: u64) {
        let relative_offset =
            self.relative(batch.last_offset).expect("rolled before the offset is out of reach");
        let end = &mut self.accepted;
        if end.log_bytes == 0 {
            end.first_timestamp = batch.max_timestamp;
        }
        if let Some(timestamp) = batch.max_timestamp
            && end.max_timestamp.is_none_or(|(max, _)| timestamp > max)
        {
            end.max_timestamp = Some((timestamp, batch.last_offset));
        }
        if end.unindexed_bytes > index_interval_bytes {
            let position = u32::try_from(end.log_bytes).expect("rolled before the position is out of reach");
            self.index.push(OffsetEntry { relative_offset, position });
            end.index_entries += 1;
            end.unindexed_bytes = 0;
            self.index_time();
        }
        self.accepted.log_bytes += batch.size_bytes;
        self.accepted.unindexed_bytes += batch.size_bytes;
    }

    /// Notes that the batch that was just accepted is the marker of an aborted transaction.
    pub(crate) fn note_aborted(&mut self, entry: AbortEntry) {
        self.abort_index.push(entry);
        self.accepted.abort_entries += 1;
    }

    /// Makes a time index entry if the largest timestamp grew since the last one.
    fn index_time(&mut self) {
        let Some((timestamp, offset)) = self.accepted.max_timestamp else { return };
        if self.accepted.last_time_entry.is_some_and(|last| last >= timestamp) {
            return;
        }
        let relative_offset = self.relative(offset).expect("it was accepted here");
        self.time_index.push(TimeEntry { timestamp_ms: timestamp.0, relative_offset });
        self.accepted.time_entries += 1;
        self.accepted.last_time_entry = Some(timestamp);
    }

    /// Nothing more will be accepted: the final time index entry is due.
    pub(crate) fn seal(&mut self) {
        self.index_time();
    }

    /// Whether an index file has no room for one more entry. Kafka lets the abort index grow; here its size bounds what
    /// a reader of it holds in memory.
    pub(crate) fn is_index_full(&self, max_index_bytes: u64) -> bool {
        let full = |entries: u32, width: usize| (u64::from(entries) + 1) * width as u64 > max_index_bytes;
        full(self.accepted.index_entries, OffsetEntry::WIDTH)
            || full(self.accepted.time_entries + 1, TimeEntry::WIDTH)
            || (self.accepted.abort_entries > 0 && full(self.accepted.abort_entries, AbortEntry::WIDTH))
    }

    /// Writes batches that begin at `position`, and the index entries up to `end`.
    pub(crate) fn write(
        &mut self,
        store: &mut dyn SegmentStore,
        directory: &std::sync::Arc<str>,
        position: u64,
        bytes: &[u8],
        end: Extent,
    ) -> Result<(), StoreError> {
        self.write_file(store, directory, FileKind::Log, position, bytes)?;
        self.write_indexes(store, directory, end)?;
        self.written = end;
        Ok(())
    }

    /// Writes what a sealed segment has still to write: its last time index entry.
    pub(crate) fn finish_writing(
        &mut self,
        store: &mut dyn SegmentStore,
        directory: &std::sync::Arc<str>,
    ) -> Result<(), StoreError> {
        self.write_indexes(store, directory, self.accepted)?;
        self.written = self.accepted;
        Ok(())
    }

    fn write_indexes(
        &mut self,
        store: &mut dyn SegmentStore,
        directory: &std::sync::Arc<str>,
        end: Extent,
    ) -> Result<(), StoreError> {
        let from = self.written;
        if end.index_entries > from.index_entries {
            let bytes = self.index.encoded(from.index_entries, end.index_entries);
            let at = self.written_bytes(FileKind::OffsetIndex);
            self.write_file(store, directory, FileKind::OffsetIndex, at, &bytes)?;
        }
        if end.time_entries > from.time_entries {
            let bytes = self.time_index.encoded(from.time_entries, end.time_entries);
            let at = self.written_bytes(FileKind::TimeIndex);
            self.write_file(store, directory, FileKind::TimeIndex, at, &bytes)?;
        }
        if end.abort_entries > from.abort_entries {
            let bytes = self.abort_index.encoded(from.abort_entries, end.abort_entries);
            let at = self.written_bytes(FileKind::AbortIndex);
            self.write_file(store, directory, FileKind::AbortIndex, at, &bytes)?;
        }
        Ok(())
    }

    fn write_file(
        &mut self,
        store: &mut dyn SegmentStore,
        directory: &std::sync::Arc<str>,
        kind: FileKind,
        at: u64,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let file = self.open(store, directory, kind)?;
        store.write(file, at, bytes)?;
        self.files[kind as usize].dirty = true;
        Ok(())
    }

    /// Bytes of a file as far as it was written.
    pub(crate) fn written_bytes(&self, kind: FileKind) -> u64 {
        Self::bytes_of(&self.written, kind)
    }

    pub(crate) fn bytes_of(extent: &Extent, kind: FileKind) -> u64 {
        match kind {
            FileKind::Log => extent.log_bytes,
            FileKind::OffsetIndex => u64::from(extent.index_entries) * OffsetEntry::WIDTH as u64,
            FileKind::TimeIndex => u64::from(extent.time_entries) * TimeEntry::WIDTH as u64,
            FileKind::AbortIndex => u64::from(extent.abort_entries) * AbortEntry::WIDTH as u64,
        }
    }

    /// Opens a file at its written length, or creates it if nothing was written yet.
    pub(crate) fn open(
        &mut self,
        store: &mut dyn SegmentStore,
        directory: &std::sync::Arc<str>,
        kind: FileKind,
    ) -> Result<FileId, StoreError> {
        if let Some(id) = self.files[kind as usize].id {
            return Ok(id);
        }
        let name = self.id.file_name(directory, kind);
        let length = self.written_bytes(kind);
        let id = if length == 0 { store.create(&name)? } else { store.open(&name, length)? };
        self.files[kind as usize].id = Some(id);
        Ok(id)
    }

    /// Opens a file at a length that is only hoped for. Serves [`crate::RecoveryTrust::FileContents`].
    pub(crate) fn open_trusting(
        &mut self,
        store: &mut dyn SegmentStore,
        directory: &std::sync::Arc<str>,
        kind: FileKind,
        length: u64,
    ) -> Result<(), StoreError> {
        let slot = &mut self.files[kind as usize];
        if let Some(id) = slot.id.take() {
            store.close(id);
        }
        slot.id = Some(store.open(&self.id.file_name(directory, kind), length)?);
        Ok(())
    }

    /// Where to begin looking for the batch that holds `offset`: at or before it.
    pub(crate) fn position_at_or_before(
        &mut self,
        store: &mut dyn SegmentStore,
        directory: &std::sync::Arc<str>,
        offset: Offset,
    ) -> Result<u64, StoreError> {
        if !self.index.is_loaded() {
            // Only what was written when the file was opened is unloaded, so the file exists.
            let file = self.open(store, directory, FileKind::OffsetIndex)?;
            self.index.load(store, file)?;
        }
        let distance = offset.0 - self.id.base_offset.0;
        let entry = self.index.last_where(|entry| i64::from(entry.relative_offset) <= distance);
        Ok(entry.map_or(0, |entry| u64::from(entry.position)))
    }

    /// An offset at or before the first record whose timestamp is at least `timestamp`.
    pub(crate) fn offset_at_or_before(
        &mut self,
        store: &mut dyn SegmentStore,
        directory: &std::sync::Arc<str>,
        timestamp: Timestamp,
    ) -> Result<Offset, StoreError> {
        if !self.time_index.is_loaded() {
            let file = self.open(store, directory, FileKind::TimeIndex)?;
            self.time_index.load(store, file)?;
        }
        let entry = self.time_index.last_where(|entry| entry.timestamp_ms <= timestamp.0);
        Ok(self.id.base_offset.plus(entry.map_or(0, |entry| i64::from(entry.relative_offset))))
    }

    /// The transactions that were aborted by a marker in the segment, in the order of their markers.
    pub(crate) fn aborted(
        &mut self,
        store: &mut dyn SegmentStore,
        directory: &std::sync::Arc<str>,
    ) -> Result<&[AbortEntry], StoreError> {
        if !self.abort_index.is_loaded() {
            let file = self.open(store, directory, FileKind::AbortIndex)?;
            self.abort_index.load(store, file)?;
        }
        Ok(self.abort_index.loaded())
    }

    /// The names of the files that exist.
    pub(crate) fn file_names(&self, directory: &std::sync::Arc<str>) -> impl Iterator<Item = FileName> {
        FileKind::ALL
            .into_iter()
            .filter(|kind| self.written_bytes(*kind) > 0 || self.files[*kind as usize].id.is_some())
            .map(|kind| self.id.file_name(directory, kind))
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.files.iter().any(|file| file.dirty)
    }

    /// The files that the next checkpoint must sync; they count as clean from here on.
    pub(crate) fn take_dirty(&mut self, into: &mut Vec<FileId>) {
        for file in &mut self.files {
            if std::mem::take(&mut file.dirty) {
                into.extend(file.id);
            }
        }
    }

    /// The checkpoint that took the dirty files failed.
    pub(crate) fn mark_dirty(&mut self) {
        for file in &mut self.files {
            file.dirty = file.id.is_some();
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.files.iter().any(|file| file.id.is_some())
    }

    /// Closes what is open and forgets the indexes. Everything must have been written and synced, or be unwanted.
    pub(crate) fn close(&mut self, store: &mut dyn SegmentStore) {
        for file in &mut self.files {
            file.dirty = false;
            if let Some(id) = file.id.take() {
                store.close(id);
            }
        }
        self.index.release();
        self.time_index.release();
        self.abort_index.release();
    }
}
