//! Writing the fields of a batch that only the broker knows, in place.
//!
//! Every function takes one whole batch that [`crate::BatchView::parse`] has accepted and panics on fewer bytes than
//! a header: passing anything else is a mistake in the calling code, never a client's doing.

use std::ops::Range;

use milepost_model::{LeaderEpoch, Offset, Timestamp};

use crate::TimestampType;
use crate::layout::{self, HEADER_BYTES};

/// Writes the base offset and the leader epoch. Both lie outside the checksum, which stays as the client made it.
///
/// # Panics
/// If `batch` is shorter than a header.
pub fn stamp(batch: &mut [u8], base_offset: Offset, epoch: LeaderEpoch) {
    put(batch, layout::BASE_OFFSET, &base_offset.0.to_be_bytes());
    put(batch, layout::LEADER_EPOCH, &epoch.0.to_be_bytes());
}

/// Makes every record's timestamp read as `now`, the broker's time, and renews the checksum.
///
/// # Panics
/// If `batch` is shorter than a header.
pub fn set_log_append_time(batch: &mut [u8], now: Timestamp) {
    set_timestamps(batch, TimestampType::LogAppendTime, now);
}

/// Writes the records' true maximum timestamp, marks the timestamps as the producer's, and renews the checksum.
///
/// # Panics
/// If `batch` is shorter than a header.
pub fn set_max_timestamp(batch: &mut [u8], max_timestamp: Timestamp) {
    set_timestamps(batch, TimestampType::CreateTime, max_timestamp);
}

fn set_timestamps(batch: &mut [u8], timestamp_type: TimestampType, max_timestamp: Timestamp) {
    let attributes =
        i16::from_be_bytes([batch[layout::ATTRIBUTES.start], batch[layout::ATTRIBUTES.start + 1]]);
    let attributes = match timestamp_type {
        TimestampType::CreateTime => attributes & !layout::LOG_APPEND_TIME_BIT,
        TimestampType::LogAppendTime => attributes | layout::LOG_APPEND_TIME_BIT,
    };
    put(batch, layout::ATTRIBUTES, &attributes.to_be_bytes());
    put(batch, layout::MAX_TIMESTAMP, &max_timestamp.0.to_be_bytes());
    renew_crc(batch);
}

/// Writes the checksum of `batch` as it now is.
pub(crate) fn renew_crc(batch: &mut [u8]) {
    let crc = crc32c::crc32c(&batch[layout::CRC_COVERS_FROM..]);
    put(batch, layout::CRC, &crc.to_be_bytes());
}

pub(crate) fn put(batch: &mut [u8], at: Range<usize>, value: &[u8]) {
    assert!(batch.len() >= HEADER_BYTES, "only a parsed batch can be stamped");
    batch[at].copy_from_slice(value);
}
