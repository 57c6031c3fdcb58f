//! The engine on a local disk: one journal for all partitions, segment files beside it, one checkpoint document.
//!
//! The data folder holds, besides one folder per partition:
//!
//! - `milepost.format`, which says the folder's format, and `.lock`, locked while an engine is open;
//! - `journal/<20 digits>.journal`, the journal's files in use, and `….spare`, files prepared ahead or recycled;
//! - `checkpoint`, the document of the last finished checkpoint, replaced atomically;
//! - `.reserve`, room that is given up on a full device.
//!
//! One write and one sync per round. A file is filled with zeros and synced before it is used, and recycled after it
//! was trimmed, so that a sync of a round never waits for file system metadata. Every start writes into a new file
//! and never after a cut; its header holds the epoch and is durable before the engine is handed over.
//!
//! It must never retry a failed sync, nor acknowledge anything after one; never recycle a file before a later one says
//! durably where reading ends; never take old bytes for new ones.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::file_system::real::RealFileSystem;
use crate::file_system::{FileSystem, LockGuard, OpenMode, write_all};
use crate::{AcquireError, Engine, RoundNumber};

mod checkpoint;
mod core;
mod flush;
mod folder;
mod frame;
mod journal;
mod keeper;
mod names;
mod recovery;
mod segments;
mod settings;
mod space;
#[cfg(test)]
mod tests;
mod writer;

pub use flush::FlushedBy;
pub use settings::{Durability, FlushMode, LocalSettings, LossPolicy};

use self::core::{Core, locked};
use keeper::Keeper;
pub(crate) use names::is_segment_part;
use names::{JOURNAL, JournalName, LOCK};
use recovery::Recovered;
use writer::Writer;

/// An opened local engine.
pub struct LocalStart {
    /// Both halves, the checkpoint, and the rounds since.
    pub engine: Engine,
    /// Who writes and syncs the rounds.
    pub flushed_by: FlushedBy,
    /// The median time of a small write and sync in microseconds, where it was measured.
    pub sync_time_us: Option<u64>,
}

/// Opens data folders.
pub struct LocalEngine;

impl LocalEngine {
    /// Opens the data folder at this path, made if need be.
    ///
    /// # Errors
    /// As [`LocalEngine::open`].
    pub fn open_folder(path: &Path, settings: LocalSettings) -> Result<LocalStart, AcquireError> {
        Self::open(Arc::new(RealFileSystem::new(path)), settings)
    }

    /// Opens a data folder: takes its lock, reads the journal, and begins a new file with the next epoch.
    ///
    /// # Errors
    /// [`AcquireError`], each by its meaning; a read-only or full folder is `Io` with the path.
    pub fn open(system: Arc<dyn FileSystem>, settings: LocalSettings) -> Result<LocalStart, AcquireError> {
        let lock = lock(&*system)?;
        folder::check_format(&*system)?;
        let checkpoint = checkpoint::read(&*system)?;
        let mut recovered = recovery::recover(&*system, settings.loss)?;
        prove(&*system, &recovered)?;
        let core = Arc::new(Core::new(system, settings, lock));
        let failed = |action: &str, path: &str, error| io_error(&*core.system, action, path, error);
        adopt(&core, &mut recovered)?;
        let writer =
            Writer::start(&core, &recovered).map_err(|error| failed("begin a file in", JOURNAL, error))?;
        folder::put_aside(&*core.system, &recovered.unreadable)?;
        let keeper = Arc::new(
            Keeper::start(Arc::clone(&core)).map_err(|error| failed("start a thread for", "", error))?,
        );
        keeper.make_ready();
        let choice =
            flush::choose(&core, &writer).map_err(|error| failed("measure a sync in", JOURNAL, error))?;
        let journal =
            journal::LocalJournal::start(Arc::clone(&core), Arc::clone(&keeper), writer, choice.flushed_by)
                .map_err(|error| failed("start a thread for", JOURNAL, error))?;
        let segments = segments::LocalSegments::new(Arc::clone(&core), keeper);
        let replay = recovered.replay;
        let engine = Engine { journal: Box::new(journal), segments: Box::new(segments), checkpoint, replay };
        Ok(LocalStart { engine, flushed_by: choice.flushed_by, sync_time_us: choice.sync_time_us })
    }
}

/// Makes the folder if need be, and takes its lock.
fn lock(system: &dyn FileSystem) -> Result<LockGuard, AcquireError> {
    system.create_directory("").map_err(|error| io_error(system, "make the folder", "", error))?;
    let lock = system.lock(LOCK).map_err(|error| io_error(system, "lock", LOCK, error))?;
    lock.ok_or_else(|| AcquireError::InUse { path: system.place(LOCK) })
}

/// An error of the system, with what was tried and where.
fn io_error(system: &dyn FileSystem, action: &str, path: &str, source: io::Error) -> AcquireError {
    AcquireError::Io { action: format!("{action} {}", system.place(path)), source }
}

/// Makes durable what was read and perhaps is not: a process that crashed between a write and its sync left frames
/// that only the operating system has. They are written again, because after a failed sync the system may hold
/// pages it takes for clean.
fn prove(system: &dyn FileSystem, recovered: &Recovered) -> Result<(), AcquireError> {
    for file in &recovered.files {
        let path = JournalName::Numbered(file.number).path();
        let failed = |error| io_error(system, "sync", &path, error);
        let mut frames = recovered.unproven.iter().filter(|frame| frame.file == file.number).peekable();
        if frames.peek().is_some() {
            let handle = system.open(&path, OpenMode::Existing).map_err(failed)?;
            for frame in frames {
                write_all(&*handle, &frame.bytes, frame.at as u64).map_err(failed)?;
            }
            handle.sync_data().map_err(failed)?;
        }
    }
    Ok(())
}

/// Hands what was found to the shared state, and removes spares of another size.
fn adopt(core: &Core, recovered: &mut Recovered) -> Result<(), AcquireError> {
    let size = core.settings.journal_file_bytes;
    let (fitting, others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut recovered.spares).into_iter().partition(|spare| spare.size_bytes == size);
    for spare in others {
        core.system
            .remove(&spare.path)
            .map_err(|error| io_error(&*core.system, "remove", &spare.path, error))?;
    }
    {
        let mut spares = locked(&core.spares);
        spares.ready = fitting;
        spares.next_number = recovered.highest_spare;
    }
    let mut progress = locked(&core.progress);
    progress.acknowledged = RoundNumber(recovered.last_round);
    progress.durable = recovered.last_round;
    progress.files = recovered.files.iter().copied().collect();
    for (round, bytes) in &recovered.sizes {
        progress.note(*round, *bytes);
    }
    drop(progress);
    core.find_reserve().map_err(|error| io_error(&*core.system, "look at", names::RESERVE, error))
}
