//! What a simulated disk holds: files with pending sectors, names with pending changes, and the dice of a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::{Bugs, Listed, Operation, SECTOR_BYTES, not_found};

type Sector = [u8; SECTOR_BYTES];

/// Pseudo-random numbers (SplitMix64): a few operations, the same on every machine.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is above 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.roll() % limit as u64).expect("below a usize")
    }
}

/// How much of what is pending a crash keeps.
#[derive(Clone, Copy)]
struct Survival {
    percent: usize,
}

impl Survival {
    /// All, nothing, or a share: each is a crash that other shares seldom show.
    fn choose(dice: &mut Dice) -> Self {
        let percent = match dice.below(5) {
            0 => 0,
            1 => 100,
            2 => 90,
            _ => dice.below(101),
        };
        Self { percent }
    }

    fn keeps(self, dice: &mut Dice) -> bool {
        dice.below(100) < self.percent
    }
}

/// A file's content: as seen, as durable, and what lies between.
#[derive(Default)]
pub(super) struct Inode {
    current: Vec<u8>,
    durable: Vec<u8>,
    pending: BTreeMap<usize, Vec<Sector>>,
    /// Versions that a failed sync dropped from the system's list of things to write; they may be on the disk or not.
    abandoned: BTreeMap<usize, Vec<Sector>>,
    pending_lengths: Vec<usize>,
}

impl Inode {
    pub(super) fn content(&self) -> &[u8] {
        &self.current
    }

    pub(super) fn content_mut(&mut self) -> [&mut [u8]; 2] {
        [&mut self.current, &mut self.durable]
    }

    pub(super) fn write(&mut self, start: usize, bytes: &[u8]) {
        let end = start + bytes.len();
        if self.current.len() < end {
            self.current.resize(end, 0);
            self.pending_lengths.push(end);
        }
        self.current[start..end].copy_from_slice(bytes);
        self.note(start, end);
    }

    pub(super) fn set_length(&mut self, length: usize) {
        let before = self.current.len();
        self.current.resize(length, 0);
        self.pending_lengths.push(length);
        self.note(length.min(before), length.max(before));
    }

    /// The sectors that hold these bytes got a new version.
    fn note(&mut self, start: usize, end: usize) {
        for index in start / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES) {
            let mut sector = [0; SECTOR_BYTES];
            let from = (index * SECTOR_BYTES).min(self.current.len());
            let to = (from + SECTOR_BYTES).min(self.current.len());
            sector[..to - from].copy_from_slice(&self.current[from..to]);
            self.pending.entry(index).or_default().push(sector);
        }
    }

    fn put(&mut self, index: usize, sector: &Sector) {
        let end = (index + 1) * SECTOR_BYTES;
        if self.durable.len() < end {
            self.durable.resize(end, 0);
        }
        self.durable[end - SECTOR_BYTES..end].copy_from_slice(sector);
    }

    pub(super) fn sync(&mut self) {
        for (index, versions) in std::mem::take(&mut self.pending) {
            self.abandoned.remove(&index);
            if let Some(last) = versions.last() {
                self.put(index, last);
            }
        }
        self.pending_lengths.clear();
        self.durable.resize(self.current.len(), 0);
    }

    pub(super) fn fail_sync(&mut self) {
        for (index, versions) in std::mem::take(&mut self.pending) {
            self.abandoned.entry(index).or_default().extend(versions);
        }
    }

    fn crash(&mut self, survival: Survival, dice: &mut Dice) {
        let mut length = self.durable.len();
        for candidate in std::mem::take(&mut self.pending_lengths) {
            if survival.keeps(dice) {
                length = candidate;
            }
        }
        let mut versions = std::mem::take(&mut self.abandoned);
        for (index, pending) in std::mem::take(&mut self.pending) {
            versions.entry(index).or_default().extend(pending);
        }
        for (index, versions) in versions {
            if survival.keeps(dice) {
                self.put(index, &versions[dice.below(versions.len())]);
            }
        }
        self.durable.resize(length, 0);
        self.current = self.durable.clone();
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Directory,
    File(u64),
}

enum NameChange {
    Link(String, Node),
    Unlink(String),
    Rename(String, String, Node),
}

struct Fault {
    operation: Operation,
    path_part: String,
    skip: u64,
    kind: io::ErrorKind,
}

pub(super) struct Disk {
    dice: Dice,
    inodes: BTreeMap<u64, Inode>,
    next_inode: u64,
    names: BTreeMap<String, Node>,
    durable_names: BTreeMap<String, Node>,
    /// By folder, in order.
    pending_names: BTreeMap<String, Vec<NameChange>>,
    faults: Vec<Fault>,
    operations_left: Option<u64>,
    generation: u64,
    pub(super) capacity_bytes: Option<u64>,
    pub(super) short_writes: bool,
    pub(super) bugs: Bugs,
    pub(super) counts: BTreeMap<Operation, u64>,
    pub(super) locks: BTreeSet<String>,
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

impl Disk {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            inodes: BTreeMap::new(),
            next_inode: 0,
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending_names: BTreeMap::new(),
            faults: Vec::new(),
            operations_left: None,
            generation: 0,
            capacity_bytes: None,
            short_writes: false,
            bugs: Bugs::default(),
            counts: BTreeMap::new(),
            locks: BTreeSet::new(),
        }
    }

    /// The same names and contents, all durable, without limits, faults and bugs.
    pub(super) fn copy(&self) -> Self {
        let copied = |(number, inode): (&u64, &Inode)| {
            let (current, durable) = (inode.current.clone(), inode.current.clone());
            (*number, Inode { current, durable, ..Inode::default() })
        };
        Self {
            inodes: self.inodes.iter().map(copied).collect(),
            next_inode: self.next_inode,
            names: self.names.clone(),
            durable_names: self.names.clone(),
            ..Self::new(0)
        }
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn check_generation(&self, generation: u64) -> io::Result<()> {
        if generation == self.generation {
            Ok(())
        } else {
            Err(io::Error::other("the machine crashed since"))
        }
    }

    pub(super) fn is_off(&self) -> bool {
        self.operations_left == Some(0)
    }

    pub(super) fn power_off_after(&mut self, operations: u64) {
        self.operations_left = Some(operations);
    }

    pub(super) fn add_fault(
        &mut self,
        operation: Operation,
        path_part: &str,
        skip: u64,
        kind: io::ErrorKind,
    ) {
        self.faults.push(Fault { operation, path_part: path_part.to_owned(), skip, kind });
    }

    pub(super) fn clear_faults(&mut self) {
        self.faults.clear();
        self.operations_left = None;
    }

    /// Counts an operation and says whether it may happen. The one at which the power goes is refused, and whoever
    /// writes then still leaves pending sectors behind.
    pub(super) fn begin(&mut self, operation: Operation, path: &str) -> io::Result<()> {
        if self.is_off() {
            return Err(io::Error::other("the power is off"));
        }
        *self.counts.entry(operation).or_default() += 1;
        if let Some(left) = &mut self.operations_left {
            *left -= 1;
            if *left == 0 {
                return Err(io::Error::other("the power went"));
            }
        }
        let mut due = None;
        for (index, fault) in self.faults.iter_mut().enumerate() {
            if fault.operation == operation && path.contains(&fault.path_part) {
                if fault.skip == 0 {
                    due = Some(index);
                    break;
                }
                fault.skip -= 1;
            }
        }
        due.map_or(Ok(()), |index| Err(self.faults.remove(index).kind.into()))
    }

    /// [`Disk::begin`], on an open file by the name it has now.
    pub(super) fn begin_on(&mut self, operation: Operation, inode: u64) -> io::Result<()> {
        let named = |(name, node): (&String, &Node)| (*node == Node::File(inode)).then(|| name.clone());
        let path = if self.faults.is_empty() { None } else { self.names.iter().find_map(named) };
        self.begin(operation, &path.unwrap_or_default())
    }

    /// How many of `wanted` bytes a write takes.
    pub(super) fn accepted_length(&mut self, wanted: usize) -> io::Result<usize> {
        if !self.short_writes || wanted < 2 {
            return Ok(wanted);
        }
        match self.dice.below(16) {
            0 => Err(io::ErrorKind::Interrupted.into()),
            1 | 2 => Ok(1 + self.dice.below(wanted - 1)),
            _ => Ok(wanted),
        }
    }

    pub(super) fn inode(&mut self, inode: u64) -> io::Result<&mut Inode> {
        self.inodes.get_mut(&inode).ok_or_else(not_found)
    }

    pub(super) fn used_bytes(&self) -> u64 {
        let length = |node: &Node| match node {
            Node::Directory => 0,
            Node::File(inode) => self.inodes.get(inode).map_or(0, |inode| inode.current.len() as u64),
        };
        self.names.values().map(length).sum()
    }

    /// Refuses when the file's growth to `end` does not fit.
    pub(super) fn make_room(&mut self, inode: u64, end: usize) -> io::Result<()> {
        let Some(capacity) = self.capacity_bytes else { return Ok(()) };
        let growth = end.saturating_sub(self.inode(inode)?.current.len()) as u64;
        if growth > 0 && self.used_bytes() + growth > capacity {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    pub(super) fn node(&self, path: &str) -> Option<Node> {
        self.names.get(path).copied()
    }

    fn change_names(&mut self, directory: &str, change: NameChange) {
        self.pending_names.entry(directory.to_owned()).or_default().push(change);
    }

    fn check_parent(&self, path: &str) -> io::Result<()> {
        let parent = parent(path);
        if parent.is_empty() || self.node(parent) == Some(Node::Directory) {
            Ok(())
        } else {
            Err(not_found())
        }
    }

    pub(super) fn create_file(&mut self, path: &str) -> io::Result<u64> {
        self.check_parent(path)?;
        let inode = self.next_inode;
        self.next_inode += 1;
        self.inodes.insert(inode, Inode::default());
        self.names.insert(path.to_owned(), Node::File(inode));
        self.change_names(parent(path), NameChange::Link(path.to_owned(), Node::File(inode)));
        Ok(inode)
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let node = self.names.remove(from).ok_or_else(not_found)?;
        self.names.insert(to.to_owned(), node);
        self.change_names(parent(to), NameChange::Rename(from.to_owned(), to.to_owned(), node));
        Ok(())
    }

    pub(super) fn remove_file(&mut self, path: &str) -> io::Result<()> {
        match self.node(path) {
            None => Err(not_found()),
            Some(Node::Directory) => Err(io::ErrorKind::IsADirectory.into()),
            Some(Node::File(_)) => {
                self.names.remove(path);
                self.change_names(parent(path), NameChange::Unlink(path.to_owned()));
                Ok(())
            }
        }
    }

    pub(super) fn create_directory(&mut self, path: &str) -> io::Result<()> {
        match self.node(path) {
            _ if path.is_empty() => Ok(()),
            Some(Node::Directory) => Ok(()),
            Some(Node::File(_)) => Err(io::ErrorKind::AlreadyExists.into()),
            None => {
                self.check_parent(path)?;
                self.names.insert(path.to_owned(), Node::Directory);
                self.change_names(parent(path), NameChange::Link(path.to_owned(), Node::Directory));
                Ok(())
            }
        }
    }

    pub(super) fn remove_directory(&mut self, path: &str) -> io::Result<()> {
        if self.node(path) != Some(Node::Directory) {
            return Err(not_found());
        }
        if !self.children(path)?.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        self.names.remove(path);
        self.change_names(parent(path), NameChange::Unlink(path.to_owned()));
        Ok(())
    }

    pub(super) fn children(&self, path: &str) -> io::Result<BTreeSet<Listed>> {
        if !path.is_empty() && self.node(path) != Some(Node::Directory) {
            return Err(not_found());
        }
        let listed = |(name, node): (&String, &Node)| {
            let short = name.rsplit('/').next().unwrap_or(name).to_owned();
            match node {
                Node::Directory => Listed::Directory(short),
                Node::File(_) => Listed::File(short),
            }
        };
        Ok(self.names.iter().filter(|(name, _)| parent(name) == path).map(listed).collect())
    }

    fn apply(&mut self, change: NameChange) {
        match change {
            NameChange::Link(path, node) => _ = self.durable_names.insert(path, node),
            NameChange::Unlink(path) => _ = self.durable_names.remove(&path),
            NameChange::Rename(from, to, node) => {
                self.durable_names.remove(&from);
                self.durable_names.insert(to, node);
            }
        }
    }

    pub(super) fn sync_directory(&mut self, path: &str) {
        for change in self.pending_names.remove(path).unwrap_or_default() {
            self.apply(change);
        }
    }

    pub(super) fn crash(&mut self, seed: u64) {
        let mut dice = Dice::new(seed);
        let survival = Survival::choose(&mut dice);
        for changes in std::mem::take(&mut self.pending_names).into_values() {
            for change in changes {
                if survival.keeps(&mut dice) {
                    self.apply(change);
                }
            }
        }
        let survival = Survival::choose(&mut dice);
        for inode in self.inodes.values_mut() {
            inode.crash(survival, &mut dice);
        }
        let directories: BTreeSet<String> = self
            .durable_names
            .iter()
            .filter(|(_, node)| **node == Node::Directory)
            .map(|(name, _)| name.clone())
            .collect();
        self.durable_names.retain(|name, _| parent(name).is_empty() || directories.contains(parent(name)));
        self.names = self.durable_names.clone();
        let named: BTreeSet<u64> = self
            .names
            .values()
            .filter_map(|node| if let Node::File(inode) = node { Some(*inode) } else { None })
            .collect();
        self.inodes.retain(|inode, _| named.contains(inode));
        self.locks.clear();
        self.clear_faults();
        self.generation += 1;
    }

    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let content = |(name, node): (&String, &Node)| match node {
            Node::Directory => None,
            Node::File(inode) => self.inodes.get(inode).map(|inode| (name.clone(), inode.current.clone())),
        };
        self.names.iter().filter_map(content).collect()
    }

    pub(super) fn tamper(&mut self, path: &str, at: usize, change: impl FnOnce(&mut u8)) {
        let Some(Node::File(inode)) = self.node(path) else { panic!("{path} is no file") };
        let inode = self.inodes.get_mut(&inode).expect("a named file has content");
        let mut byte = inode.content()[at];
        change(&mut byte);
        for content in inode.content_mut() {
            content[at] = byte;
        }
    }
}
