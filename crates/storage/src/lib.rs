//! The journal and the segment store: two small traits, their written contract, and the engines that keep it.
//!
//! Nothing here knows Kafka: a stream is twenty opaque bytes, an entry is a tag and a payload, a segment file is a
//! name and bytes. `log` gives them meaning. An engine is driven: submit, poll; completions come back as values, and
//! a waker says when polling again is worth while. There is no async runtime below this line.
//!
//! What an engine must keep, whatever it stores on:
//! - a round is durable when [`Journal::poll`] says so, and then survives any crash, whole;
//! - rounds are totally ordered: a failed round fails all later ones, for good (*poisoned*);
//! - what [`SegmentStore::write`] wrote may be lost by a crash until a checkpoint that named the file is done;
//! - the checkpoint document changes atomically, and only after every file it was begun with is durable.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod file_system;
mod journal;
mod local;
mod memory;
mod segments;

pub use file_system::real::RealFileSystem;
pub use file_system::simulated::{Bugs, Operation, SECTOR_BYTES, SimulatedFileSystem};
pub use file_system::{Concurrency, File, FileHandle, FileSystem, Listed, LockGuard, OpenMode};
pub use journal::{
    AcquireError, DamagedRound, Entry, Journal, JournalState, RecoveredEntry, RecoveredRound, Replay,
    RoundNumber, Space, StreamId, TornTail, Waker,
};
pub use local::{Durability, FlushMode, FlushedBy, LocalEngine, LocalSettings, LocalStart, LossPolicy};
pub use memory::{MemoryDisk, MemoryEngine, Pace};
pub use segments::{CheckpointState, Device, FileId, FileName, SegmentStore, StoreError};

/// What an engine hands over when it was opened: both halves, the last checkpoint, and what the journal holds since.
pub struct Engine {
    /// The journal, owned by this process until it is dropped.
    pub journal: Box<dyn Journal>,
    /// The files of the partitions.
    pub segments: Box<dyn SegmentStore>,
    /// The document of the last finished checkpoint; `None` in a new folder.
    pub checkpoint: Option<Vec<u8>>,
    /// The durable rounds that were not trimmed, in order. An engine trims in its own units: rounds below the trim
    /// point may still be here.
    pub replay: Replay,
}
