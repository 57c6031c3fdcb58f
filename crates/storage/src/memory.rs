//! The engine without a disk: rounds and files in memory, in a [`MemoryDisk`] that outlives the engine.
//!
//! For tests of the rooms above, and for programs that want no durability. Dropping the engine and opening the disk
//! again is a clean restart; [`MemoryDisk::crash`] in between keeps only what was durable: acknowledged rounds, and
//! files as the last finished checkpoint that named them found them. A test can hold completions back
//! ([`Pace::Held`]), fail a round, or let the disk look full.
//!
//! It must never report a round durable that a crash of the disk would drop.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::local::is_segment_part;
use crate::{
    AcquireError, CheckpointState, Device, Engine, Entry, FileId, FileName, Journal, JournalState,
    RecoveredRound, Replay, RoundNumber, SegmentStore, Space, StoreError, Waker,
};

#[cfg(test)]
mod tests;

/// What an entry costs beside its payload when [`Journal::untrimmed_bytes`] is asked: stream, tag and length.
const ENTRY_OVERHEAD_BYTES: u64 = 25;

/// When submitted rounds and begun checkpoints complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Before the call that hands them over returns.
    #[default]
    AtOnce,
    /// When [`MemoryDisk::complete`] is called.
    Held,
}

/// Opens a [`MemoryDisk`].
pub struct MemoryEngine;

impl MemoryEngine {
    /// Takes the disk over: a new epoch, the last checkpoint and the rounds that were not trimmed.
    ///
    /// # Errors
    /// [`AcquireError::InUse`] while a journal or store of an earlier engine lives.
    pub fn open(disk: &MemoryDisk) -> Result<Engine, AcquireError> {
        let mut inner = disk.lock();
        if inner.open_owner.is_some() {
            return Err(AcquireError::InUse { path: "memory".into() });
        }
        inner.epoch += 1;
        let owner = inner.epoch;
        inner.open_owner = Some(owner);
        inner.in_flight = None;
        inner.running_checkpoint = None;
        inner.finished_checkpoint = CheckpointState::Idle;
        inner.poisoned = None;
        inner.removed_files.clear();
        let begins_at = inner.rounds.first().map_or(inner.last_round.next(), |round| round.number);
        let replay = Replay { begins_at, rounds: inner.rounds.clone(), ..Replay::default() };
        let checkpoint = inner.checkpoint.clone();
        let lease = Arc::new(Lease { disk: disk.clone(), owner });
        Ok(Engine {
            journal: Box::new(MemoryJournal { lease: Arc::clone(&lease) }),
            segments: Box::new(MemorySegments { lease, open: BTreeMap::new(), next_id: 0 }),
            checkpoint,
            replay,
        })
    }
}

/// What a [`MemoryEngine`] keeps; clones share it.
#[derive(Clone, Default)]
pub struct MemoryDisk(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    epoch: u32,
    /// The epoch of the engine that owns the disk now.
    open_owner: Option<u32>,
    last_round: RoundNumber,
    rounds: Vec<RecoveredRound>,
    in_flight: Option<RecoveredRound>,
    poisoned: Option<String>,
    full: bool,
    /// What the reserve, given up, still has room for while the disk looks full.
    released_bytes: usize,
    pace: Pace,
    files: BTreeMap<FileName, Vec<u8>>,
    durable_files: BTreeMap<FileName, Vec<u8>>,
    removed_files: Vec<FileName>,
    checkpoint: Option<Vec<u8>>,
    running_checkpoint: Option<RunningCheckpoint>,
    finished_checkpoint: CheckpointState,
    journal_waker: Option<Waker>,
    store_waker: Option<Waker>,
}

/// The size of the reserve.
const RESERVE_BYTES: usize = 1 << 20;

struct RunningCheckpoint {
    files: BTreeMap<FileName, Vec<u8>>,
    removed: Vec<FileName>,
    document: Vec<u8>,
}

impl MemoryDisk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The power goes: what was not durable is gone. An engine that is still open finds itself fenced.
    pub fn crash(&self) {
        let mut inner = self.lock();
        inner.open_owner = None;
        inner.in_flight = None;
        inner.running_checkpoint = None;
        inner.files = inner.durable_files.clone();
    }

    /// Sets when rounds and checkpoints complete from now on.
    pub fn set_pace(&self, pace: Pace) {
        self.lock().pace = pace;
    }

    /// Completes the round in flight and the running checkpoint, if any, and calls the wakers.
    pub fn complete(&self) {
        let wakers = {
            let mut inner = self.lock();
            inner.complete_round();
            inner.complete_checkpoint();
            [inner.journal_waker.clone(), inner.store_waker.clone()]
        };
        wakers.into_iter().flatten().for_each(|waker| waker());
    }

    /// Fails the round in flight and every later one of this engine, for this reason.
    pub fn poison(&self, reason: &str) {
        let waker = {
            let mut inner = self.lock();
            inner.in_flight = None;
            inner.poisoned = Some(reason.to_owned());
            inner.journal_waker.clone()
        };
        if let Some(waker) = waker {
            waker();
        }
    }

    /// Sets what [`Journal::space`] answers; [`Space::Full`] also makes writes to segments fail, but for what the reserve
    /// has room for once it is given up.
    pub fn set_space(&self, space: Space) {
        let mut inner = self.lock();
        inner.full = space == Space::Full;
        inner.released_bytes = 0;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn complete_round(&mut self) {
        if let Some(round) = self.in_flight.take() {
            self.last_round = round.number;
            self.rounds.push(round);
        }
    }

    fn complete_checkpoint(&mut self) {
        let Some(running) = self.running_checkpoint.take() else { return };
        for name in &running.removed {
            self.durable_files.remove(name);
        }
        self.durable_files.extend(running.files);
        self.checkpoint = Some(running.document);
        self.finished_checkpoint = CheckpointState::Done;
    }
}

/// Ownership of the disk, shared by both halves of an engine.
struct Lease {
    disk: MemoryDisk,
    owner: u32,
}

impl Lease {
    /// The disk, unless a crash took it away.
    fn owned(&self) -> Option<MutexGuard<'_, Inner>> {
        let inner = self.disk.lock();
        (inner.open_owner == Some(self.owner)).then_some(inner)
    }

    fn store(&self) -> Result<MutexGuard<'_, Inner>, StoreError> {
        self.owned().ok_or_else(|| StoreError::Io {
            action: "use the memory disk".into(),
            source: std::io::Error::other("it crashed under this engine"),
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut inner = self.disk.lock();
        if inner.open_owner == Some(self.owner) {
            inner.open_owner = None;
            inner.journal_waker = None;
            inner.store_waker = None;
        }
    }
}

struct MemoryJournal {
    lease: Arc<Lease>,
}

impl Journal for MemoryJournal {
    fn epoch(&self) -> u32 {
        self.lease.owner
    }

    fn submit(&mut self, entries: Vec<Entry>) -> RoundNumber {
        let Some(mut inner) = self.lease.owned() else { return RoundNumber::default() };
        assert!(inner.in_flight.is_none(), "at most one round is in flight");
        let number = inner.last_round.next();
        if inner.poisoned.is_none() {
            inner.in_flight = Some(RecoveredRound { number, epoch: self.lease.owner, entries });
            if inner.pace == Pace::AtOnce {
                inner.complete_round();
            }
        }
        number
    }

    fn poll(&mut self) -> JournalState {
        let Some(inner) = self.lease.owned() else { return JournalState::Fenced };
        match (&inner.poisoned, &inner.in_flight) {
            (Some(reason), _) => JournalState::Poisoned(reason.clone()),
            (None, Some(_)) => JournalState::InFlight,
            (None, None) => JournalState::Idle(inner.last_round),
        }
    }

    fn space(&mut self) -> Space {
        match self.lease.owned() {
            Some(inner) if inner.full => Space::Full,
            _ => Space::Ready,
        }
    }

    fn trim(&mut self, below: RoundNumber) {
        if let Some(mut inner) = self.lease.owned() {
            inner.rounds.retain(|round| round.number >= below);
        }
    }

    fn untrimmed_bytes(&self) -> u64 {
        let size = |entry: &Entry| ENTRY_OVERHEAD_BYTES + entry.payload.len() as u64;
        self.lease
            .owned()
            .map_or(0, |inner| inner.rounds.iter().flat_map(|round| &round.entries).map(size).sum())
    }

    fn set_waker(&mut self, waker: Waker) {
        if let Some(mut inner) = self.lease.owned() {
            inner.journal_waker = Some(waker);
        }
    }
}

/// The same names are refused as on a disk, so that a test in memory finds a bad one.
fn check_name(name: &FileName) -> Result<(), StoreError> {
    if is_segment_part(&name.directory) && is_segment_part(&name.name) {
        return Ok(());
    }
    let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no name for a segment file");
    Err(StoreError::Io { action: format!("use the name {name}"), source })
}

struct MemorySegments {
    lease: Arc<Lease>,
    open: BTreeMap<FileId, FileName>,
    next_id: u32,
}

impl MemorySegments {
    fn name(&self, file: FileId) -> &FileName {
        self.open.get(&file).expect("a file id is used only between its opening and its closing")
    }

    fn add(&mut self, name: &FileName) -> FileId {
        let id = FileId(self.next_id);
        self.next_id += 1;
        self.open.insert(id, name.clone());
        id
    }
}

impl SegmentStore for MemorySegments {
    fn create(&mut self, name: &FileName) -> Result<FileId, StoreError> {
        check_name(name)?;
        let mut inner = self.lease.store()?;
        if inner.full && inner.released_bytes == 0 {
            return Err(StoreError::Full);
        }
        inner.removed_files.retain(|removed| removed != name);
        inner.files.insert(name.clone(), Vec::new());
        drop(inner);
        Ok(self.add(name))
    }

    fn open(&mut self, name: &FileName, length_bytes: u64) -> Result<FileId, StoreError> {
        let mut inner = self.lease.store()?;
        let missing = |reason: String| StoreError::Missing { file: name.clone(), reason };
        let bytes = inner.files.get_mut(name).ok_or_else(|| missing("it is not there".into()))?;
        let found = bytes.len() as u64;
        if found < length_bytes {
            return Err(missing(format!("it has {found} bytes and should have at least {length_bytes}")));
        }
        bytes.truncate(usize::try_from(length_bytes).expect("not above a length in memory"));
        drop(inner);
        Ok(self.add(name))
    }

    fn write(&mut self, file: FileId, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let name = self.name(file);
        let mut inner = self.lease.store()?;
        if inner.full {
            inner.released_bytes = inner.released_bytes.checked_sub(bytes.len()).ok_or(StoreError::Full)?;
        }
        let at = usize::try_from(at).map_err(|_| StoreError::Full)?;
        let content = inner.files.entry(name.clone()).or_default();
        let end = at + bytes.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        content[at..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, file: FileId, at: u64, into: &mut [u8]) -> Result<usize, StoreError> {
        let name = self.name(file);
        let inner = self.lease.store()?;
        let content = inner.files.get(name).map_or(&[][..], Vec::as_slice);
        let start = usize::try_from(at).unwrap_or(usize::MAX).min(content.len());
        let count = into.len().min(content.len() - start);
        into[..count].copy_from_slice(&content[start..start + count]);
        Ok(count)
    }

    fn close(&mut self, file: FileId) {
        self.open.remove(&file);
    }

    fn remove(&mut self, name: &FileName) -> Result<(), StoreError> {
        let mut inner = self.lease.store()?;
        inner.files.remove(name);
        inner.removed_files.push(name.clone());
        Ok(())
    }

    fn remove_directory(&mut self, directory: &str) -> Result<(), StoreError> {
        let inner = self.lease.store()?;
        if inner.files.keys().any(|name| &*name.directory == directory) {
            return Err(StoreError::Io {
                action: format!("remove the folder {directory}"),
                source: std::io::ErrorKind::DirectoryNotEmpty.into(),
            });
        }
        Ok(())
    }

    fn list(&self) -> Result<Vec<FileName>, StoreError> {
        Ok(self.lease.store()?.files.keys().cloned().collect())
    }

    fn begin_checkpoint(&mut self, files: &[FileId], document: Vec<u8>) {
        let Some(mut inner) = self.lease.owned() else { return };
        assert!(inner.running_checkpoint.is_none(), "one checkpoint runs at a time");
        let files = files
            .iter()
            .map(|file| self.name(*file))
            .filter_map(|name| inner.files.get(name).map(|bytes| (name.clone(), bytes.clone())))
            .collect();
        let removed = std::mem::take(&mut inner.removed_files);
        inner.running_checkpoint = Some(RunningCheckpoint { files, removed, document });
        if inner.pace == Pace::AtOnce {
            inner.complete_checkpoint();
        }
    }

    fn poll_checkpoint(&mut self) -> CheckpointState {
        let Some(mut inner) = self.lease.owned() else {
            return CheckpointState::Failed("the memory disk crashed under this engine".into());
        };
        if inner.running_checkpoint.is_some() {
            return CheckpointState::Running;
        }
        std::mem::replace(&mut inner.finished_checkpoint, CheckpointState::Idle)
    }

    fn release_reserve(&mut self) {
        if let Ok(mut inner) = self.lease.store()
            && inner.full
        {
            inner.released_bytes = RESERVE_BYTES;
        }
    }

    fn device(&self) -> Device {
        Device { path: "memory".to_owned(), total_bytes: None, usable_bytes: None }
    }

    fn set_waker(&mut self, waker: Waker) {
        if let Some(mut inner) = self.lease.owned() {
            inner.store_waker = Some(waker);
        }
    }
}
