//! An index file of a segment: entries of a fixed width, in order, searched in memory.
//!
//! The entries that were in the file when it was opened are loaded at the first search; appending needs none of them.
//! Nothing here decides when an entry is made: `segment` does.

use milepost_storage::{FileId, SegmentStore, StoreError};

/// One entry of an index file.
pub(crate) trait IndexEntry: Copy {
    /// Bytes of an entry.
    const WIDTH: usize;
    fn encode(self, out: &mut Vec<u8>);
    /// `bytes` is exactly [`Self::WIDTH`] long.
    fn decode(bytes: &[u8]) -> Self;
}

/// The entries of one index file. The first `unloaded` of them are only in the file.
#[derive(Debug)]
pub(crate) struct Index<E> {
    unloaded: u32,
    entries: Vec<E>,
}

impl<E: IndexEntry> Index<E> {
    /// An index whose file holds `count` entries.
    pub(crate) fn with_unloaded(count: u32) -> Self {
        Self { unloaded: count, entries: Vec::new() }
    }

    pub(crate) fn len(&self) -> u32 {
        self.unloaded + u32::try_from(self.entries.len()).expect("an index file is bounded far below 4 GiB")
    }

    pub(crate) fn push(&mut self, entry: E) {
        self.entries.push(entry);
    }

    /// The bytes of the entries `from..to`, which must have been pushed since the index was opened.
    pub(crate) fn encoded(&self, from: u32, to: u32) -> Vec<u8> {
        let range = (from - self.unloaded) as usize..(to - self.unloaded) as usize;
        let mut out = Vec::with_capacity(range.len() * E::WIDTH);
        for entry in &self.entries[range] {
            entry.encode(&mut out);
        }
        out
    }

    pub(crate) fn is_loaded(&self) -> bool {
        self.unloaded == 0
    }

    /// Reads what is only in the file.
    pub(crate) fn load(&mut self, store: &dyn SegmentStore, file: FileId) -> Result<(), StoreError> {
        let mut bytes = vec![0; self.unloaded as usize * E::WIDTH];
        let read = store.read(file, 0, &mut bytes)?;
        bytes.truncate(read);
        let mut entries: Vec<E> = bytes.chunks_exact(E::WIDTH).map(E::decode).collect();
        entries.append(&mut self.entries);
        self.entries = entries;
        self.unloaded = 0;
        Ok(())
    }

    /// Forgets entries that are all in the file.
    pub(crate) fn release(&mut self) {
        self.unloaded = self.len();
        self.entries = Vec::new();
    }

    /// The entries that are loaded or were pushed.
    pub(crate) fn loaded(&self) -> &[E] {
        &self.entries
    }

    /// The last loaded entry for which `is_at_or_before` holds; it must hold for a prefix of the entries.
    pub(crate) fn last_where(&self, is_at_or_before: impl Fn(&E) -> bool) -> Option<E> {
        let end = self.entries.partition_point(is_at_or_before);
        self.entries[..end].last().copied()
    }
}

/// Kafka's `.index`: the batch at a file position ends with an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffsetEntry {
    /// Last offset of the batch, from the segment's base.
    pub(crate) relative_offset: u32,
    /// Where the batch begins in the `.log` file.
    pub(crate) position: u32,
}

impl IndexEntry for OffsetEntry {
    const WIDTH: usize = 8;

    fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.relative_offset.to_be_bytes());
        out.extend_from_slice(&self.position.to_be_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self { relative_offset: word(0), position: word(4) }
    }
}

/// Kafka's `.timeindex`: the largest timestamp so far, and the last offset of the batch that first reached it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeEntry {
    /// Milliseconds since the Unix epoch.
    pub(crate) timestamp_ms: i64,
    /// Last offset of that batch, from the segment's base.
    pub(crate) relative_offset: u32,
}

impl IndexEntry for TimeEntry {
    const WIDTH: usize = 12;

    fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.timestamp_ms.to_be_bytes());
        out.extend_from_slice(&self.relative_offset.to_be_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        let (time, offset) = bytes.split_at(8);
        Self {
            timestamp_ms: i64::from_be_bytes(time.try_into().expect("split at eight")),
            relative_offset: u32::from_be_bytes(offset[..4].try_into().expect("four bytes")),
        }
    }
}
