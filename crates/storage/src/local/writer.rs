//! Writing rounds: one frame, one write, one sync; and taking the next file into use.

use std::io;
use std::sync::Arc;

use super::core::{Core, LiveFile, locked};
use super::frame::{FileHeader, FileIdentity, FramePlace, HEADER_BLOCK_BYTES, encode_frame};
use super::names::{JOURNAL, JournalName};
use super::recovery::Recovered;
use super::settings::Durability;
use super::space::Spare;
use crate::file_system::{FileHandle, write_all};
use crate::{Entry, RoundNumber};

/// The least size of a file that an engine starts with on a device that is nearly full.
const LEAST_FIRST_FILE_BYTES: u64 = 16 << 10;
/// A frame buffer bigger than this is given back after its round.
const MAX_KEPT_BUFFER_BYTES: usize = 4 << 20;

/// The one who writes the journal. Lives with the caller or on the journal's thread.
pub(super) struct Writer {
    core: Arc<Core>,
    pub(super) file: FileHandle,
    identity: FileIdentity,
    at: u64,
    size_bytes: u64,
    last_round: u64,
    chain: u32,
    buffer: Vec<u8>,
}

impl Writer {
    /// Begins the file of this start: its epoch is durable when this returns.
    pub(super) fn start(core: &Arc<Core>, recovered: &Recovered) -> io::Result<Self> {
        let spare = core.take_spare(LEAST_FIRST_FILE_BYTES, core.settings.first_file_bytes)?;
        // A file whose header is damaged may have held an epoch of its own.
        let epoch =
            recovered.highest_epoch + 1 + u32::try_from(recovered.unreadable.len()).unwrap_or(u32::MAX >> 1);
        let header = FileHeader {
            number: recovered.highest_number + 1,
            epoch: epoch.max(core.settings.least_epoch),
            first_round: recovered.last_round + 1,
            durable: recovered.last_round,
            chain: recovered.chain,
            filled: spare.filled,
        };
        let (file, identity) = activate(core, &spare, header)?;
        Ok(Self {
            core: Arc::clone(core),
            file,
            identity,
            at: HEADER_BLOCK_BYTES as u64,
            size_bytes: spare.size_bytes,
            last_round: recovered.last_round,
            chain: recovered.chain,
            buffer: Vec::new(),
        })
    }

    pub(super) fn epoch(&self) -> u32 {
        self.identity.epoch
    }

    /// Writes the next round and makes it as durable as the settings ask, or says why not; then it must not be used
    /// again.
    pub(super) fn write_round(&mut self, entries: &[Entry]) -> Result<(), String> {
        let round = self.last_round + 1;
        let chain = self.encode(round, entries)?;
        let chain = if self.at + self.buffer.len() as u64 > self.size_bytes {
            self.next_file().map_err(|error| self.reason("begin the file after", &error))?;
            // The frame's file is part of its bytes.
            self.encode(round, entries)?
        } else {
            chain
        };
        write_all(&*self.file, &self.buffer, self.at).map_err(|error| self.reason("write", &error))?;
        if self.core.settings.durability == Durability::Sync {
            self.file.sync_data().map_err(|error| self.reason("sync", &error))?;
        } else {
            *locked(&self.core.unsynced) = Some((Arc::clone(&self.file), round));
        }
        self.at += self.buffer.len() as u64;
        self.last_round = round;
        self.chain = chain;
        let mut progress = locked(&self.core.progress);
        progress.note(round, self.buffer.len() as u64);
        progress.acknowledged = RoundNumber(round);
        if self.core.settings.durability == Durability::Sync {
            progress.durable = round;
        }
        drop(progress);
        self.buffer.shrink_to(MAX_KEPT_BUFFER_BYTES);
        Ok(())
    }

    fn encode(&mut self, round: u64, entries: &[Entry]) -> Result<u32, String> {
        let durable = locked(&self.core.progress).durable;
        let place = FramePlace { round, durable, chain: self.chain };
        encode_frame(&mut self.buffer, self.identity, place, entries)
            .map_err(|_| format!("round {round} has an entry of 4 GiB or more"))
    }

    /// Goes on in a new file, big enough for what the buffer holds. What the old one holds is durable first, so that
    /// the new one's header can say so.
    fn next_file(&mut self) -> io::Result<()> {
        if self.core.settings.durability == Durability::Os {
            self.file.sync_data()?;
            *locked(&self.core.unsynced) = None;
            locked(&self.core.progress).durable = self.last_round;
        }
        let least_bytes = (HEADER_BLOCK_BYTES + self.buffer.len()) as u64;
        let spare = self.core.take_spare(least_bytes, self.core.settings.journal_file_bytes)?;
        let header = FileHeader {
            number: self.identity.number + 1,
            epoch: self.identity.epoch,
            first_round: self.last_round + 1,
            durable: self.last_round,
            chain: self.chain,
            filled: spare.filled,
        };
        (self.file, self.identity) = activate(&self.core, &spare, header)?;
        self.at = HEADER_BLOCK_BYTES as u64;
        self.size_bytes = spare.size_bytes;
        Ok(())
    }

    fn reason(&self, action: &str, error: &io::Error) -> String {
        let path = JournalName::Numbered(self.identity.number).path();
        format!("cannot {action} {}: {error}", self.core.system.place(&path))
    }
}

/// Takes a spare into use: header, sync, name, sync. Only then may frames follow.
fn activate(core: &Core, spare: &Spare, header: FileHeader) -> io::Result<(FileHandle, FileIdentity)> {
    let file = core.open_spare(spare)?;
    let (bytes, salt) = header.encode();
    write_all(&*file, &bytes, 0)?;
    file.sync_data()?;
    core.system.rename(&spare.path, &JournalName::Numbered(header.number).path())?;
    core.system.sync_directory(JOURNAL)?;
    let live =
        LiveFile { number: header.number, first_round: header.first_round, size_bytes: spare.size_bytes };
    locked(&core.progress).files.push_back(live);
    Ok((file, FileIdentity { number: header.number, epoch: header.epoch, salt }))
}
