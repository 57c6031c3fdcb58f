//! A transaction is complete once every marker of it is durable, and not before.

use std::sync::Arc;

use milepost_model::Ticket;

use crate::effect::WriteMarkers;
use crate::hard::HardTransaction;
use crate::transition::{ask_for_markers, follower, next_update};
use crate::turn::Turn;
use crate::{Reply, Transaction, TransactionState};

/// Every marker of a transaction is durable: it is complete. What is of no use any more (the markers were asked for
/// twice, say) is passed over.
pub(crate) fn markers_written(turn: &mut Turn<'_>, ticket: Ticket, written: &WriteMarkers) {
    let hard = turn.hard.transaction(&written.transactional_id);
    if let Some(hard) = hard
        && is_awaited(hard.transaction(), written)
    {
        complete(turn, hard, written);
    }
    turn.answer(hard, ticket, Reply::Noted);
}

/// Whether these are the markers of the present transaction. A producer that keeps its epoch may have had others.
fn is_awaited(transaction: &Transaction, written: &WriteMarkers) -> bool {
    transaction.state == TransactionState::Prepare(written.end)
        && transaction.producer == written.producer
        && transaction.last_update == written.prepared_at
}

fn complete(turn: &mut Turn<'_>, hard: &HardTransaction, written: &WriteMarkers) {
    let prepared = hard.transaction();
    let producer = follower(prepared);
    let last = turn.soft.last_epoch(hard.id(), prepared.producer);
    turn.soft.note_last_epoch(hard.id(), producer, last);
    let complete = Transaction {
        producer,
        previous_producer_id: Some(prepared.producer.id),
        next_producer_id: None,
        state: TransactionState::Complete(written.end),
        partitions: Arc::default(),
        last_update: next_update(prepared, turn.now.wall),
        ..Transaction::clone(prepared)
    };
    turn.record(hard.id(), complete);
}

/// After a load nobody knows which markers were written: all are asked for again.
pub(crate) fn resume(turn: &mut Turn<'_>) {
    for id in turn.hard.transactional_ids() {
        if let Some(hard) = turn.hard.transaction(&id)
            && let TransactionState::Prepare(end) = hard.transaction().state
        {
            ask_for_markers(turn, &id, hard.transaction(), end);
        }
    }
}
