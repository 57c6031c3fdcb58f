//! A data folder in memory that loses power: what was written but not synced survives in any mixture.
//!
//! Content is kept in sectors of 512 bytes. A sector written since the last sync of its file is *pending*, with every
//! version it had; so is a name made, changed or removed since the last sync of its folder. A crash keeps an
//! arbitrary subset of all that, chosen by a seed: dropped, torn, reordered. Everything is deterministic: the same
//! calls and seeds give the same bytes. Faults can be injected, and two bugs planted ([`Bugs`]) to prove that a test
//! notices them.
//!
//! Used by tests and by the simulator, never by a server.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Concurrency, File, FileHandle, FileSystem, Listed, LockGuard, OpenMode};
use disk::{Disk, Node};

mod disk;
#[cfg(test)]
mod tests;

/// The size of what is written whole or not at all.
pub const SECTOR_BYTES: usize = 512;

/// An operation that can be counted and made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Opening or making a file.
    Open,
    /// Writing into a file, or setting its length.
    Write,
    /// Reading from a file.
    Read,
    /// Syncing a file.
    Sync,
    /// Syncing a folder.
    SyncDirectory,
    /// Making, renaming or removing a name.
    Name,
}

/// Bugs planted into the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bugs {
    /// Syncing a file says yes and does nothing.
    pub sync_does_nothing: bool,
    /// Syncing a folder says yes and does nothing.
    pub directory_sync_does_nothing: bool,
}

/// The power switch, the fault injector, and the folder itself; clones share it.
#[derive(Clone)]
pub struct SimulatedFileSystem {
    disk: Arc<Mutex<Disk>>,
}

impl SimulatedFileSystem {
    /// An empty folder without a limit. The seed decides short and interrupted writes.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { disk: Arc::new(Mutex::new(Disk::new(seed))) }
    }

    /// The machine loses power and comes back: pending sectors and names survive as the seed decides, open files
    /// and locks are gone, injected faults are forgotten.
    pub fn crash(&self, seed: u64) {
        self.disk().crash(seed);
    }

    /// After this many more operations the power goes: the last of them may still reach the disk in part, and every
    /// later one fails until [`SimulatedFileSystem::crash`] is called.
    pub fn power_off_after(&self, operations: u64) {
        self.disk().power_off_after(operations);
    }

    /// Whether the power went by itself.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.disk().is_off()
    }

    /// Fails one operation of this kind, after `skip` that succeed, on a path that contains `path_part`. After a
    /// failed sync the sectors concerned are lost to later syncs, as on Linux.
    pub fn fail(&self, operation: Operation, path_part: &str, skip: u64, kind: io::ErrorKind) {
        self.disk().add_fault(operation, path_part, skip, kind);
    }

    /// Forgets the injected faults and the coming loss of power.
    pub fn clear_faults(&self) {
        self.disk().clear_faults();
    }

    /// Sets how many bytes all files may have together.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.disk().capacity_bytes = bytes;
    }

    /// Lets one write in eight be short, and one in sixteen interrupted.
    pub fn write_in_pieces(&self) {
        self.disk().short_writes = true;
    }

    /// Plants bugs from now on.
    pub fn plant(&self, bugs: Bugs) {
        self.disk().bugs = bugs;
    }

    /// How many operations of this kind were tried.
    #[must_use]
    pub fn count(&self, operation: Operation) -> u64 {
        self.disk().counts.get(&operation).copied().unwrap_or(0)
    }

    /// How many operations were tried in all.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.disk().counts.values().sum()
    }

    /// Every file with its content as a program sees it now.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.disk().files()
    }

    /// Changes bytes of a file behind everybody's back, durably: a bit that rotted, a tool that wrote.
    ///
    /// # Panics
    /// When there is no such file or it is shorter.
    pub fn tamper(&self, path: &str, at: usize, change: impl FnOnce(&mut u8)) {
        self.disk().tamper(path, at, change);
    }

    /// A second folder with the same files, as a program sees them now, all durable.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self { disk: Arc::new(Mutex::new(self.disk().copy())) }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

struct SimulatedFile {
    system: SimulatedFileSystem,
    inode: u64,
    generation: u64,
}

impl File for SimulatedFile {
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        let mut disk = self.system.disk();
        disk.check_generation(self.generation)?;
        let start = usize::try_from(at).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let count = disk.accepted_length(bytes.len())?;
        let verdict = disk.begin_on(Operation::Write, self.inode);
        if verdict.is_err() && !disk.is_off() {
            return verdict.map(|()| 0);
        }
        disk.make_room(self.inode, start + count)?;
        disk.inode(self.inode)?.write(start, &bytes[..count]);
        verdict.map(|()| count)
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let mut disk = self.system.disk();
        disk.check_generation(self.generation)?;
        disk.begin_on(Operation::Read, self.inode)?;
        let content = disk.inode(self.inode)?.content();
        let start = usize::try_from(at).unwrap_or(usize::MAX).min(content.len());
        let count = into.len().min(content.len() - start);
        into[..count].copy_from_slice(&content[start..start + count]);
        Ok(count)
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut disk = self.system.disk();
        disk.check_generation(self.generation)?;
        if let Err(error) = disk.begin_on(Operation::Sync, self.inode) {
            disk.inode(self.inode)?.fail_sync();
            return Err(error);
        }
        if !disk.bugs.sync_does_nothing {
            disk.inode(self.inode)?.sync();
        }
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        let mut disk = self.system.disk();
        disk.check_generation(self.generation)?;
        Ok(disk.inode(self.inode)?.content().len() as u64)
    }

    fn set_length(&self, length_bytes: u64) -> io::Result<()> {
        let mut disk = self.system.disk();
        disk.check_generation(self.generation)?;
        disk.begin_on(Operation::Write, self.inode)?;
        let length = usize::try_from(length_bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
        disk.make_room(self.inode, length)?;
        disk.inode(self.inode)?.set_length(length);
        Ok(())
    }
}

struct SimulatedLock {
    system: SimulatedFileSystem,
    path: String,
    generation: u64,
}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        let mut disk = self.system.disk();
        if disk.check_generation(self.generation).is_ok() {
            disk.locks.remove(&self.path);
        }
    }
}

impl FileSystem for SimulatedFileSystem {
    fn open(&self, path: &str, mode: OpenMode) -> io::Result<FileHandle> {
        let mut disk = self.disk();
        disk.begin(Operation::Open, path)?;
        let inode = match (disk.node(path), mode) {
            (Some(Node::Directory), _) => return Err(io::ErrorKind::IsADirectory.into()),
            (Some(Node::File(inode)), OpenMode::Existing) => inode,
            (Some(Node::File(inode)), OpenMode::Emptied) => {
                disk.inode(inode)?.set_length(0);
                inode
            }
            (None, OpenMode::Existing) => return Err(not_found()),
            (None, OpenMode::Emptied) => disk.create_file(path)?,
        };
        let generation = disk.generation();
        Ok(Arc::new(SimulatedFile { system: self.clone(), inode, generation }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.begin(Operation::Name, from)?;
        disk.rename(from, to)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.begin(Operation::Name, path)?;
        disk.remove_file(path)
    }

    fn create_directory(&self, path: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.begin(Operation::Name, path)?;
        disk.create_directory(path)
    }

    fn remove_directory(&self, path: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.begin(Operation::Name, path)?;
        disk.remove_directory(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<Listed>> {
        let mut disk = self.disk();
        disk.begin(Operation::Read, path)?;
        let names: BTreeSet<Listed> = disk.children(path)?;
        Ok(names.into_iter().collect())
    }

    fn sync_directory(&self, path: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.begin(Operation::SyncDirectory, path)?;
        if !path.is_empty() && disk.node(path) != Some(Node::Directory) {
            return Err(not_found());
        }
        if !disk.bugs.directory_sync_does_nothing {
            disk.sync_directory(path);
        }
        Ok(())
    }

    fn lock(&self, path: &str) -> io::Result<Option<LockGuard>> {
        let mut disk = self.disk();
        disk.begin(Operation::Open, path)?;
        if !disk.locks.insert(path.to_owned()) {
            return Ok(None);
        }
        let generation = disk.generation();
        drop(disk);
        Ok(Some(Box::new(SimulatedLock { system: self.clone(), path: path.to_owned(), generation })))
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let disk = self.disk();
        Ok(disk.capacity_bytes.map_or(u64::MAX, |capacity| capacity.saturating_sub(disk.used_bytes())))
    }

    fn total_bytes(&self) -> io::Result<u64> {
        Ok(self.disk().capacity_bytes.unwrap_or(u64::MAX))
    }

    fn place(&self, path: &str) -> String {
        path.to_owned()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Inline
    }
}
