//! The bytes of a journal file: its header, and one frame per round. Pure: bytes in, values out.
//!
//! All numbers are little-endian, all checksums CRC-32C. A file begins with a header block of [`HEADER_BLOCK_BYTES`]:
//!
//! ```text
//! magic "MILEPJNL" · version u32 · file number u64 · epoch u32 · first round u64 · durable u64 · chain u32 ·
//! filled u8 (0: zeros lay ahead, 1: recycled) · CRC u32 of all before
//! ```
//!
//! `chain` is the header CRC of the frame before the first one, `durable` the highest round known durable. The rest
//! of the block is not read. Frames follow, each at a multiple of [`FRAME_ALIGNMENT_BYTES`], so that no write ever
//! touches a sector that holds an earlier frame:
//!
//! ```text
//! magic "MPfr" · epoch u32 · file number u64 · round u64 · durable u64 · chain u32 · entries u32 ·
//! payload bytes u64 · payload CRC u32 · header CRC u32 · entries × (stream 20 · tag u8 · length u32) · payloads
//! ```
//!
//! The header CRC covers the fixed part and the entry table, and begins with the CRC of the file's header: bytes of
//! an earlier use of a recycled file, or forged in a payload, are never taken for a frame. It covers the payload's CRC
//! too, so a chain of header CRCs fixes everything. The file's CRC and version stay where they are in every version.

use bytes::{Buf, BufMut, Bytes};

use crate::{Entry, StreamId};

/// The version of the journal format that this program writes and reads.
pub(super) const FORMAT_VERSION: u32 = 1;
/// Where the first frame begins.
pub(super) const HEADER_BLOCK_BYTES: usize = 4096;
/// Where frames begin: multiples of this.
pub(super) const FRAME_ALIGNMENT_BYTES: usize = 512;

const FILE_MAGIC: [u8; 8] = *b"MILEPJNL";
const FILE_HEADER_BYTES: usize = 49;
const FRAME_MAGIC: u32 = u32::from_le_bytes(*b"MPfr");
const FRAME_FIXED_BYTES: usize = 56;
const ENTRY_BYTES: usize = 25;

/// What a file held before it was taken into use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// Zeros: anything else after the last frame was written by this use.
    Zeros,
    /// Frames of an earlier use.
    Recycled,
}

/// The header of a journal file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileHeader {
    pub(super) number: u64,
    pub(super) epoch: u32,
    pub(super) first_round: u64,
    pub(super) durable: u64,
    pub(super) chain: u32,
    pub(super) filled: Filled,
}

/// What stands where a file header should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderRead {
    /// A header, and its CRC: the salt of the file's frames.
    Good(FileHeader, u32),
    /// The header of another format version.
    Version(u32),
    /// Something else.
    Bad,
}

impl FileHeader {
    /// The header's sector, and the salt for the frames.
    pub(super) fn encode(&self) -> (Vec<u8>, u32) {
        let mut bytes = Vec::with_capacity(FRAME_ALIGNMENT_BYTES);
        bytes.put_slice(&FILE_MAGIC);
        bytes.put_u32_le(FORMAT_VERSION);
        bytes.put_u64_le(self.number);
        bytes.put_u32_le(self.epoch);
        bytes.put_u64_le(self.first_round);
        bytes.put_u64_le(self.durable);
        bytes.put_u32_le(self.chain);
        bytes.put_u8(u8::from(self.filled == Filled::Recycled));
        let crc = crc32c::crc32c(&bytes);
        bytes.put_u32_le(crc);
        debug_assert_eq!(bytes.len(), FILE_HEADER_BYTES);
        bytes.resize(FRAME_ALIGNMENT_BYTES, 0);
        (bytes, crc)
    }

    pub(super) fn decode(bytes: &[u8]) -> HeaderRead {
        let Some(header) = bytes.get(..FILE_HEADER_BYTES) else { return HeaderRead::Bad };
        let (mut fields, mut stored) = header.split_at(FILE_HEADER_BYTES - 4);
        let crc = crc32c::crc32c(fields);
        if fields[..8] != FILE_MAGIC || stored.get_u32_le() != crc {
            return HeaderRead::Bad;
        }
        fields.advance(8);
        let version = fields.get_u32_le();
        if version != FORMAT_VERSION {
            return HeaderRead::Version(version);
        }
        let header = Self {
            number: fields.get_u64_le(),
            epoch: fields.get_u32_le(),
            first_round: fields.get_u64_le(),
            durable: fields.get_u64_le(),
            chain: fields.get_u32_le(),
            filled: if fields.get_u8() == 0 { Filled::Zeros } else { Filled::Recycled },
        };
        HeaderRead::Good(header, crc)
    }
}

/// Which file a frame belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileIdentity {
    pub(super) number: u64,
    pub(super) epoch: u32,
    pub(super) salt: u32,
}

/// Where a frame stands in the order of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FramePlace {
    pub(super) round: u64,
    pub(super) durable: u64,
    pub(super) chain: u32,
}

/// A round too big for the format: more than `u32::MAX` entries or bytes in one entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooBig;

/// Makes the frame of a round in `into`, padded to the alignment, and says its header CRC.
pub(super) fn encode_frame(
    into: &mut Vec<u8>,
    file: FileIdentity,
    place: FramePlace,
    entries: &[Entry],
) -> Result<u32, TooBig> {
    let payload_bytes: u64 = entries.iter().map(|entry| entry.payload.len() as u64).sum();
    into.clear();
    into.put_u32_le(FRAME_MAGIC);
    into.put_u32_le(file.epoch);
    into.put_u64_le(file.number);
    into.put_u64_le(place.round);
    into.put_u64_le(place.durable);
    into.put_u32_le(place.chain);
    into.put_u32_le(u32::try_from(entries.len()).map_err(|_| TooBig)?);
    into.put_u64_le(payload_bytes);
    let payload_crc = entries.iter().fold(0, |crc, entry| crc32c::crc32c_append(crc, &entry.payload));
    into.put_u32_le(payload_crc);
    let crc_at = into.len();
    into.put_u32_le(0);
    for entry in entries {
        into.put_slice(&entry.stream.0);
        into.put_u8(entry.tag);
        into.put_u32_le(u32::try_from(entry.payload.len()).map_err(|_| TooBig)?);
    }
    let crc = header_crc(file.salt, &into[..crc_at], &into[crc_at + 4..]);
    into[crc_at..crc_at + 4].copy_from_slice(&crc.to_le_bytes());
    entries.iter().for_each(|entry| into.put_slice(&entry.payload));
    into.resize(into.len().next_multiple_of(FRAME_ALIGNMENT_BYTES), 0);
    Ok(crc)
}

fn header_crc(salt: u32, fixed: &[u8], table: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c_append(salt, fixed), table)
}

/// A frame whose header is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) place: FramePlace,
    /// The CRC that the next frame chains on.
    pub(super) crc: u32,
    payload_crc: u32,
    entries: Vec<(StreamId, u8, usize)>,
    payload_at: usize,
    payload_end: usize,
}

impl FrameHeader {
    /// The header that begins at `at`, if a good one of this file does.
    pub(super) fn decode(file: FileIdentity, bytes: &[u8], at: usize) -> Option<Self> {
        let frame = bytes.get(at..)?;
        let mut fixed = frame.get(..FRAME_FIXED_BYTES)?;
        if !resembles_frame(file, frame) {
            return None;
        }
        fixed.advance(16);
        let (round, durable, chain) = (fixed.get_u64_le(), fixed.get_u64_le(), fixed.get_u32_le());
        let count = usize::try_from(fixed.get_u32_le()).ok()?;
        let payload_bytes = usize::try_from(fixed.get_u64_le()).ok()?;
        let (payload_crc, crc) = (fixed.get_u32_le(), fixed.get_u32_le());
        let head_bytes = count.checked_mul(ENTRY_BYTES)?.checked_add(FRAME_FIXED_BYTES)?;
        let payload_at = at.checked_add(head_bytes)?;
        let payload_end = payload_at.checked_add(payload_bytes)?;
        let mut table = frame.get(FRAME_FIXED_BYTES..head_bytes)?;
        if payload_end > bytes.len() || header_crc(file.salt, &frame[..FRAME_FIXED_BYTES - 4], table) != crc {
            return None;
        }
        let mut entries = Vec::with_capacity(count);
        let mut total: usize = 0;
        while table.has_remaining() {
            let mut stream = [0; 20];
            table.copy_to_slice(&mut stream);
            let (tag, length) = (table.get_u8(), usize::try_from(table.get_u32_le()).ok()?);
            total = total.checked_add(length)?;
            entries.push((StreamId(stream), tag, length));
        }
        let place = FramePlace { round, durable, chain };
        (total == payload_bytes).then_some(Self { place, crc, payload_crc, entries, payload_at, payload_end })
    }

    /// Where the next frame begins.
    pub(super) fn end(&self) -> usize {
        self.payload_end.next_multiple_of(FRAME_ALIGNMENT_BYTES)
    }

    /// The streams that have entries, each once, in order.
    pub(super) fn streams(&self) -> Vec<StreamId> {
        let mut streams: Vec<StreamId> = self.entries.iter().map(|(stream, ..)| *stream).collect();
        streams.sort_unstable();
        streams.dedup();
        streams
    }

    /// The entries, sharing the file's bytes; `None` when the payload is damaged.
    pub(super) fn entries(&self, bytes: &Bytes) -> Option<Vec<Entry>> {
        if crc32c::crc32c(&bytes[self.payload_at..self.payload_end]) != self.payload_crc {
            return None;
        }
        let mut at = self.payload_at;
        let entry = |(stream, tag, length): &(StreamId, u8, usize)| {
            let payload = bytes.slice(at..at + length);
            at += length;
            Entry { stream: *stream, tag: *tag, payload }
        };
        Some(self.entries.iter().map(entry).collect())
    }
}

/// Whether bytes begin as a frame of this file does, good or not.
pub(super) fn resembles_frame(file: FileIdentity, frame: &[u8]) -> bool {
    let Some(mut start) = frame.get(..16) else { return false };
    start.get_u32_le() == FRAME_MAGIC && start.get_u32_le() == file.epoch && start.get_u64_le() == file.number
}
