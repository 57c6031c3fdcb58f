//! The map of a parallel consumer: it commits the lowest offset that is not done, and beside it which of those behind are.
//!
//! The format is that of confluentinc/parallel-consumer, classes `OffsetEncoding`, `EncodedOffsetPair`, `OffsetBitSet` and
//! `OffsetRunLength`: a byte that names the encoding, then bits or lengths of runs, plain or as a Zstandard frame. The first
//! bit or run is about the committed offset itself. A map is only believed if it is whole: a text of somebody else may begin
//! with the same byte, and a forged map would make every record look done.

use milepost_batch::Codec;
use milepost_model::Offset;

/// How large a map may become when it is decompressed: two million records between the offset and the last that is done.
const MAP_MAX_BYTES: usize = 256 << 10;
/// How many ranges of done records are kept to be shown; of further ones only the number is.
pub const RANGES_MAX: usize = 1000;

/// Which of the records from the committed offset on are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneMap {
    /// How it is written, by the name that the consumer has for it.
    pub encoding: &'static str,
    /// The committed offset.
    pub base: Offset,
    /// The offset after the last that the map speaks of; whatever comes then is not done.
    pub end: Offset,
    /// How many are done.
    pub done: i64,
    /// The first of the ranges that are done, in order; at most [`RANGES_MAX`].
    pub ranges: Vec<DoneRange>,
    /// How many ranges there are besides.
    pub more_ranges: usize,
}

/// Records in a row that are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoneRange {
    /// The first.
    pub first: Offset,
    /// The last.
    pub last: Offset,
}

impl DoneMap {
    /// How many records are not done, of a log that ends there. `None` where the map speaks of records behind that end: it was
    /// made of another log, or is forged.
    #[must_use]
    pub fn remaining(&self, log_end: Offset) -> Option<i64> {
        (self.end <= log_end).then_some(log_end.0 - self.base.0 - self.done)
    }
}

/// How the body is written.
#[derive(Clone, Copy)]
enum Body {
    Bits(Width),
    Runs(Width),
}

/// Of the numbers in it: the first version of the format had too short ones.
#[derive(Clone, Copy)]
enum Width {
    Short,
    Int,
}

/// Reads the bytes of a map. `None` if they are none.
pub(super) fn decode(base: Offset, bytes: &[u8]) -> Option<DoneMap> {
    let (magic, body) = bytes.split_first()?;
    let (encoding, kind, codec) = match magic {
        b'l' => ("BitSet", Body::Bits(Width::Short), Codec::None),
        b'a' => ("BitSetCompressed", Body::Bits(Width::Short), Codec::Zstd),
        b'n' => ("RunLength", Body::Runs(Width::Short), Codec::None),
        b'J' => ("RunLengthCompressed", Body::Runs(Width::Short), Codec::Zstd),
        b'o' => ("BitSetV2", Body::Bits(Width::Int), Codec::None),
        b's' => ("BitSetV2Compressed", Body::Bits(Width::Int), Codec::Zstd),
        b'e' => ("RunLengthV2", Body::Runs(Width::Int), Codec::None),
        b'p' => ("RunLengthV2Compressed", Body::Runs(Width::Int), Codec::Zstd),
        _ => return None,
    };
    let body = codec.decompress(body, MAP_MAX_BYTES).ok()?;
    let mut collected = Collected::new(encoding, base);
    match kind {
        Body::Bits(width) => read_bits(&body, width, &mut collected)?,
        Body::Runs(width) => read_runs(&body, width, &mut collected)?,
    }
    Some(collected.map)
}

impl Width {
    /// Takes a number off the front; `None` if there is none, or a negative one.
    fn take(self, bytes: &[u8]) -> Option<(i64, &[u8])> {
        let (number, rest) = match self {
            Self::Short => {
                let (head, rest) = bytes.split_first_chunk()?;
                (i64::from(i16::from_be_bytes(*head)), rest)
            }
            Self::Int => {
                let (head, rest) = bytes.split_first_chunk()?;
                (i64::from(i32::from_be_bytes(*head)), rest)
            }
        };
        (number >= 0).then_some((number, rest))
    }
}

/// The number of bits, the bits, lowest first, and one byte that the consumer leaves empty.
fn read_bits(body: &[u8], width: Width, collected: &mut Collected) -> Option<()> {
    let (count, bits) = width.take(body)?;
    let count = usize::try_from(count).ok()?;
    let (bits, spare) = bits.split_at_checked(count.div_ceil(8))?;
    if spare != [0] {
        return None;
    }
    let is_done = |index: usize| bits.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
    if (count..bits.len() * 8).any(is_done) {
        return None;
    }
    (0..count).try_for_each(|index| collected.add(1, if is_done(index) { Mark::Done } else { Mark::Open }))
}

/// Lengths of runs: not done, done, not done, …
fn read_runs(mut body: &[u8], width: Width, collected: &mut Collected) -> Option<()> {
    let mut mark = Mark::Open;
    if body.is_empty() {
        return None;
    }
    while !body.is_empty() {
        let (length, rest) = width.take(body)?;
        collected.add(length, mark)?;
        mark = if mark == Mark::Open { Mark::Done } else { Mark::Open };
        body = rest;
    }
    Some(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Open,
    Done,
}

/// A map that grows at its end.
struct Collected {
    map: DoneMap,
    before: Mark,
}

impl Collected {
    fn new(encoding: &'static str, base: Offset) -> Self {
        let map = DoneMap { encoding, base, end: base, done: 0, ranges: Vec::new(), more_ranges: 0 };
        Self { map, before: Mark::Open }
    }

    /// `None` where offsets would end.
    fn add(&mut self, count: i64, mark: Mark) -> Option<()> {
        if count == 0 {
            return Some(());
        }
        let first = self.map.end;
        self.map.end = Offset(first.0.checked_add(count)?);
        if mark == Mark::Done {
            self.map.done += count;
            let last = Offset(self.map.end.0 - 1);
            let kept = self.map.ranges.len();
            match (self.before, self.map.ranges.last_mut()) {
                // One of those that are only counted grows in silence.
                (Mark::Done, _) if self.map.more_ranges > 0 => {}
                (Mark::Done, Some(range)) => range.last = last,
                _ if kept == RANGES_MAX => self.map.more_ranges += 1,
                _ => self.map.ranges.push(DoneRange { first, last }),
            }
        }
        self.before = mark;
        Some(())
    }
}
