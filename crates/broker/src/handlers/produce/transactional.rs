//! What the batches of a transaction need before they are appended: their partitions must be part of it (KIP-890).
//!
//! Up to version 11 the producer has added them; that is verified, where no transaction of the producer is open yet. From
//! version 12 on the partitions are added here.

use milepost_batch::BatchView;
use milepost_model::{PartitionIndex, ProducerIdentity, TopicPartition};
use milepost_transactions::TransactionError;
use milepost_wire::ErrorCode;
use milepost_wire::messages::produce::ProduceRequest;

use super::super::Context;
use crate::errors::{self, Refusal};
use crate::node::{Node, ToVerify, Unverified, Verification};

/// The first version that knows TRANSACTION_ABORTABLE.
const ABORTABLE_FROM: i16 = 11;
/// The first version that adds partitions by itself.
pub(super) const ADDING_FROM: i16 = 12;

/// What must be verified before the request is carried out; `None`: nothing.
///
/// # Errors
/// What spoils the whole request, as in Kafka: a transactional batch without a transactional id, or several producers.
pub(super) fn to_verify(
    node: &Node,
    context: Context<'_>,
    request: &ProduceRequest<'_>,
) -> Result<Option<ToVerify>, ErrorCode> {
    let mut producer: Option<ProducerIdentity> = None;
    let mut partitions = Vec::new();
    for topic in &request.topic_data {
        for data in &topic.partition_data {
            let Some(named) = transactional_producer(data.records) else { continue };
            if request.transactional_id.is_none() {
                return Err(ErrorCode::TransactionalIdAuthorizationFailed);
            }
            if producer.is_some_and(|known| known != named) {
                return Err(ErrorCode::InvalidProducerIdMapping);
            }
            producer = Some(named);
            // What cannot be written anyway is refused where it is found.
            let Ok(found) = super::resolve(node, context, topic, data.index) else { continue };
            let is_refused = found.is_internal && context.client_id != super::ADMIN_CLIENT_ID;
            let log = node.logs.log(found.id);
            if !is_refused && log.is_some_and(|log| log.ongoing_transaction(named).is_none()) {
                partitions.push((found.name.to_owned(), PartitionIndex(data.index)));
            }
        }
    }
    let verification =
        if context.key.version >= ADDING_FROM { Verification::Add } else { Verification::Verify };
    let is_wanted = verification == Verification::Add || node.settings.verifies_partitions;
    let (Some(producer), Some(transactional_id)) = (producer, request.transactional_id) else {
        return Ok(None);
    };
    if partitions.is_empty() || !is_wanted {
        return Ok(None);
    }
    let transactional_id = transactional_id.to_owned();
    Ok(Some(ToVerify { transactional_id, producer, verification, partitions }))
}

/// The producer of a transactional batch.
fn transactional_producer(records: Option<&[u8]>) -> Option<ProducerIdentity> {
    let (batch, _) = BatchView::parse(records?).ok()?;
    if batch.is_transactional() { batch.producer() } else { None }
}

/// Why a partition is not known to be part of the transaction. Older clients know fewer codes, and NOT_ENOUGH_REPLICAS
/// makes every producer try again without asking for metadata first.
pub(super) fn of_unverified(version: i16, unverified: Unverified) -> Refusal {
    let again = "the transaction could not be verified; try again";
    match unverified {
        Unverified::NoAnswer => Refusal::with_message(ErrorCode::NotEnoughReplicas, again),
        Unverified::Refused(TransactionError::ConcurrentTransactions) if version < ADDING_FROM => {
            Refusal::with_message(ErrorCode::NotEnoughReplicas, again)
        }
        Unverified::Refused(TransactionError::TransactionAbortable) if version < ABORTABLE_FROM => {
            Refusal::with_message(
                ErrorCode::InvalidTxnState,
                TransactionError::TransactionAbortable.to_string(),
            )
        }
        Unverified::Refused(TransactionError::ProducerFenced) => ErrorCode::InvalidProducerEpoch.into(),
        Unverified::Refused(error) => Refusal::with_message(errors::of_transaction(error), error.to_string()),
    }
}

/// A producer of the second protocol that nothing is known of begins with the sequence number 0: what it says it wrote
/// before was not written in this transaction.
pub(super) fn check_first_sequence(
    node: &Node,
    version: i16,
    partition: TopicPartition,
    batch: &BatchView<'_>,
) -> Result<(), Refusal> {
    let is_checked = version >= ADDING_FROM && batch.is_transactional();
    let (Some(producer), Some(log)) = (batch.producer(), node.logs.log(partition)) else { return Ok(()) };
    if is_checked && batch.base_sequence() != Some(0) && !log.knows_producer(producer.id) {
        return Err(ErrorCode::OutOfOrderSequenceNumber.into());
    }
    Ok(())
}
