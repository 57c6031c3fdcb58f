//! The segment store's contract: named files that grow at their end, and one checkpoint document.

use std::fmt;
use std::sync::Arc;

use crate::Waker;

/// The name of a segment file: a folder below the data folder, and a file name in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName {
    /// The folder, one level deep.
    pub directory: Arc<str>,
    /// The file's name in it.
    pub name: Arc<str>,
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.directory, self.name)
    }
}

/// An open segment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// Why a store refused.
#[derive(Debug)]
pub enum StoreError {
    /// The device has no room left. Nothing was written, or a part that the next write at the same place replaces.
    Full,
    /// A file is missing or shorter than the checkpoint says: data that was durable is gone.
    Missing {
        /// The file.
        file: FileName,
        /// What was found instead.
        reason: String,
    },
    /// The operating system refused something. A failed sync poisons the store.
    Io {
        /// What was tried, with the path.
        action: String,
        /// The system's words.
        source: std::io::Error,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => write!(f, "the device of the data folder has no space left"),
            Self::Missing { file, reason } => write!(f, "{file}: {reason}"),
            Self::Io { action, source } => write!(f, "cannot {action}: {source}"),
        }
    }
}

impl std::error::Error for StoreError {}

/// Where the files lie, and the room on their device as people ask for it; `None` where it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// The data folder, as a person would look it up.
    pub path: String,
    /// The size of the device.
    pub total_bytes: Option<u64>,
    /// What can still be written.
    pub usable_bytes: Option<u64>,
}

/// How a checkpoint stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CheckpointState {
    /// None was begun since the last answer.
    #[default]
    Idle,
    /// It is being made.
    Running,
    /// It is durable. Reported once, then [`CheckpointState::Idle`].
    Done,
    /// It failed; the old document stands. The store is poisoned unless the device was only full.
    Failed(String),
}

/// The files of all partitions. Files grow at their end; a sealed file never changes and is removed whole.
pub trait SegmentStore: Send {
    /// A new, empty file of this name. What stood there before is gone; the folder is made if need be. Not durable
    /// until a checkpoint that names the file is done.
    ///
    /// # Errors
    /// [`StoreError::Full`] or [`StoreError::Io`].
    fn create(&mut self, name: &FileName) -> Result<FileId, StoreError>;

    /// Opens a file that a checkpoint named, and cuts it to `length_bytes`.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when it is not there or shorter than that.
    fn open(&mut self, name: &FileName, length_bytes: u64) -> Result<FileId, StoreError>;

    /// Writes at `at`. Visible to [`SegmentStore::read`] and to outside readers at once, durable later.
    ///
    /// # Errors
    /// [`StoreError::Full`] or [`StoreError::Io`].
    fn write(&mut self, file: FileId, at: u64, bytes: &[u8]) -> Result<(), StoreError>;

    /// Reads up to `into.len()` bytes at `at`; fewer only at the file's end.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    fn read(&self, file: FileId, at: u64, into: &mut [u8]) -> Result<usize, StoreError>;

    /// Forgets an open file. The file stays.
    fn close(&mut self, file: FileId);

    /// Removes a file; it need not exist. The caller made sure that nothing durable still names it.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    fn remove(&mut self, name: &FileName) -> Result<(), StoreError>;

    /// Removes an empty folder; it need not exist.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    fn remove_directory(&mut self, directory: &str) -> Result<(), StoreError>;

    /// Every segment file in every partition folder, in order of name.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    fn list(&self) -> Result<Vec<FileName>, StoreError>;

    /// Begins a checkpoint: makes these files durable as they are now, with the folders that name them (also the
    /// removals so far), and then replaces the checkpoint document, atomically. One at a time.
    ///
    /// # Panics
    /// When one is running.
    fn begin_checkpoint(&mut self, files: &[FileId], document: Vec<u8>);

    /// How the checkpoint stands.
    fn poll_checkpoint(&mut self) -> CheckpointState;

    /// Gives up the reserve file, so that a checkpoint, a deletion or a durable round still fits on a full device.
    /// Kept again by the engine when there is room.
    fn release_reserve(&mut self);

    /// Where the files lie, and the room there now.
    fn device(&self) -> Device;

    /// Sets who is told of completions.
    fn set_waker(&mut self, waker: Waker);
}
