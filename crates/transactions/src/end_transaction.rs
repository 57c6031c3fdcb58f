//! EndTxn: a producer commits or aborts. The answer says that it is decided; the markers follow.
//!
//! Up to EndTxn version 4 a producer keeps its epoch, and cannot be told whether it speaks of its last transaction or of
//! the present one. From version 5 on (KIP-890) every end bumps the epoch, so that one who names the epoch before is one
//! who did not hear the answer.

use milepost_model::{ProducerIdentity, Ticket, TransactionEnd};

use crate::hard::HardTransaction;
use crate::record::{bumped, is_exhausted};
use crate::request::EndTransaction;
use crate::transition::{Epoch, check_name, follower, prepare};
use crate::turn::Turn;
use crate::{Reply, Transaction, TransactionError, TransactionState, TransactionVersion};

/// Handles EndTxn.
pub(crate) fn end_transaction(turn: &mut Turn<'_>, ticket: Ticket, request: &EndTransaction<'_>) {
    let hard = turn.hard.transaction(request.transactional_id);
    let result = decide(turn, hard, request);
    turn.answer(hard, ticket, Reply::EndTransaction(result));
}

/// What an EndTxn that is not refused leads to.
enum Decision {
    /// The transaction ends now.
    Prepare,
    /// It has ended so already.
    IsEnded,
}

fn decide(
    turn: &mut Turn<'_>,
    hard: Option<&HardTransaction>,
    request: &EndTransaction<'_>,
) -> Result<ProducerIdentity, TransactionError> {
    check_name(request.transactional_id)?;
    let hard = hard.ok_or(TransactionError::InvalidProducerIdMapping)?;
    let version = request.version.min(turn.settings.transaction_version);
    let transaction = hard.transaction();
    let decision = if version.bumps_epoch() {
        with_bumped_epochs(transaction, request)?
    } else {
        with_kept_epochs(transaction, request)?
    };
    match decision {
        Decision::IsEnded => Ok(follower(transaction)),
        Decision::Prepare => {
            // Clients before KIP-890 have version 0, whatever version the records have.
            let version = if version.bumps_epoch() { version } else { TransactionVersion::V0 };
            prepare(turn, hard, request.end, version, Epoch::OfVersion, request.fresh_producer_id)
        }
    }
}

fn with_kept_epochs(
    transaction: &Transaction,
    request: &EndTransaction<'_>,
) -> Result<Decision, TransactionError> {
    if transaction.producer.id != request.producer.id {
        return Err(TransactionError::InvalidProducerIdMapping);
    }
    if transaction.producer.epoch != request.producer.epoch {
        return Err(TransactionError::ProducerFenced);
    }
    match transaction.state {
        TransactionState::Ongoing => Ok(Decision::Prepare),
        TransactionState::Complete(end) if end == request.end => Ok(Decision::IsEnded),
        TransactionState::Prepare(end) if end == request.end => Err(TransactionError::ConcurrentTransactions),
        TransactionState::Empty | TransactionState::Complete(_) | TransactionState::Prepare(_) => {
            Err(TransactionError::InvalidTransactionState)
        }
    }
}

/// Which of its epochs a producer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    /// The present one.
    Present,
    /// The one before the last end of a transaction: it did not hear the answer.
    BeforeLastEnd,
}

fn with_bumped_epochs(
    transaction: &Transaction,
    request: &EndTransaction<'_>,
) -> Result<Decision, TransactionError> {
    let named = named(transaction, request.producer)?;
    match (transaction.state, named) {
        (TransactionState::Ongoing, _) => Ok(Decision::Prepare),
        // A producer may abort what it never began: it may have written to a partition that was not added.
        (TransactionState::Empty | TransactionState::Complete(_), Named::Present)
            if request.end == TransactionEnd::Abort =>
        {
            Ok(Decision::Prepare)
        }
        (TransactionState::Complete(end), Named::BeforeLastEnd) if end == request.end => {
            Ok(Decision::IsEnded)
        }
        (TransactionState::Prepare(end), _) if end == request.end => {
            Err(TransactionError::ConcurrentTransactions)
        }
        (TransactionState::Empty | TransactionState::Complete(_) | TransactionState::Prepare(_), _) => {
            Err(TransactionError::InvalidTransactionState)
        }
    }
}

/// Finds out which of its epochs a producer names, or that it is none that counts in this state.
fn named(transaction: &Transaction, asker: ProducerIdentity) -> Result<Named, TransactionError> {
    let present = transaction.producer;
    // An end by a client without KIP-890 bumps no epoch, so the one before is that of a fenced producer. (Kafka does not
    // look, and hands such a one the present producer's identity.)
    let is_bumped = transaction.client_version.bumps_epoch();
    let is_bump = is_bumped && asker != present && bumped(asker).epoch == present.epoch;
    let is_new_id = is_bumped
        && Some(asker.id) == transaction.previous_producer_id
        && asker.id != present.id
        && is_exhausted(asker.epoch)
        && present.epoch.0 == 0;
    if asker.id != present.id && !is_new_id {
        return Err(TransactionError::InvalidProducerIdMapping);
    }
    match transaction.state {
        TransactionState::Prepare(_) if is_bump => Ok(Named::BeforeLastEnd),
        TransactionState::Complete(_) if is_bump || is_new_id => Ok(Named::BeforeLastEnd),
        TransactionState::Ongoing | TransactionState::Empty | TransactionState::Complete(_)
            if asker == present =>
        {
            Ok(Named::Present)
        }
        _ => Err(TransactionError::ProducerFenced),
    }
}
