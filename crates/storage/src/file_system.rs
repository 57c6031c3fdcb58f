//! The little that the local engine needs from an operating system, so that it runs on a real disk and on a
//! simulated one that loses power.
//!
//! Paths are relative to the data folder, with `/` between parts; the empty path is the data folder itself. Nothing
//! here retries a failed sync: who calls decides what a failure means. Called by [`crate::LocalEngine`] only.

use std::io;
use std::sync::Arc;

pub(crate) mod real;
pub(crate) mod simulated;

/// How [`FileSystem::open`] treats what it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// The file must exist; its content stays.
    Existing,
    /// The file is made if need be, and is empty then.
    Emptied,
}

/// One thing in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listed {
    /// A folder of this name.
    Directory(String),
    /// Anything else of this name.
    File(String),
}

/// Whether the engine may use threads beside its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    /// Threads may be started; a sync takes real time.
    Threads,
    /// Everything happens in the caller's call, in one order. For simulation.
    Inline,
}

/// An open file; dropping the last clone closes it.
pub trait File: Send + Sync {
    /// Writes some of the bytes at `at` and says how many; the engine continues short writes.
    ///
    /// # Errors
    /// The system's, `Interrupted` included.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize>;

    /// Reads some bytes at `at`; 0 at the end. the engine goes on until the end.
    ///
    /// # Errors
    /// The system's, `Interrupted` included.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize>;

    /// Makes the content and the length durable.
    ///
    /// # Errors
    /// The system's. What was written before may then be lost, even if a later sync succeeds.
    fn sync_data(&self) -> io::Result<()>;

    /// The length in bytes.
    ///
    /// # Errors
    /// The system's.
    fn length(&self) -> io::Result<u64>;

    /// Cuts the file, or extends it with zeros.
    ///
    /// # Errors
    /// The system's.
    fn set_length(&self, length_bytes: u64) -> io::Result<()>;
}

/// A file, shared.
pub type FileHandle = Arc<dyn File>;

/// Holds a lock until it is dropped.
pub type LockGuard = Box<dyn Send + Sync>;

/// A data folder.
pub trait FileSystem: Send + Sync {
    /// Opens a file for reading and writing.
    ///
    /// # Errors
    /// The system's.
    fn open(&self, path: &str, mode: OpenMode) -> io::Result<FileHandle>;

    /// Renames a file within its folder, replacing what has the new name. Durable after [`FileSystem::sync_directory`].
    ///
    /// # Errors
    /// The system's.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file. Durable after [`FileSystem::sync_directory`].
    ///
    /// # Errors
    /// The system's; `NotFound` when it is not there.
    fn remove(&self, path: &str) -> io::Result<()>;

    /// Makes a folder, and for the empty path also the folders above it. `AlreadyExists` is not an error.
    ///
    /// # Errors
    /// The system's.
    fn create_directory(&self, path: &str) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    /// The system's.
    fn remove_directory(&self, path: &str) -> io::Result<()>;

    /// What a folder holds, in order of name.
    ///
    /// # Errors
    /// The system's.
    fn list(&self, path: &str) -> io::Result<Vec<Listed>>;

    /// Makes names made, changed and removed in a folder durable.
    ///
    /// # Errors
    /// The system's.
    fn sync_directory(&self, path: &str) -> io::Result<()>;

    /// Takes an exclusive lock on a file, made if need be; `None` when someone else has it.
    ///
    /// # Errors
    /// The system's.
    fn lock(&self, path: &str) -> io::Result<Option<LockGuard>>;

    /// Bytes that can still be written.
    ///
    /// # Errors
    /// The system's.
    fn free_bytes(&self) -> io::Result<u64>;

    /// Bytes of the whole device.
    ///
    /// # Errors
    /// The system's.
    fn total_bytes(&self) -> io::Result<u64>;

    /// The path as a person would look it up.
    fn place(&self, path: &str) -> String;

    /// Whether threads may be used.
    fn concurrency(&self) -> Concurrency;
}

/// Writes all bytes at `at`: continues short writes, repeats interrupted ones.
///
/// # Errors
/// The first other error; a part may be written then.
pub(crate) fn write_all(file: &dyn File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(bytes, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads until `into` is full or the file ends, and says how much was read.
///
/// # Errors
/// The first error other than `Interrupted`.
pub(crate) fn read_full(file: &dyn File, into: &mut [u8], at: u64) -> io::Result<usize> {
    let mut count = 0;
    while count < into.len() {
        match file.read_at(&mut into[count..], at + count as u64) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// Reads a whole file of at most `limit_bytes`.
///
/// # Errors
/// The system's; `FileTooLarge` above the limit.
pub(crate) fn read_whole(file: &dyn File, limit_bytes: u64) -> io::Result<Vec<u8>> {
    let length = file.length()?;
    if length > limit_bytes {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = vec![0; usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?];
    let count = read_full(file, &mut bytes, 0)?;
    bytes.truncate(count);
    Ok(bytes)
}

/// How much [`fill_with_zeros`] writes and syncs at once: little enough that a round's sync does not wait long
/// behind it.
const ZERO_CHUNK_BYTES: u64 = 1 << 20;

/// Writes zeros up to `length_bytes` and syncs them, so that the device has given the room and later syncs of the
/// content change no metadata.
///
/// # Errors
/// The system's, above all that the device is full.
pub(crate) fn fill_with_zeros(file: &dyn File, length_bytes: u64) -> io::Result<()> {
    let zeros = vec![0; usize::try_from(ZERO_CHUNK_BYTES.min(length_bytes)).expect("a megabyte")];
    let mut at = 0;
    while at < length_bytes {
        let count = (length_bytes - at).min(ZERO_CHUNK_BYTES);
        write_all(file, &zeros[..usize::try_from(count).expect("not above a megabyte")], at)?;
        file.sync_data()?;
        at += count;
    }
    Ok(())
}

/// Whether an error says that the device has no room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
