//! What administrators ask about transactions: DescribeTransactions, ListTransactions.

use std::sync::Arc;

use milepost_model::{DependsOn, Ticket};

use crate::hard::HardTransaction;
use crate::request::{DescribeTransaction, ListTransactions};
use crate::turn::Turn;
use crate::{DescribedTransaction, ListedTransaction, Reply, Transaction, TransactionError};

/// Handles DescribeTransactions for one transactional id.
pub(crate) fn describe(turn: &mut Turn<'_>, ticket: Ticket, request: &DescribeTransaction<'_>) {
    let hard = turn.hard.transaction(request.transactional_id);
    let described = if request.transactional_id.is_empty() {
        Err(TransactionError::InvalidRequest)
    } else {
        hard.map(described).ok_or(TransactionError::TransactionalIdNotFound)
    };
    turn.answer(hard, ticket, Reply::Describe(described));
}

fn described(hard: &HardTransaction) -> DescribedTransaction {
    let transaction = hard.transaction();
    DescribedTransaction {
        producer: transaction.producer,
        state: transaction.state,
        timeout_ms: transaction.timeout_ms,
        start: transaction.start,
        partitions: Arc::clone(&transaction.partitions),
    }
}

/// Handles ListTransactions. It speaks of everything, so it waits for everything.
pub(crate) fn list(turn: &mut Turn<'_>, ticket: Ticket, request: &ListTransactions) {
    let now_ms = turn.now.wall.0;
    let is_wanted = |transaction: &Transaction| {
        // What never began has the start −1 for Kafka, and so is older than any filter asks.
        let age_ms = now_ms.saturating_sub(transaction.start.map_or(-1, |start| start.0));
        request.states.as_ref().is_none_or(|states| states.contains(&transaction.state))
            && request.producer_ids.as_ref().is_none_or(|ids| ids.contains(&transaction.producer.id))
            && request.longer_than_ms.is_none_or(|longer_than_ms| age_ms > longer_than_ms)
    };
    let mut listed = Vec::new();
    for transactional_id in turn.hard.transactional_ids() {
        let transaction = turn.hard.transaction(&transactional_id).map(HardTransaction::transaction);
        if let Some(transaction) = transaction.filter(|transaction| is_wanted(transaction)) {
            let (producer_id, state) = (transaction.producer.id, transaction.state);
            listed.push(ListedTransaction { transactional_id, producer_id, state });
        }
    }
    turn.answer_from(DependsOn::ShardEnd, ticket, Reply::List(listed));
}
