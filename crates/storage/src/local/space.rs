//! The room ahead: spare journal files, made with zeros or recycled, and the reserve file.
//!
//! A numbered file always has a durable header of its own, because the header is written and synced before the file
//! gets its number. Files are retired oldest first, each durably before the next, so that what is left never has a
//! hole.

use std::io;

use super::core::{Core, LiveFile, locked};
use super::frame::{FRAME_ALIGNMENT_BYTES, Filled, HEADER_BLOCK_BYTES};
use super::names::{JOURNAL, JournalName, RESERVE};
use crate::Space;
use crate::file_system::{FileHandle, OpenMode, fill_with_zeros, is_full};

/// How many spare files are kept; further ones are removed.
const MAX_SPARES: usize = 2;
/// After how many refusals the engine tries again although the system reports too little room.
const CALLS_BETWEEN_TRIES: u32 = 64;

/// Spare files.
#[derive(Default)]
pub(super) struct Spares {
    pub(super) ready: Vec<Spare>,
    /// One is being made.
    pub(super) preparing: bool,
    /// The last try found the device full.
    failed: bool,
    calls_to_wait: u32,
    /// The number in the next spare's name.
    pub(super) next_number: u64,
}

/// A file that can be taken into use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spare {
    pub(super) path: String,
    pub(super) size_bytes: u64,
    pub(super) filled: Filled,
}

/// The reserve file.
#[derive(Default)]
pub(super) struct Reserve {
    pub(super) present: bool,
    making: bool,
    calls: u32,
}

/// What [`Core::space_ahead`] found, and what the caller should have done.
pub(super) enum SpaceAhead {
    /// Nothing to do.
    Known(Space),
    /// Call [`Core::prepare_spare`]; until it is done, this is the answer.
    Prepare(Space),
}

impl Core {
    /// Whether a spare is there or on its way, and the segments of a round have room as well: what a round writes to
    /// the journal is written to them too, so as much as the reserve must be free beside it. On a device that is full
    /// it asks for another try only when there seems to be room, and when that failed all the same, only every
    /// [`CALLS_BETWEEN_TRIES`] calls.
    pub(super) fn space_ahead(&self) -> SpaceAhead {
        // Where the system does not say how much is free, the spare file decides alone.
        let free_bytes = self.system.free_bytes().unwrap_or(u64::MAX);
        if free_bytes < self.settings.reserve_bytes {
            return SpaceAhead::Known(Space::Full);
        }
        let known = |spares: &Spares| {
            let answer = if spares.failed { Space::Full } else { Space::Ready };
            let decided = !spares.ready.is_empty() || spares.preparing;
            decided.then_some(if spares.ready.is_empty() { answer } else { Space::Ready })
        };
        if let Some(answer) = known(&locked(&self.spares)) {
            return SpaceAhead::Known(answer);
        }
        // The room for the segments must be left when the spare is there.
        let needed =
            self.settings.journal_file_bytes + HEADER_BLOCK_BYTES as u64 + self.settings.reserve_bytes;
        let enough = free_bytes >= needed;
        let mut spares = locked(&self.spares);
        spares.failed |= !enough;
        let wait = spares.calls_to_wait > 0;
        spares.calls_to_wait = spares.calls_to_wait.saturating_sub(1);
        if !enough || wait {
            return SpaceAhead::Known(Space::Full);
        }
        spares.preparing = true;
        SpaceAhead::Prepare(if spares.failed { Space::Full } else { Space::Ready })
    }

    /// Makes a spare file, unless one came meanwhile. Poisons the engine when the system fails otherwise than by
    /// being full.
    pub(super) fn prepare_spare(&self) {
        let wanted = locked(&self.spares).ready.is_empty();
        let made =
            if wanted { self.make_spare(self.settings.journal_file_bytes).map(Some) } else { Ok(None) };
        let mut spares = locked(&self.spares);
        spares.preparing = false;
        spares.failed = made.is_err();
        spares.calls_to_wait = if spares.failed { CALLS_BETWEEN_TRIES } else { 0 };
        match made {
            Ok(spare) => spares.ready.extend(spare),
            Err(error) => {
                drop(spares);
                if !is_full(&error) {
                    self.poison_by("prepare a file in", JOURNAL, &error);
                }
            }
        }
    }

    /// A new spare of this size, filled with zeros, synced, and named durably.
    pub(super) fn make_spare(&self, size_bytes: u64) -> io::Result<Spare> {
        let number = self.next_spare_number();
        let temporary = JournalName::Temporary(number).path();
        let path = JournalName::Spare(number).path();
        let size_bytes = size_bytes.next_multiple_of(FRAME_ALIGNMENT_BYTES as u64);
        let opened = self.system.open(&temporary, OpenMode::Emptied);
        let filled = opened.and_then(|file| fill_with_zeros(&*file, size_bytes));
        if let Err(error) = filled {
            return match self.system.remove(&temporary) {
                Err(second) if second.kind() != io::ErrorKind::NotFound => Err(second),
                _ => Err(error),
            };
        }
        self.system.rename(&temporary, &path)?;
        self.system.sync_directory(JOURNAL)?;
        Ok(Spare { path, size_bytes, filled: Filled::Zeros })
    }

    fn next_spare_number(&self) -> u64 {
        let mut spares = locked(&self.spares);
        spares.next_number += 1;
        spares.next_number
    }

    /// A spare of at least this size: one that is ready, else a new one as big as usual, else, on a device that is
    /// nearly full, one that is just big enough, for which the reserve is given up.
    pub(super) fn take_spare(&self, least_bytes: u64, usual_bytes: u64) -> io::Result<Spare> {
        {
            let mut spares = locked(&self.spares);
            if let Some(index) = spares.ready.iter().position(|spare| spare.size_bytes >= least_bytes) {
                return Ok(spares.ready.swap_remove(index));
            }
        }
        let full = |made: &io::Result<Spare>| made.as_ref().is_err_and(is_full);
        let mut made = self.make_spare(usual_bytes.max(least_bytes));
        if full(&made) {
            made = self.make_spare(least_bytes);
        }
        if full(&made) {
            self.release_reserve()?;
            made = self.make_spare(least_bytes);
        }
        made
    }

    /// Makes files that nobody needs into spares, or removes them. Poisons the engine when that fails.
    pub(super) fn retire(&self, files: &[LiveFile]) {
        for file in files {
            if let Err(error) = self.retire_one(file) {
                return self.poison_by("recycle", &JournalName::Numbered(file.number).path(), &error);
            }
        }
    }

    fn retire_one(&self, file: &LiveFile) -> io::Result<()> {
        let path = JournalName::Numbered(file.number).path();
        let keep = file.size_bytes == self.settings.journal_file_bytes
            && locked(&self.spares).ready.len() < MAX_SPARES;
        if !keep {
            self.system.remove(&path)?;
            return self.system.sync_directory(JOURNAL);
        }
        let spare_path = JournalName::Spare(self.next_spare_number()).path();
        self.system.rename(&path, &spare_path)?;
        self.system.sync_directory(JOURNAL)?;
        let spare = Spare { path: spare_path, size_bytes: file.size_bytes, filled: Filled::Recycled };
        let mut spares = locked(&self.spares);
        spares.failed = false;
        spares.ready.push(spare);
        Ok(())
    }

    /// Opens a spare for its header to be written.
    pub(super) fn open_spare(&self, spare: &Spare) -> io::Result<FileHandle> {
        self.system.open(&spare.path, OpenMode::Existing)
    }

    /// Notes whether the reserve file is there, whole.
    pub(super) fn find_reserve(&self) -> io::Result<()> {
        let length = match self.system.open(RESERVE, OpenMode::Existing).and_then(|file| file.length()) {
            Ok(length) => Some(length),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        locked(&self.reserve).present = length == Some(self.settings.reserve_bytes);
        Ok(())
    }

    /// Removes the reserve file.
    pub(super) fn release_reserve(&self) -> io::Result<()> {
        locked(&self.reserve).present = false;
        match self.system.remove(RESERVE) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the reserve is missing and there is room for it; asked often, looks seldom.
    pub(super) fn wants_reserve(&self) -> bool {
        {
            let mut reserve = locked(&self.reserve);
            if reserve.present || reserve.making || self.settings.reserve_bytes == 0 {
                return false;
            }
            reserve.calls = reserve.calls.wrapping_add(1);
            if reserve.calls % CALLS_BETWEEN_TRIES != 1 {
                return false;
            }
        }
        let needed = 2 * self.settings.reserve_bytes + self.settings.journal_file_bytes;
        let enough = self.system.free_bytes().is_ok_and(|free| free >= needed);
        locked(&self.reserve).making = enough;
        enough
    }

    /// Makes the reserve file. A full device leaves none; another failure poisons the engine.
    pub(super) fn make_reserve(&self) {
        let made = self
            .system
            .open(RESERVE, OpenMode::Emptied)
            .and_then(|file| fill_with_zeros(&*file, self.settings.reserve_bytes));
        let present = made.is_ok();
        let result = match made {
            Err(error) if is_full(&error) => self.release_reserve(),
            other => other,
        };
        {
            let mut reserve = locked(&self.reserve);
            reserve.present = present;
            reserve.making = false;
        }
        if let Err(error) = result {
            self.poison_by("write", RESERVE, &error);
        }
    }
}
