//! Errors of the rooms below, as wire codes. The one place where meaning becomes a number.

use std::borrow::Cow;

use milepost_batch::{BatchError, InvalidBatch, RecordFault};
use milepost_coordinator::Refusal as RuntimeRefusal;
use milepost_groups::GroupError;
use milepost_log::metadata::ProposeError;
use milepost_log::{AppendError, ReadError};
use milepost_model::LeaderEpoch;
use milepost_transactions::TransactionError;
use milepost_wire::ErrorCode;

/// A refusal with what people and clients may be told beside the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) message: Option<Cow<'static, str>>,
    /// Records at fault: their index in the batch, and why.
    pub(crate) records: Vec<(i32, String)>,
}

impl Refusal {
    pub(crate) fn with_message(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: Some(message.into()), records: Vec::new() }
    }
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self { code, message: None, records: Vec::new() }
    }
}

/// KIP-320 fencing. On one node the epoch is the node's; a client that knows a later one has seen another cluster.
pub(crate) fn check_leader_epoch(asked: i32, current: LeaderEpoch) -> Result<(), ErrorCode> {
    match asked {
        none if none < 0 => Ok(()),
        older if older < current.0 => Err(ErrorCode::FencedLeaderEpoch),
        newer if newer > current.0 => Err(ErrorCode::UnknownLeaderEpoch),
        _ => Ok(()),
    }
}

/// What the runtime of the coordinators answered in a shard's stead, as most APIs say it.
pub(crate) fn of_runtime(refusal: RuntimeRefusal) -> ErrorCode {
    match refusal {
        RuntimeRefusal::Loading => ErrorCode::CoordinatorLoadInProgress,
        RuntimeRefusal::NotCoordinator => ErrorCode::NotCoordinator,
        RuntimeRefusal::TimedOut | RuntimeRefusal::NoSpace | RuntimeRefusal::Busy => {
            ErrorCode::CoordinatorNotAvailable
        }
        RuntimeRefusal::FencedProducer => ErrorCode::InvalidProducerEpoch,
        RuntimeRefusal::TooLarge => ErrorCode::UnknownServerError,
    }
}

/// What a coordinator refused.
pub(crate) fn of_group(error: GroupError) -> ErrorCode {
    match error {
        GroupError::InvalidGroupId => ErrorCode::InvalidGroupId,
        GroupError::InvalidSessionTimeout => ErrorCode::InvalidSessionTimeout,
        GroupError::InvalidRequest => ErrorCode::InvalidRequest,
        GroupError::UnknownMemberId => ErrorCode::UnknownMemberId,
        GroupError::FencedInstanceId => ErrorCode::FencedInstanceId,
        GroupError::IllegalGeneration => ErrorCode::IllegalGeneration,
        GroupError::RebalanceInProgress => ErrorCode::RebalanceInProgress,
        GroupError::InconsistentGroupProtocol => ErrorCode::InconsistentGroupProtocol,
        GroupError::MemberIdRequired => ErrorCode::MemberIdRequired,
        GroupError::GroupMaxSizeReached => ErrorCode::GroupMaxSizeReached,
        GroupError::GroupIdNotFound => ErrorCode::GroupIdNotFound,
        GroupError::NonEmptyGroup => ErrorCode::NonEmptyGroup,
        GroupError::GroupSubscribedToTopic => ErrorCode::GroupSubscribedToTopic,
        GroupError::OffsetMetadataTooLarge => ErrorCode::OffsetMetadataTooLarge,
        GroupError::FencedMemberEpoch => ErrorCode::FencedMemberEpoch,
        GroupError::StaleMemberEpoch => ErrorCode::StaleMemberEpoch,
        GroupError::UnreleasedInstanceId => ErrorCode::UnreleasedInstanceId,
        GroupError::UnsupportedAssignor => ErrorCode::UnsupportedAssignor,
        GroupError::InvalidRegularExpression => ErrorCode::InvalidRegularExpression,
        GroupError::UnsupportedVersion => ErrorCode::UnsupportedVersion,
        GroupError::UnstableOffsetCommit => ErrorCode::UnstableOffsetCommit,
    }
}

/// What a coordinator of transactions refused.
pub(crate) fn of_transaction(error: TransactionError) -> ErrorCode {
    match error {
        TransactionError::InvalidRequest => ErrorCode::InvalidRequest,
        TransactionError::InvalidTransactionTimeout => ErrorCode::InvalidTransactionTimeout,
        TransactionError::TwoPhaseCommitDisabled => ErrorCode::TransactionalIdAuthorizationFailed,
        TransactionError::KeepPreparedUnsupported => ErrorCode::UnsupportedVersion,
        TransactionError::InvalidProducerIdMapping => ErrorCode::InvalidProducerIdMapping,
        TransactionError::ProducerFenced => ErrorCode::ProducerFenced,
        TransactionError::ConcurrentTransactions => ErrorCode::ConcurrentTransactions,
        TransactionError::InvalidTransactionState => ErrorCode::InvalidTxnState,
        TransactionError::TransactionAbortable => ErrorCode::TransactionAbortable,
        TransactionError::TransactionalIdNotFound => ErrorCode::TransactionalIdNotFound,
        TransactionError::ProducerIdRequired => {
            unreachable!("the handlers of what needs a producer id take one and ask again")
        }
    }
}

/// As [`of_transaction`], in a version of a protocol that knows PRODUCER_FENCED only from `fenced_from` on.
pub(crate) fn of_transaction_in(version: i16, fenced_from: i16, error: TransactionError) -> ErrorCode {
    match of_transaction(error) {
        ErrorCode::ProducerFenced if version < fenced_from => ErrorCode::InvalidProducerEpoch,
        code => code,
    }
}

/// Bytes that are not a record batch of format 2.
pub(crate) fn of_batch(error: &BatchError) -> Refusal {
    let code = match error {
        BatchError::Truncated { .. } | BatchError::BadLength(_) => ErrorCode::CorruptMessage,
        BatchError::UnsupportedMagic(_) | BatchError::Record { .. } => ErrorCode::InvalidRecord,
        BatchError::UnknownCodec(_) | BatchError::Undecodable { .. } => ErrorCode::UnknownServerError,
        BatchError::DecompressesTooLarge { .. } => ErrorCode::MessageTooLarge,
    };
    Refusal::with_message(code, error.to_string())
}

/// A batch that breaks a rule for clients.
fn of_invalid_batch(error: &InvalidBatch) -> Refusal {
    let code = match error {
        InvalidBatch::Crc => ErrorCode::CorruptMessage,
        InvalidBatch::TooLarge { .. } | InvalidBatch::DecompressesTooLarge { .. } => {
            ErrorCode::MessageTooLarge
        }
        InvalidBatch::UnknownCodec(_) | InvalidBatch::Undecodable { .. } => ErrorCode::UnknownServerError,
        InvalidBatch::Timestamps(_) => ErrorCode::InvalidTimestamp,
        InvalidBatch::BaseOffset(_)
        | InvalidBatch::Counts { .. }
        | InvalidBatch::Control
        | InvalidBatch::NoSequence
        | InvalidBatch::Malformed { .. }
        | InvalidBatch::Records(_) => ErrorCode::InvalidRecord,
    };
    let mut refusal = Refusal::with_message(code, error.to_string());
    if let InvalidBatch::Records(faults) | InvalidBatch::Timestamps(faults) = error {
        let fault =
            |fault: &RecordFault| (i32::try_from(fault.index).unwrap_or(i32::MAX), fault.reason.to_string());
        refusal.records = faults.iter().map(fault).collect();
    }
    refusal
}

/// An append that was refused.
pub(crate) fn of_append(error: &AppendError) -> Refusal {
    let code = match error {
        AppendError::NotABatch(error) => return of_batch(error),
        AppendError::Invalid(error) => return of_invalid_batch(error),
        AppendError::UnknownPartition => ErrorCode::NotLeaderOrFollower,
        AppendError::Offline { .. } | AppendError::Poisoned { .. } | AppendError::DiskFull => {
            ErrorCode::KafkaStorageError
        }
        // Kafka has no word for "too busy"; this one makes every producer wait and try again.
        AppendError::Overloaded => ErrorCode::NotEnoughReplicas,
        AppendError::MoreThanOneBatch | AppendError::OffsetTaken { .. } => ErrorCode::InvalidRecord,
        AppendError::LargerThanSegment { .. } => ErrorCode::RecordListTooLarge,
        AppendError::StaleProducerEpoch { .. } => ErrorCode::InvalidProducerEpoch,
        AppendError::OutOfOrderSequence { .. } => ErrorCode::OutOfOrderSequenceNumber,
        AppendError::OutsideTransaction => ErrorCode::InvalidTxnState,
        AppendError::StaleCoordinatorEpoch { .. } => ErrorCode::TransactionCoordinatorFenced,
    };
    Refusal::with_message(code, error.to_string())
}

/// A change of the metadata that was refused.
pub(crate) fn of_proposal(error: &ProposeError) -> Refusal {
    let code = match error {
        ProposeError::Append(error) => return of_append(error),
        // What it was decided on is being changed by another request; admin clients try again on this code.
        ProposeError::Invalid(_) | ProposeError::Busy => ErrorCode::NotController,
        ProposeError::TooLong(_) | ProposeError::TooLarge => ErrorCode::InvalidRequest,
    };
    Refusal::with_message(code, error.to_string())
}

/// A read that was refused.
pub(crate) fn of_read(error: &ReadError) -> ErrorCode {
    match error {
        ReadError::UnknownPartition => ErrorCode::NotLeaderOrFollower,
        ReadError::Offline { .. } | ReadError::Store(_) => ErrorCode::KafkaStorageError,
        ReadError::OutOfRange { .. } => ErrorCode::OffsetOutOfRange,
        ReadError::Corrupt { .. } => ErrorCode::CorruptMessage,
    }
}
