//! Why a log refuses.

use milepost_batch::{BatchError, InvalidBatch};
use milepost_model::{Offset, ProducerEpoch};
use milepost_storage::{RoundNumber, StoreError};

/// Why a batch was not appended. Nothing of it was kept.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// This journal holds no such partition.
    #[error("no such partition")]
    UnknownPartition,
    /// The partition is held offline: part of what it acknowledged is damaged.
    #[error("the partition is offline: {reason}")]
    Offline {
        /// What is damaged, for people.
        reason: String,
    },
    /// A journal or segment write failed earlier; nothing will be durable until the next start.
    #[error("the log cannot be written until the next start: {reason}")]
    Poisoned {
        /// What failed, for people.
        reason: String,
    },
    /// The disk is full. Heals when there is room again.
    #[error("the disk is full")]
    DiskFull,
    /// Too much waits to be written; try again.
    #[error("too many bytes wait to be written")]
    Overloaded,
    /// The bytes are not one batch.
    #[error("the bytes are not a batch: {0}")]
    NotABatch(BatchError),
    /// Bytes follow the batch.
    #[error("more than one batch")]
    MoreThanOneBatch,
    /// The batch breaks a rule for clients.
    #[error(transparent)]
    Invalid(InvalidBatch),
    /// The batch does not fit a segment (`segment.bytes`).
    #[error("the batch has {size_bytes} bytes, more than a segment's {segment_bytes}")]
    LargerThanSegment {
        /// Bytes of the batch.
        size_bytes: u64,
        /// `segment.bytes` of the partition.
        segment_bytes: u64,
    },
    /// The producer was started again under a higher epoch.
    #[error("the producer's epoch is older than the known epoch {}", known.0)]
    StaleProducerEpoch {
        /// The known epoch.
        known: ProducerEpoch,
    },
    /// A batch that keeps its offsets begins below the log's end.
    #[error("the batch begins at offset {base_offset}, below the log's end {log_end_offset}")]
    OffsetTaken {
        /// The batch's first offset.
        base_offset: Offset,
        /// Where the log ends.
        log_end_offset: Offset,
    },
    /// A batch of this producer before this one is missing.
    #[error("the batch's first sequence number is not the expected {expected}")]
    OutOfOrderSequence {
        /// The first sequence number that would be accepted.
        expected: i32,
    },
    /// The producer has an open transaction here, and the batch belongs to none.
    #[error("the producer has an open transaction, to which the batch does not belong")]
    OutsideTransaction,
    /// A marker of a transaction coordinator that was replaced by one of a higher epoch.
    #[error("the transaction coordinator's epoch is older than the known epoch {known}")]
    StaleCoordinatorEpoch {
        /// The known epoch.
        known: i32,
    },
}

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// This journal holds no such partition.
    #[error("no such partition")]
    UnknownPartition,
    /// The partition is held offline.
    #[error("the partition is offline: {reason}")]
    Offline {
        /// What is damaged, for people.
        reason: String,
    },
    /// The offset lies below the log start or above the log end.
    #[error("offset {offset} is outside the log, {log_start_offset} to {log_end_offset}")]
    OutOfRange {
        /// What was asked for.
        offset: Offset,
        /// The first offset there is.
        log_start_offset: Offset,
        /// The offset after the last.
        log_end_offset: Offset,
    },
    /// A segment does not hold batches where it should.
    #[error("{file} is damaged at {position}: {reason}")]
    Corrupt {
        /// The segment file.
        file: String,
        /// The position in it, in bytes.
        position: u64,
        /// What is wrong.
        reason: String,
    },
    /// The file could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReadError {
    /// Whether it is worth trying again: the disk is full, and what is durable waits for room to be read from.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Store(StoreError::Full))
    }
}

/// Why the logs could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The checkpoint document is of a version this program does not know.
    #[error("the checkpoint has version {found}; this program reads {expected}")]
    Version {
        /// What was found.
        found: u16,
        /// What is read.
        expected: u16,
    },
    /// The checkpoint document is not what its version says.
    #[error("the checkpoint is damaged: {0}")]
    Checkpoint(&'static str),
    /// Rounds between the checkpoint and the journal's first are missing.
    #[error("the journal goes on at round {}, but the checkpoint ends before round {}", found.0, expected.0)]
    MissingRounds {
        /// The round after the last known.
        expected: RoundNumber,
        /// The round that was found instead.
        found: RoundNumber,
    },
    /// An entry of a good round is not what its tag says.
    #[error("round {} holds a malformed entry: {reason}", round.0)]
    Entry {
        /// The round.
        round: RoundNumber,
        /// What is wrong.
        reason: &'static str,
    },
    /// The segment store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}
