//! What both halves of a local engine and its threads share: the folder, the poison, the wakers, progress.
//!
//! Locks here are held for a few instructions, never over a call into the file system; at most one at a time.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::settings::LocalSettings;
use super::space::{Reserve, Spares};
use crate::file_system::{FileHandle, FileSystem, LockGuard};
use crate::{CheckpointState, RoundNumber, Waker};

/// After how many bytes of frames [`Progress`] notes where it is, to know what a trim leaves.
const MARK_BYTES: u64 = 64 * 1024;

/// Locks, also after a thread panicked: what the locks guard is changed in single steps.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A journal file in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveFile {
    pub(super) number: u64,
    pub(super) first_round: u64,
    pub(super) size_bytes: u64,
}

/// How far the journal is.
#[derive(Default)]
pub(super) struct Progress {
    /// The highest round that is acknowledged.
    pub(super) acknowledged: RoundNumber,
    /// The highest round that is durable; lags behind under [`super::Durability::Os`].
    pub(super) durable: u64,
    pub(super) in_flight: bool,
    /// Files in use, oldest first; the last one is written.
    pub(super) files: VecDeque<LiveFile>,
    written_bytes: u64,
    /// A round, and the bytes written before it; the first one is the trim point.
    marks: VecDeque<(u64, u64)>,
}

impl Progress {
    /// Notes that a round takes these bytes.
    pub(super) fn note(&mut self, round: u64, bytes: u64) {
        if self.marks.back().is_none_or(|(_, before)| self.written_bytes - before >= MARK_BYTES) {
            self.marks.push_back((round, self.written_bytes));
        }
        self.written_bytes += bytes;
    }

    /// Bytes since the trim point, give or take a mark.
    pub(super) fn untrimmed_bytes(&self) -> u64 {
        self.marks.front().map_or(0, |(_, before)| self.written_bytes - before)
    }

    /// Forgets what lies below a round, and says which files, oldest first, nobody needs any more.
    pub(super) fn trim(&mut self, below: u64) -> Vec<LiveFile> {
        if below > self.acknowledged.0 && !self.in_flight {
            self.marks.clear();
        }
        while self.marks.get(1).is_some_and(|(round, _)| *round <= below) {
            self.marks.pop_front();
        }
        let mut dead = Vec::new();
        while self.files.iter().skip(1).any(|later| later.first_round <= below) {
            dead.extend(self.files.pop_front());
        }
        dead
    }
}

/// The shared state.
pub(super) struct Core {
    pub(super) system: Arc<dyn FileSystem>,
    pub(super) settings: LocalSettings,
    pub(super) progress: Mutex<Progress>,
    pub(super) spares: Mutex<Spares>,
    pub(super) reserve: Mutex<Reserve>,
    pub(super) checkpoint: Mutex<CheckpointState>,
    /// Folders whose names changed since they were last synced.
    pub(super) changed_directories: Mutex<BTreeSet<String>>,
    /// Paths removed since the running checkpoint began.
    pub(super) removed_paths: Mutex<BTreeSet<String>>,
    /// The file that the journal writes, and the last round in it, under [`super::Durability::Os`].
    pub(super) unsynced: Mutex<Option<(FileHandle, u64)>>,
    pub(super) journal_waker: Mutex<Option<Waker>>,
    pub(super) store_waker: Mutex<Option<Waker>>,
    poison: Mutex<Option<String>>,
    _lock: LockGuard,
}

impl Core {
    pub(super) fn new(system: Arc<dyn FileSystem>, settings: LocalSettings, lock: LockGuard) -> Self {
        Self {
            system,
            settings,
            progress: Mutex::default(),
            spares: Mutex::default(),
            reserve: Mutex::default(),
            checkpoint: Mutex::default(),
            changed_directories: Mutex::default(),
            removed_paths: Mutex::default(),
            unsynced: Mutex::default(),
            journal_waker: Mutex::default(),
            store_waker: Mutex::default(),
            poison: Mutex::default(),
            _lock: lock,
        }
    }

    /// Ends all writing through this engine. The first reason stays.
    pub(super) fn poison(&self, reason: String) {
        locked(&self.poison).get_or_insert(reason);
        self.wake_journal();
        self.wake_store();
    }

    /// [`Core::poison`], for an error of the system.
    pub(super) fn poison_by(&self, action: &str, path: &str, error: &io::Error) {
        self.poison(format!("cannot {action} {}: {error}", self.system.place(path)));
    }

    pub(super) fn poisoned(&self) -> Option<String> {
        locked(&self.poison).clone()
    }

    pub(super) fn wake_journal(&self) {
        wake(&self.journal_waker);
    }

    pub(super) fn wake_store(&self) {
        wake(&self.store_waker);
    }
}

fn wake(waker: &Mutex<Option<Waker>>) {
    let waker = locked(waker).clone();
    if let Some(waker) = waker {
        waker();
    }
}
