//! From one state of a transactional id to the next: what all handlers share.

use std::sync::Arc;

use milepost_model::ProducerId;
use milepost_model::{ProducerEpoch, ProducerIdentity, Timestamp, TransactionEnd};
use milepost_records::MAX_STRING_BYTES;

use crate::effect::WriteMarkers;
use crate::hard::HardTransaction;
use crate::record::{bumped, is_exhausted};
use crate::turn::Turn;
use crate::{Effect, Transaction, TransactionError, TransactionState, TransactionVersion};

/// What becomes of the producer's epoch when its transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Epoch {
    /// The producer ended it and goes on: bumped if its version says so.
    OfVersion,
    /// It is taken from the producer, whatever the version.
    Fence,
}

/// That a name is there and fits a record.
pub(crate) fn check_name(name: &str) -> Result<(), TransactionError> {
    if name.is_empty() || name.len() > MAX_STRING_BYTES {
        return Err(TransactionError::InvalidRequest);
    }
    Ok(())
}

/// The time of the next record of a transactional id. It does not go back, whatever the clock does.
pub(crate) fn next_update(transaction: &Transaction, wall: Timestamp) -> Timestamp {
    wall.max(transaction.last_update)
}

/// Writes down how a transaction ends, and asks for its markers. Says which producer follows: the one that the asker is
/// from now on.
pub(crate) fn prepare(
    turn: &mut Turn<'_>,
    hard: &HardTransaction,
    end: TransactionEnd,
    version: TransactionVersion,
    epoch: Epoch,
    fresh_producer_id: Option<ProducerId>,
) -> Result<ProducerIdentity, TransactionError> {
    let transaction = hard.transaction();
    let present = transaction.producer;
    let next_producer_id = if version.bumps_epoch() && is_exhausted(present.epoch) {
        Some(fresh_producer_id.ok_or(TransactionError::ProducerIdRequired)?)
    } else {
        None
    };
    let producer = if version.bumps_epoch() || epoch == Epoch::Fence { bumped(present) } else { present };
    match (version.bumps_epoch(), epoch) {
        (true, _) => turn.soft.note_last_epoch(hard.id(), producer, Some(present.epoch)),
        (false, Epoch::Fence) => turn.soft.note_last_epoch(hard.id(), producer, None),
        (false, Epoch::OfVersion) => {}
    }
    // Later than all before, so that markers of an earlier transaction can't be taken for those of this one.
    let prepared_at = turn.now.wall.max(transaction.last_update.plus_ms(1));
    let prepared = Transaction {
        producer,
        previous_producer_id: Some(present.id),
        next_producer_id,
        state: TransactionState::Prepare(end),
        last_update: prepared_at,
        // A transaction that is aborted before it began is over at once.
        start: match transaction.state {
            TransactionState::Ongoing => transaction.start,
            _ => Some(prepared_at),
        },
        client_version: version,
        ..Transaction::clone(transaction)
    };
    if transaction.state == TransactionState::Ongoing {
        turn.counts.note_end(end);
    }
    let follows = follower(&prepared);
    ask_for_markers(turn, hard.id(), &prepared, end);
    turn.record(hard.id(), prepared);
    Ok(follows)
}

/// Asks for the markers of a prepared transaction.
pub(crate) fn ask_for_markers(
    turn: &mut Turn<'_>,
    transactional_id: &Arc<str>,
    prepared: &Transaction,
    end: TransactionEnd,
) {
    turn.effects.push(Effect::WriteMarkers(WriteMarkers {
        transactional_id: Arc::clone(transactional_id),
        producer: prepared.producer,
        coordinator_epoch: turn.coordinator_epoch,
        end,
        version: prepared.client_version,
        partitions: Arc::clone(&prepared.partitions),
        prepared_at: prepared.last_update,
    }));
}

/// The producer of a transactional id once its transaction is complete.
pub(crate) fn follower(prepared: &Transaction) -> ProducerIdentity {
    match prepared.next_producer_id {
        Some(id) if prepared.client_version.bumps_epoch() => ProducerIdentity { id, epoch: ProducerEpoch(0) },
        _ => prepared.producer,
    }
}
