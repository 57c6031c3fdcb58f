//! AddPartitionsToTxn and AddOffsetsToTxn: partitions join a transaction, before anything is written to them.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::{ProducerIdentity, Ticket};

use crate::hard::HardTransaction;
use crate::request::{AddPartitions, PartitionToAdd, VerifyPartitions};
use crate::transition::{check_name, next_update};
use crate::turn::Turn;
use crate::{Reply, Transaction, TransactionError, TransactionPartition, TransactionState};

/// Handles AddPartitionsToTxn and AddOffsetsToTxn.
pub(crate) fn add_partitions(turn: &mut Turn<'_>, ticket: Ticket, request: &AddPartitions<'_>) {
    let hard = turn.hard.transaction(request.transactional_id);
    let result = add(turn, hard, request);
    turn.answer(hard, ticket, Reply::AddPartitions(result));
}

fn add(
    turn: &mut Turn<'_>,
    hard: Option<&HardTransaction>,
    request: &AddPartitions<'_>,
) -> Result<(), TransactionError> {
    let hard = check(hard, request.transactional_id, request.producer)?;
    for partition in &request.partitions {
        check_name(partition.topic)?;
    }
    let transaction = hard.transaction();
    let is_ongoing = transaction.state == TransactionState::Ongoing;
    let mut partitions = BTreeSet::clone(&transaction.partitions);
    partitions.extend(request.partitions.iter().map(named));
    if is_ongoing && partitions.len() == transaction.partitions.len() {
        return Ok(());
    }
    let update = next_update(transaction, turn.now.wall);
    let next = Transaction {
        previous_producer_id: Some(transaction.producer.id),
        state: TransactionState::Ongoing,
        partitions: Arc::new(partitions),
        last_update: update,
        start: if is_ongoing { transaction.start } else { Some(update) },
        client_version: request.version.min(turn.settings.transaction_version),
        ..Transaction::clone(transaction)
    };
    turn.counts.begun += u64::from(!is_ongoing);
    turn.record(hard.id(), next);
    Ok(())
}

/// Handles AddPartitionsToTxn that verifies only.
pub(crate) fn verify_partitions(turn: &mut Turn<'_>, ticket: Ticket, request: &VerifyPartitions<'_>) {
    let hard = turn.hard.transaction(request.transactional_id);
    let result = check(hard, request.transactional_id, request.producer).map(|hard| {
        let verify = |partition| {
            let is_part = hard.transaction().partitions.contains(&named(partition));
            if is_part { Ok(()) } else { Err(TransactionError::TransactionAbortable) }
        };
        request.partitions.iter().map(verify).collect()
    });
    turn.answer(hard, ticket, Reply::VerifyPartitions(result));
}

/// That the producer holds the transactional id, and its last transaction is complete.
fn check<'a>(
    hard: Option<&'a HardTransaction>,
    transactional_id: &str,
    producer: ProducerIdentity,
) -> Result<&'a HardTransaction, TransactionError> {
    check_name(transactional_id)?;
    let hard = hard.ok_or(TransactionError::InvalidProducerIdMapping)?;
    let transaction = hard.transaction();
    if transaction.producer.id != producer.id {
        return Err(TransactionError::InvalidProducerIdMapping);
    }
    if transaction.producer.epoch != producer.epoch {
        return Err(TransactionError::ProducerFenced);
    }
    match transaction.state {
        TransactionState::Prepare(_) => Err(TransactionError::ConcurrentTransactions),
        TransactionState::Empty | TransactionState::Ongoing | TransactionState::Complete(_) => Ok(hard),
    }
}

fn named(partition: &PartitionToAdd<'_>) -> TransactionPartition {
    TransactionPartition { topic: partition.topic.into(), partition: partition.partition }
}
