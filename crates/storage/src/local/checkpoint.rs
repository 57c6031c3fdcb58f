//! Checkpoints: files synced, then folders, then the document replaced.
//!
//! The document lies in a wrapper: magic `MILEPCKP`, version u32, length u64, CRC-32C u32 of the document, document.

use std::collections::BTreeSet;
use std::io;

use bytes::{Buf, BufMut};

use super::core::{Core, locked};
use super::io_error;
use super::names::{CHECKPOINT, CHECKPOINT_TEMPORARY};
use super::settings::Durability;
use crate::file_system::{FileHandle, FileSystem, OpenMode, is_full, read_whole, write_all};
use crate::{AcquireError, CheckpointState};

const MAGIC: [u8; 8] = *b"MILEPCKP";
const FORMAT_VERSION: u32 = 1;
const WRAPPER_BYTES: usize = 24;
/// A checkpoint document is never bigger.
const MAX_DOCUMENT_BYTES: u64 = 1 << 30;

/// What a checkpoint makes durable.
pub(super) struct CheckpointJob {
    /// Paths, with handles where they are open.
    pub(super) files: Vec<(String, Option<FileHandle>)>,
    pub(super) directories: BTreeSet<String>,
    pub(super) document: Vec<u8>,
}

/// Reads the document of the last finished checkpoint, and clears away one that was being made.
pub(super) fn read(system: &dyn FileSystem) -> Result<Option<Vec<u8>>, AcquireError> {
    match system.remove(CHECKPOINT_TEMPORARY) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(io_error(system, "remove", CHECKPOINT_TEMPORARY, error));
        }
        _ => {}
    }
    let bytes = match system.open(CHECKPOINT, OpenMode::Existing) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error(system, "open", CHECKPOINT, error)),
        Ok(file) => read_whole(&*file, MAX_DOCUMENT_BYTES),
    };
    let bytes = bytes.map_err(|error| io_error(system, "read", CHECKPOINT, error))?;
    unwrap(&bytes).map(Some).map_err(|fault| match fault {
        Fault::Version(found) => AcquireError::Version {
            found: format!("checkpoint version {found}"),
            expected: format!("checkpoint version {FORMAT_VERSION}"),
        },
        Fault::Damaged(reason) => {
            AcquireError::Corrupt { place: system.place(CHECKPOINT), reason: reason.into() }
        }
    })
}

enum Fault {
    Version(u32),
    Damaged(&'static str),
}

fn unwrap(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let (mut wrapper, document) =
        bytes.split_at_checked(WRAPPER_BYTES).ok_or(Fault::Damaged("the checkpoint is too short"))?;
    if wrapper[..8] != MAGIC {
        return Err(Fault::Damaged("the checkpoint does not begin as one"));
    }
    wrapper.advance(8);
    let version = wrapper.get_u32_le();
    if version != FORMAT_VERSION {
        return Err(Fault::Version(version));
    }
    if wrapper.get_u64_le() != document.len() as u64 {
        return Err(Fault::Damaged("the checkpoint has not the length it says"));
    }
    if wrapper.get_u32_le() != crc32c::crc32c(document) {
        return Err(Fault::Damaged("the checkpoint's checksum is wrong"));
    }
    Ok(document.to_vec())
}

fn wrap(document: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(WRAPPER_BYTES + document.len());
    bytes.put_slice(&MAGIC);
    bytes.put_u32_le(FORMAT_VERSION);
    bytes.put_u64_le(document.len() as u64);
    bytes.put_u32_le(crc32c::crc32c(document));
    bytes.put_slice(document);
    bytes
}

/// How a step failed.
enum Failure {
    /// The device is full; everything can go on as before.
    Full(String),
    /// Something that must not be trusted again.
    Broken(String),
}

/// Makes the checkpoint, and leaves its outcome in [`Core::checkpoint`].
pub(super) fn perform(core: &Core, job: CheckpointJob) {
    let CheckpointJob { files, directories, document } = job;
    let outcome = make(core, files, &directories, &document);
    let state = match outcome {
        Ok(()) => CheckpointState::Done,
        Err(Failure::Full(reason)) => {
            // The folders were perhaps not synced.
            locked(&core.changed_directories).extend(directories);
            CheckpointState::Failed(reason)
        }
        Err(Failure::Broken(reason)) => {
            core.poison(reason.clone());
            CheckpointState::Failed(reason)
        }
    };
    *locked(&core.checkpoint) = state;
    core.wake_store();
}

fn make(
    core: &Core,
    files: Vec<(String, Option<FileHandle>)>,
    directories: &BTreeSet<String>,
    document: &[u8],
) -> Result<(), Failure> {
    if let Some(reason) = core.poisoned() {
        return Err(Failure::Broken(reason));
    }
    sync_journal(core)?;
    for (path, handle) in files {
        let synced = handle
            .map_or_else(|| core.system.open(&path, OpenMode::Existing), Ok)
            .and_then(|handle| handle.sync_data());
        unless_removed(core, &path, synced)?;
    }
    for directory in directories {
        unless_removed(core, directory, core.system.sync_directory(directory))?;
    }
    replace_document(core, document)
}

/// A document must never be ahead of the journal: where rounds are acknowledged before they are durable, they are made
/// so now.
fn sync_journal(core: &Core) -> Result<(), Failure> {
    if core.settings.durability == Durability::Sync {
        return Ok(());
    }
    let unsynced = locked(&core.unsynced).clone();
    let Some((file, round)) = unsynced else { return Ok(()) };
    file.sync_data().map_err(|error| failure(core, "sync the journal in", "", &error))?;
    let mut progress = locked(&core.progress);
    progress.durable = progress.durable.max(round);
    Ok(())
}

fn failure(core: &Core, action: &str, path: &str, error: &io::Error) -> Failure {
    Failure::Broken(format!("cannot {action} {}: {error}", core.system.place(path)))
}

/// A file or folder that was removed since the checkpoint began needs no sync.
fn unless_removed(core: &Core, path: &str, synced: io::Result<()>) -> Result<(), Failure> {
    match synced {
        Err(error)
            if error.kind() == io::ErrorKind::NotFound && locked(&core.removed_paths).contains(path) =>
        {
            Ok(())
        }
        other => other.map_err(|error| failure(core, "sync", path, &error)),
    }
}

fn replace_document(core: &Core, document: &[u8]) -> Result<(), Failure> {
    let written = core.system.open(CHECKPOINT_TEMPORARY, OpenMode::Emptied).and_then(|file| {
        write_all(&*file, &wrap(document), 0)?;
        Ok(file)
    });
    let file = match written {
        Ok(file) => file,
        Err(error) if is_full(&error) => {
            match core.system.remove(CHECKPOINT_TEMPORARY) {
                Err(second) if second.kind() != io::ErrorKind::NotFound => {
                    return Err(failure(core, "remove", CHECKPOINT_TEMPORARY, &second));
                }
                _ => {}
            }
            return Err(Failure::Full(format!("cannot write {CHECKPOINT_TEMPORARY}: {error}")));
        }
        Err(error) => return Err(failure(core, "write", CHECKPOINT_TEMPORARY, &error)),
    };
    file.sync_data().map_err(|error| failure(core, "sync", CHECKPOINT_TEMPORARY, &error))?;
    core.system
        .rename(CHECKPOINT_TEMPORARY, CHECKPOINT)
        .and_then(|()| core.system.sync_directory(""))
        .map_err(|error| failure(core, "replace", CHECKPOINT, &error))
}
