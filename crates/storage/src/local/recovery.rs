//! Reading the journal at start: which rounds are there, what is damaged, what was torn.
//!
//! The rule. A file's rounds end where a later file begins, because a start that cut the journal said so in the header
//! of its new file; whatever an older file holds beyond is dead. Within that, a frame that is not good is damage to
//! acknowledged data when anything later says that its round was durable, and the torn end of an unacknowledged write
//! otherwise. Never decides by guessing at contents: only headers with a good, salted CRC count.

use bytes::Bytes;

use super::core::LiveFile;
use super::frame::{
    FORMAT_VERSION, FRAME_ALIGNMENT_BYTES, FileHeader, FileIdentity, Filled, FrameHeader, HEADER_BLOCK_BYTES,
    HeaderRead, resembles_frame,
};
use super::io_error;
use super::names::{JOURNAL, JournalName};
use super::settings::LossPolicy;
use super::space::Spare;
use crate::file_system::{FileSystem, Listed, OpenMode, read_full, read_whole};
use crate::{AcquireError, DamagedRound, RecoveredRound, Replay, RoundNumber, TornTail};

/// No journal file is bigger; a length above it is not ours.
const MAX_FILE_BYTES: u64 = 8 << 30;

/// A numbered file.
struct Found {
    number: u64,
    size_bytes: u64,
    /// The header and the salt of the frames; `None` when damaged.
    header: Option<(FileHeader, u32)>,
}

/// A good frame that is perhaps not durable, so that it must be written again.
pub(super) struct Frame {
    pub(super) file: u64,
    pub(super) round: u64,
    pub(super) at: usize,
    pub(super) bytes: Bytes,
}

/// What reading found.
#[derive(Default)]
pub(super) struct Recovered {
    pub(super) replay: Replay,
    /// Frames above the durable line.
    pub(super) unproven: Vec<Frame>,
    pub(super) last_round: u64,
    pub(super) chain: u32,
    pub(super) highest_epoch: u32,
    pub(super) highest_number: u64,
    pub(super) files: Vec<LiveFile>,
    pub(super) spares: Vec<Spare>,
    pub(super) highest_spare: u64,
    /// Numbers of files with a damaged header, whose loss was accepted.
    pub(super) unreadable: Vec<u64>,
    /// Round and size of every frame that was read.
    pub(super) sizes: Vec<(u64, u64)>,
}

/// Whether reading goes on with the next file.
#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    Cut,
}

struct Reader<'a> {
    system: &'a dyn FileSystem,
    loss: LossPolicy,
    found: Vec<Found>,
    durable: u64,
    frames: Vec<Frame>,
    recovered: Recovered,
}

/// Reads the journal folder.
pub(super) fn recover(system: &dyn FileSystem, loss: LossPolicy) -> Result<Recovered, AcquireError> {
    let mut reader = Reader {
        system,
        loss,
        found: Vec::new(),
        durable: 0,
        frames: Vec::new(),
        recovered: Recovered::default(),
    };
    reader.find_files()?;
    reader.read_files()?;
    let Reader { durable, frames, mut recovered, .. } = reader;
    recovered.unproven = frames.into_iter().filter(|frame| frame.round > durable).collect();
    Ok(recovered)
}

impl Reader<'_> {
    fn find_files(&mut self) -> Result<(), AcquireError> {
        let listed =
            self.system.list(JOURNAL).map_err(|error| io_error(self.system, "list", JOURNAL, error))?;
        for entry in listed {
            let Listed::File(name) = entry else { continue };
            match JournalName::parse(&name) {
                Some(JournalName::Numbered(number)) => self.find_file(number)?,
                Some(JournalName::Spare(number)) => self.find_spare(number)?,
                Some(name @ JournalName::Temporary(_)) => {
                    let path = name.path();
                    self.system
                        .remove(&path)
                        .map_err(|error| io_error(self.system, "remove", &path, error))?;
                }
                None => {}
            }
        }
        Ok(())
    }

    fn find_file(&mut self, number: u64) -> Result<(), AcquireError> {
        let path = JournalName::Numbered(number).path();
        let failed = |error| io_error(self.system, "read", &path, error);
        let file = self.system.open(&path, OpenMode::Existing).map_err(failed)?;
        let size_bytes = file.length().map_err(failed)?;
        let mut block = vec![0; FRAME_ALIGNMENT_BYTES];
        let count = read_full(&*file, &mut block, 0).map_err(failed)?;
        let header = match FileHeader::decode(&block[..count]) {
            HeaderRead::Good(header, salt) if header.number == number => Some((header, salt)),
            HeaderRead::Version(found) => {
                return Err(AcquireError::Version {
                    found: format!("journal version {found} (in {})", self.system.place(&path)),
                    expected: format!("journal version {FORMAT_VERSION}"),
                });
            }
            _ => None,
        };
        let recovered = &mut self.recovered;
        recovered.highest_number = recovered.highest_number.max(number);
        if let Some((header, _)) = &header {
            recovered.highest_epoch = recovered.highest_epoch.max(header.epoch);
        } else {
            self.refuse(&path, 0, "the file's header is damaged")?;
            self.recovered.unreadable.push(number);
        }
        self.found.push(Found { number, size_bytes, header });
        Ok(())
    }

    fn find_spare(&mut self, number: u64) -> Result<(), AcquireError> {
        let path = JournalName::Spare(number).path();
        let failed = |error| io_error(self.system, "open", &path, error);
        let size_bytes =
            self.system.open(&path, OpenMode::Existing).and_then(|file| file.length()).map_err(failed)?;
        self.recovered.highest_spare = self.recovered.highest_spare.max(number);
        self.recovered.spares.push(Spare { path, size_bytes, filled: Filled::Recycled });
        Ok(())
    }

    /// Damage to acknowledged data: an error, unless it was accepted.
    fn refuse(&self, path: &str, at: usize, reason: &str) -> Result<(), AcquireError> {
        if self.loss == LossPolicy::Accept {
            return Ok(());
        }
        let place = format!("{} at byte {at}", self.system.place(path));
        let reason = format!("{reason}; to give up what follows, start with --accept-loss");
        Err(AcquireError::Corrupt { place, reason })
    }

    /// The round at which the files after this one begin.
    fn limit(&self, index: usize) -> u64 {
        let later = self.found[index + 1..].iter().filter_map(|file| file.header);
        later.map(|(header, _)| header.first_round).min().unwrap_or(u64::MAX)
    }

    fn read_files(&mut self) -> Result<(), AcquireError> {
        let mut next = Next::GoOn;
        let mut begun = false;
        for index in 0..self.found.len() {
            let Some((header, salt)) = self.found[index].header else { continue };
            let (number, size_bytes) = (self.found[index].number, self.found[index].size_bytes);
            let first_round = header.first_round;
            self.recovered.files.push(LiveFile { number, first_round, size_bytes });
            if next == Next::Cut || first_round > self.limit(index) {
                continue;
            }
            if !begun {
                begun = true;
                self.recovered.last_round = first_round.saturating_sub(1);
                self.recovered.chain = header.chain;
            }
            self.durable = self.durable.max(header.durable);
            next = if self.continues(&header)? { self.read_file(index, header, salt)? } else { Next::Cut };
        }
        self.recovered.replay.begins_at = self.recovered.replay_begin();
        Ok(())
    }

    /// Whether a file goes on where reading is.
    fn continues(&self, header: &FileHeader) -> Result<bool, AcquireError> {
        let expected = self.recovered.last_round + 1;
        if header.first_round == expected && header.chain == self.recovered.chain {
            return Ok(true);
        }
        let path = JournalName::Numbered(header.number).path();
        let reason =
            format!("the file begins with round {}, but round {expected} is missing", header.first_round);
        if header.first_round == expected {
            self.refuse(&path, 0, "the file does not continue the one before it")?;
        } else if header.durable >= expected {
            self.refuse(&path, 0, &reason)?;
        }
        Ok(false)
    }

    fn read_file(&mut self, index: usize, header: FileHeader, salt: u32) -> Result<Next, AcquireError> {
        let path = JournalName::Numbered(header.number).path();
        let file = FileIdentity { number: header.number, epoch: header.epoch, salt };
        let failed = |error| io_error(self.system, "read", &path, error);
        let opened = self.system.open(&path, OpenMode::Existing).map_err(failed)?;
        let bytes = Bytes::from(read_whole(&*opened, MAX_FILE_BYTES).map_err(failed)?);
        let limit = self.limit(index);
        let mut at = HEADER_BLOCK_BYTES;
        while self.recovered.last_round + 1 < limit {
            let round = self.recovered.last_round + 1;
            let frame = FrameHeader::decode(file, &bytes, at)
                .filter(|frame| frame.place.round == round && frame.place.chain == self.recovered.chain);
            let Some(frame) = frame else {
                return self.judge_end(index, file, header.filled, &bytes, at, round);
            };
            match frame.entries(&bytes) {
                Some(entries) => {
                    let number = RoundNumber(round);
                    self.recovered.replay.rounds.push(RecoveredRound { number, epoch: file.epoch, entries });
                    let bytes = bytes.slice(at..frame.end().min(bytes.len()));
                    self.frames.push(Frame { file: file.number, round, at, bytes });
                }
                None if self.line(index, file, &bytes, frame.end()) >= round => {
                    let place = format!("{} at byte {at}", self.system.place(&path));
                    let damaged =
                        DamagedRound { number: RoundNumber(round), streams: frame.streams(), place };
                    self.recovered.replay.damaged.push(damaged);
                }
                None => {
                    self.report_torn(&path, at, &bytes[at..frame.end().min(bytes.len())]);
                    return Ok(Next::Cut);
                }
            }
            self.durable = self.durable.max(frame.place.durable);
            self.recovered.last_round = round;
            self.recovered.chain = frame.crc;
            self.recovered.sizes.push((round, (frame.end() - at) as u64));
            at = frame.end();
        }
        Ok(Next::GoOn)
    }

    /// No good frame header stands where the round should: damage, a torn end, or just the end.
    fn judge_end(
        &mut self,
        index: usize,
        file: FileIdentity,
        filled: Filled,
        bytes: &Bytes,
        at: usize,
        round: u64,
    ) -> Result<Next, AcquireError> {
        let path = JournalName::Numbered(file.number).path();
        if self.line(index, file, bytes, at) >= round {
            self.refuse(&path, at, &format!("round {round} is missing, or its header is damaged"))?;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        if filled == Filled::Zeros {
            self.report_torn(&path, at, rest);
        } else if resembles_frame(file, rest) {
            self.report_torn(&path, at, &rest[..FRAME_ALIGNMENT_BYTES.min(rest.len())]);
        }
        Ok(Next::Cut)
    }

    /// The highest round that anything after this place says was durable.
    fn line(&self, index: usize, file: FileIdentity, bytes: &Bytes, from: usize) -> u64 {
        let headers =
            self.found[index + 1..].iter().filter_map(|file| file.header.map(|(header, _)| header.durable));
        let frames = (from..bytes.len())
            .step_by(FRAME_ALIGNMENT_BYTES)
            .filter_map(|at| FrameHeader::decode(file, bytes, at))
            .map(|frame| frame.place.durable);
        headers.chain(frames).max().unwrap_or(0)
    }

    fn report_torn(&mut self, path: &str, at: usize, torn: &[u8]) {
        let bytes = torn.iter().filter(|byte| **byte != 0).count() as u64;
        if bytes > 0 {
            let place = format!("{} at byte {at}", self.system.place(path));
            self.recovered.replay.torn_tail = Some(TornTail { place, bytes });
        }
    }
}

impl Recovered {
    /// The first round that the journal accounts for.
    fn replay_begin(&self) -> RoundNumber {
        let rounds = self.replay.rounds.first().map(|round| round.number);
        let damaged = self.replay.damaged.first().map(|round| round.number);
        rounds.into_iter().chain(damaged).min().unwrap_or(RoundNumber(self.last_round + 1))
    }
}
