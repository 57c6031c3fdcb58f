//! Where each field of a batch header lies, and what the attribute bits mean.

use std::ops::Range;

/// Bytes of a batch before its records.
pub const HEADER_BYTES: usize = 61;

/// Bytes of the base offset and length fields, which the length field does not count.
pub(crate) const LENGTH_PREFIX_BYTES: usize = 12;

/// The only record format this version reads and writes.
pub(crate) const MAGIC: i8 = 2;

pub(crate) const BASE_OFFSET: Range<usize> = 0..8;
pub(crate) const LENGTH: Range<usize> = 8..12;
pub(crate) const LEADER_EPOCH: Range<usize> = 12..16;
pub(crate) const MAGIC_AT: usize = 16;
pub(crate) const CRC: Range<usize> = 17..21;
/// The checksum covers everything from here to the batch's end.
pub(crate) const CRC_COVERS_FROM: usize = 21;
pub(crate) const ATTRIBUTES: Range<usize> = 21..23;
pub(crate) const LAST_OFFSET_DELTA: Range<usize> = 23..27;
pub(crate) const BASE_TIMESTAMP: Range<usize> = 27..35;
pub(crate) const MAX_TIMESTAMP: Range<usize> = 35..43;
pub(crate) const PRODUCER_ID: Range<usize> = 43..51;
pub(crate) const PRODUCER_EPOCH: Range<usize> = 51..53;
pub(crate) const BASE_SEQUENCE: Range<usize> = 53..57;
pub(crate) const RECORD_COUNT: Range<usize> = 57..61;

pub(crate) const CODEC_MASK: i16 = 0b111;
pub(crate) const LOG_APPEND_TIME_BIT: i16 = 1 << 3;
pub(crate) const TRANSACTIONAL_BIT: i16 = 1 << 4;
pub(crate) const CONTROL_BIT: i16 = 1 << 5;
pub(crate) const DELETE_HORIZON_BIT: i16 = 1 << 6;

/// What the format writes for "no producer", "no epoch", "no sequence" and "no timestamp".
pub(crate) const NONE: i8 = -1;

/// Whose clock the timestamps of a batch are from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimestampType {
    /// The producer's: each record has its own.
    #[default]
    CreateTime,
    /// The broker's at the append: every record reads as the batch's maximum timestamp.
    LogAppendTime,
}
