//! InitProducerId: a producer starts and fences whoever had its transactional id, or goes on after an error (KIP-360).

use std::sync::Arc;

use milepost_model::{ProducerEpoch, ProducerIdentity, Ticket, TransactionEnd};

use crate::hard::HardTransaction;
use crate::record::{bumped, is_exhausted};
use crate::request::{InitProducerId, OpenTransaction, TwoPhaseCommit};
use crate::transition::{Epoch, check_name, next_update, prepare};
use crate::turn::Turn;
use crate::{
    Reply, Transaction, TransactionError, TransactionSettings, TransactionState, TransactionVersion,
};

/// The epoch of a producer's first start.
const FIRST_EPOCH: ProducerEpoch = ProducerEpoch(0);

/// Handles InitProducerId.
pub(crate) fn init_producer_id(turn: &mut Turn<'_>, ticket: Ticket, request: &InitProducerId<'_>) {
    let hard = turn.hard.transaction(request.transactional_id);
    let result = decide(turn, hard, request);
    turn.answer(hard, ticket, Reply::InitProducerId(result));
}

fn decide(
    turn: &mut Turn<'_>,
    hard: Option<&HardTransaction>,
    request: &InitProducerId<'_>,
) -> Result<ProducerIdentity, TransactionError> {
    let timeout_ms = checked_timeout_ms(turn.settings, request)?;
    let Some(hard) = hard else { return create(turn, request, timeout_ms) };
    let transaction = hard.transaction();
    if !request.current.is_none_or(|current| may_be(transaction, current)) {
        return Err(TransactionError::ProducerFenced);
    }
    match transaction.state {
        TransactionState::Prepare(_) => Err(TransactionError::ConcurrentTransactions),
        // Only the present producer can have begun it. (Kafka aborts the transaction for an older one too, which it then
        // turns away.)
        TransactionState::Ongoing
            if request.current.is_some_and(|current| current != transaction.producer) =>
        {
            Err(TransactionError::ProducerFenced)
        }
        TransactionState::Ongoing => {
            // Whoever had the id is fenced by the epoch of the markers. The new producer asks again, and gets one more.
            let version = turn.settings.transaction_version;
            prepare(turn, hard, TransactionEnd::Abort, version, Epoch::Fence, request.fresh_producer_id)?;
            Err(TransactionError::ConcurrentTransactions)
        }
        TransactionState::Empty | TransactionState::Complete(_) => restart(turn, hard, request, timeout_ms),
    }
}

fn checked_timeout_ms(
    settings: &TransactionSettings,
    request: &InitProducerId<'_>,
) -> Result<i32, TransactionError> {
    check_name(request.transactional_id)?;
    let is_two_phase = request.two_phase_commit == TwoPhaseCommit::Yes;
    if is_two_phase && !settings.is_two_phase_commit_enabled {
        return Err(TransactionError::TwoPhaseCommitDisabled);
    }
    if request.open_transaction == OpenTransaction::Keep {
        return Err(TransactionError::KeepPreparedUnsupported);
    }
    if is_two_phase {
        return Ok(Transaction::NO_TIMEOUT_MS);
    }
    if request.timeout_ms <= 0 || request.timeout_ms > settings.max_timeout_ms {
        return Err(TransactionError::InvalidTransactionTimeout);
    }
    Ok(request.timeout_ms)
}

/// Whether a producer that names itself so may be the one of this transactional id. It may also be the one before, if its
/// epochs were used up: then it did not hear that it was given a new id.
fn may_be(transaction: &Transaction, current: ProducerIdentity) -> bool {
    current.id == transaction.producer.id
        || (Some(current.id) == transaction.previous_producer_id && is_exhausted(current.epoch))
}

fn create(
    turn: &mut Turn<'_>,
    request: &InitProducerId<'_>,
    timeout_ms: i32,
) -> Result<ProducerIdentity, TransactionError> {
    let id = request.fresh_producer_id.ok_or(TransactionError::ProducerIdRequired)?;
    let producer = ProducerIdentity { id, epoch: FIRST_EPOCH };
    let transactional_id: Arc<str> = request.transactional_id.into();
    turn.soft.note_last_epoch(&transactional_id, producer, None);
    let transaction = Transaction {
        producer,
        previous_producer_id: Some(id),
        next_producer_id: None,
        timeout_ms,
        state: TransactionState::Empty,
        partitions: Arc::default(),
        last_update: turn.now.wall,
        start: None,
        client_version: TransactionVersion::V0,
    };
    turn.record(&transactional_id, transaction);
    Ok(producer)
}

fn restart(
    turn: &mut Turn<'_>,
    hard: &HardTransaction,
    request: &InitProducerId<'_>,
    timeout_ms: i32,
) -> Result<ProducerIdentity, TransactionError> {
    let transaction = hard.transaction();
    let present = transaction.producer;
    let named = request.current.map(|current| current.epoch);
    let last = turn.soft.last_epoch(hard.id(), present);
    let (producer, last) = if named.is_none_or(|named| named == present.epoch) {
        let producer = if is_exhausted(present.epoch) {
            let id = request.fresh_producer_id.ok_or(TransactionError::ProducerIdRequired)?;
            ProducerIdentity { id, epoch: FIRST_EPOCH }
        } else {
            bumped(present)
        };
        // Without a name it is somebody new: nobody who was there before may take the answer for its own.
        (producer, named)
    } else if named == last {
        // It did not hear the last answer. (Kafka fails here if that answer was the last epoch.)
        (present, last)
    } else {
        return Err(TransactionError::ProducerFenced);
    };
    turn.soft.note_last_epoch(hard.id(), producer, last);
    let next = Transaction {
        producer,
        previous_producer_id: Some(present.id),
        timeout_ms,
        state: TransactionState::Empty,
        partitions: Arc::default(),
        last_update: next_update(transaction, turn.now.wall),
        start: None,
        ..Transaction::clone(transaction)
    };
    turn.record(hard.id(), next);
    Ok(producer)
}
