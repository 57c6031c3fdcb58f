//! Whether a batch from a client may be appended to a partition's log, and what of its header must change.
//!
//! The checks and their order are those of Kafka's log validator. Two things differ, because batches are stored as they
//! came and never encoded anew:
//!
//! - A **compressed** batch is opened only where a record must be read: on a compacted topic (every record needs a
//!   key), where timestamps may be too old (`message.timestamp.before.max.ms` is set), and to name the records when
//!   the header's maximum timestamp is out of range. Otherwise its header is believed, so a stream that cannot be
//!   decoded, or a maximum timestamp that is wrong, is found by its readers. Kafka decompresses always.
//! - Offset deltas that are not 0, 1, 2, … are refused where Kafka rebuilds a compressed batch silently.

use milepost_model::{LeaderEpoch, Offset, Timestamp};

use crate::layout::NONE;
use crate::{
    BatchError, BatchView, Codec, Malformed, TimestampType, set_log_append_time, set_max_timestamp, stamp,
};

/// How many failing records one refusal lists at most; those behind are only not named.
pub const MAX_RECORD_FAULTS: usize = 10_000;

/// The timestamp that means "none".
const NO_TIMESTAMP: Timestamp = Timestamp(NONE as i64);

/// What a topic and the moment ask of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendRules {
    /// `max.message.bytes`: the whole batch, header included, as compressed as it is.
    pub max_message_bytes: usize,
    /// Whether every record needs a key.
    pub keys: KeyRule,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// How far a producer's timestamps may lie from `now`.
    pub timestamps: TimestampRange,
    /// The broker's time.
    pub now: Timestamp,
}

/// Whether every record needs a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyRule {
    /// No.
    #[default]
    Optional,
    /// Yes: `cleanup.policy` contains `compact`.
    Required,
}

/// How far a producer's timestamps may lie from the broker's time. `None`: as far as they like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimestampRange {
    /// `message.timestamp.before.max.ms`; Kafka's default, 2^63−1, is `None` here.
    pub before_max_ms: Option<i64>,
    /// `message.timestamp.after.max.ms`.
    pub after_max_ms: Option<i64>,
}

impl TimestampRange {
    fn contains(self, timestamp: Timestamp, now: Timestamp) -> bool {
        let early_ms = now.0.saturating_sub(timestamp.0);
        let late_ms = timestamp.0.saturating_sub(now.0);
        self.before_max_ms.is_none_or(|max| early_ms <= max)
            && self.after_max_ms.is_none_or(|max| late_ms <= max)
    }
}

/// A batch that may be appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the header may have to change before the append"]
pub struct ValidBatch {
    /// How many records, and so offsets, it takes.
    pub record_count: i32,
    /// Its maximum timestamp once [`ValidBatch::stamp`] has run; −1 when no record has one.
    pub max_timestamp: Timestamp,
    /// What must be written into the header.
    pub change: HeaderChange,
}

/// What of a header must change before the append, besides offset and epoch. Anything but `Keep` renews the checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderChange {
    /// Nothing.
    Keep,
    /// The maximum timestamp was not that of the records, or the batch claimed to carry the broker's time.
    MaxTimestamp,
    /// The topic's records carry the broker's time.
    LogAppendTime,
}

impl ValidBatch {
    /// Makes the bytes that were validated those that are stored: header changes, base offset, leader epoch.
    ///
    /// # Panics
    /// If `batch` is shorter than a header, so not the batch that was validated.
    pub fn stamp(&self, batch: &mut [u8], base_offset: Offset, epoch: LeaderEpoch) {
        match self.change {
            HeaderChange::Keep => {}
            HeaderChange::MaxTimestamp => set_max_timestamp(batch, self.max_timestamp),
            HeaderChange::LogAppendTime => set_log_append_time(batch, self.max_timestamp),
        }
        stamp(batch, base_offset, epoch);
    }

    /// The broker's time if the records now carry it, which a produce answer names.
    #[must_use]
    pub fn log_append_time(&self) -> Option<Timestamp> {
        (self.change == HeaderChange::LogAppendTime).then_some(self.max_timestamp)
    }
}

/// Why a batch may not be appended. In brackets: the code that Kafka answers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBatch {
    /// \[87\] The base offset of a producer's batch is 0.
    #[error("the base offset is {0}, a producer's must be 0")]
    BaseOffset(Offset),
    /// \[10\] Larger than `max.message.bytes`.
    #[error("the batch takes {size_bytes} bytes, more than the {max_bytes} allowed")]
    TooLarge {
        /// The whole batch.
        size_bytes: usize,
        /// The topic's bound.
        max_bytes: usize,
    },
    /// \[2\] The bytes are not those the checksum was made of.
    #[error("the checksum does not match the batch")]
    Crc,
    /// \[−1\] The attributes name a codec that does not exist.
    #[error("compression codec number {0} does not exist")]
    UnknownCodec(u8),
    /// \[87\] The record count is not above 0, or not the span of the offsets.
    #[error("the record count {record_count} does not fit the last offset delta {last_offset_delta}")]
    Counts {
        /// As the header has it.
        record_count: i32,
        /// As the header has it.
        last_offset_delta: i32,
    },
    /// \[87\] Only coordinators write control batches.
    #[error("clients cannot write control batches")]
    Control,
    /// \[87\] A batch with a producer id needs a sequence number.
    #[error("the batch has a producer id but no sequence number")]
    NoSequence,
    /// \[−1\] The checksum is right, but the compressed part cannot be decoded.
    #[error("the records cannot be decompressed with {codec}: {reason}")]
    Undecodable {
        /// The codec of the batch.
        codec: Codec,
        /// What the decoder said.
        reason: String,
    },
    /// \[10\] The records decompress to more than [`crate::MAX_DECOMPRESSED_BYTES`]. Kafka's bound is a setting of 2 GiB,
    /// `max.decompressed.message.bytes`.
    #[error("the records decompress to more than {max_bytes} bytes")]
    DecompressesTooLarge {
        /// The bound.
        max_bytes: usize,
    },
    /// \[87\] A record is not what the format says.
    #[error("record {index} is malformed: {reason}")]
    Malformed {
        /// Which record of the batch, from 0.
        index: u32,
        /// What is wrong with it.
        reason: Malformed,
    },
    /// \[87\] Records without a key on a compacted topic, and nothing worse.
    #[error("{} records have no key, which a compacted topic needs", .0.len())]
    Records(Vec<RecordFault>),
    /// \[32\] At least one record has a timestamp that the topic refuses; others may lack a key.
    #[error("the batch has records whose timestamp the topic refuses")]
    Timestamps(Vec<RecordFault>),
}

/// One record that the topic refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordFault {
    /// Which record of the batch, from 0.
    pub index: u32,
    /// Why.
    pub reason: RecordFaultReason,
}

/// Why a topic refuses a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordFaultReason {
    /// The topic is compacted and the record has no key.
    #[error("the topic is compacted and the record has no key")]
    NullKey,
    /// The producer's time is too far from the broker's.
    #[error("timestamp {0:?} is out of range")]
    TimestampOutOfRange(Timestamp),
    /// Only a broker may say that a timestamp is the broker's.
    #[error("the batch claims to carry the broker's time")]
    TimestampType,
}

/// Checks a client's batch against Kafka's rules for an append, in Kafka's order.
///
/// Sequence numbers against the producer's earlier ones, `segment.bytes` and zstd in old Produce versions are the
/// callers' business.
///
/// # Errors
/// [`InvalidBatch`]; nothing may be appended then.
pub fn validate_client_batch(batch: &BatchView<'_>, rules: &AppendRules) -> Result<ValidBatch, InvalidBatch> {
    check_header(batch, rules)?;
    let max_timestamp =
        if must_open(batch, rules)? { check_records(batch, rules)? } else { batch.max_timestamp() };
    let record_count = batch.record_count();
    Ok(match rules.timestamp_type {
        TimestampType::LogAppendTime => {
            ValidBatch { record_count, max_timestamp: rules.now, change: HeaderChange::LogAppendTime }
        }
        TimestampType::CreateTime => {
            let kept =
                batch.timestamp_type() == TimestampType::CreateTime && batch.max_timestamp() == max_timestamp;
            let change = if kept { HeaderChange::Keep } else { HeaderChange::MaxTimestamp };
            ValidBatch { record_count, max_timestamp, change }
        }
    })
}

fn check_header(batch: &BatchView<'_>, rules: &AppendRules) -> Result<(), InvalidBatch> {
    if batch.base_offset() != Offset::ZERO {
        return Err(InvalidBatch::BaseOffset(batch.base_offset()));
    }
    if batch.size_bytes() > rules.max_message_bytes {
        let (size_bytes, max_bytes) = (batch.size_bytes(), rules.max_message_bytes);
        return Err(InvalidBatch::TooLarge { size_bytes, max_bytes });
    }
    if !batch.crc_matches() {
        return Err(InvalidBatch::Crc);
    }
    let (record_count, last_offset_delta) = (batch.record_count(), batch.last_offset_delta());
    if record_count <= 0 || last_offset_delta != record_count - 1 {
        return Err(InvalidBatch::Counts { record_count, last_offset_delta });
    }
    if batch.is_control() {
        return Err(InvalidBatch::Control);
    }
    if batch.producer().is_some() && batch.base_sequence().is_none() {
        return Err(InvalidBatch::NoSequence);
    }
    Ok(())
}

/// Whether the answer needs more than the header. See the head of this file for the choice.
fn must_open(batch: &BatchView<'_>, rules: &AppendRules) -> Result<bool, InvalidBatch> {
    if batch.codec().map_err(refusal)? == Codec::None || rules.keys == KeyRule::Required {
        return Ok(true);
    }
    if timestamp_fault(batch.max_timestamp(), batch, rules).is_some() {
        return Ok(true);
    }
    Ok(rules.timestamp_type == TimestampType::CreateTime
        && batch.timestamp_type() == TimestampType::CreateTime
        && rules.timestamps.before_max_ms.is_some())
}

/// Reads every record. Returns their maximum timestamp.
///
/// That offset deltas are 0, 1, 2, … needs no look here: as many of them as the header's span has offsets, each above
/// the one before and none outside the span, which the reader insists on, leave no other choice.
fn check_records(batch: &BatchView<'_>, rules: &AppendRules) -> Result<Timestamp, InvalidBatch> {
    let records = batch.records().map_err(refusal)?;
    let mut faults = Vec::new();
    let mut any_timestamp_fault = false;
    let mut max_timestamp = NO_TIMESTAMP;
    for (index, record) in (0u32..).zip(&records) {
        let record = record.map_err(refusal)?;
        max_timestamp = max_timestamp.max(record.timestamp);
        let reason = if rules.keys == KeyRule::Required && record.key.is_none() {
            Some(RecordFaultReason::NullKey)
        } else {
            timestamp_fault(record.timestamp, batch, rules)
        };
        if let Some(reason) = reason {
            any_timestamp_fault |= reason != RecordFaultReason::NullKey;
            if faults.len() < MAX_RECORD_FAULTS {
                faults.push(RecordFault { index, reason });
            }
        }
    }
    match (faults.is_empty(), any_timestamp_fault) {
        (true, _) => Ok(max_timestamp),
        (false, false) => Err(InvalidBatch::Records(faults)),
        (false, true) => Err(InvalidBatch::Timestamps(faults)),
    }
}

/// What is wrong with a timestamp. A batch that claims the broker's time passes on a topic of producers' time as long
/// as that time is in range; the claim is then taken away.
fn timestamp_fault(
    timestamp: Timestamp,
    batch: &BatchView<'_>,
    rules: &AppendRules,
) -> Option<RecordFaultReason> {
    if rules.timestamp_type == TimestampType::CreateTime && timestamp != NO_TIMESTAMP {
        let in_range = rules.timestamps.contains(timestamp, rules.now);
        return (!in_range).then_some(RecordFaultReason::TimestampOutOfRange(timestamp));
    }
    (batch.timestamp_type() == TimestampType::LogAppendTime).then_some(RecordFaultReason::TimestampType)
}

fn refusal(error: BatchError) -> InvalidBatch {
    match error {
        BatchError::UnknownCodec(number) => InvalidBatch::UnknownCodec(number),
        BatchError::Undecodable { codec, reason } => InvalidBatch::Undecodable { codec, reason },
        BatchError::DecompressesTooLarge { max_bytes } => InvalidBatch::DecompressesTooLarge { max_bytes },
        BatchError::Record { index, reason } => InvalidBatch::Malformed { index, reason },
        BatchError::Truncated { .. } | BatchError::BadLength(_) | BatchError::UnsupportedMagic(_) => {
            unreachable!("a batch that was parsed is whole and of format 2")
        }
    }
}
