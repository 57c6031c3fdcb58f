//! AddOffsetsToTxn (25), versions 0–4: the offsets of a group join a transaction, which is to say their partition of
//! `__consumer_offsets` does. Clients of the second protocol do not ask for it.

use milepost_model::{ProducerEpoch, ProducerId, ProducerIdentity};
use milepost_transactions::{AddPartitions, PartitionToAdd, Reply, Request, TransactionVersion};
use milepost_wire::ErrorCode;
use milepost_wire::messages::add_offsets_to_txn::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse};

use super::{Context, Handled};
use crate::errors;
use crate::node::{Node, RequestKey, TransactionAnswer, TransactionResult};
use crate::topics::OFFSETS_TOPIC;

/// The first version that knows PRODUCER_FENCED.
const FENCED_FROM: i16 = 2;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &AddOffsetsToTxnRequest<'_>) -> Handled {
    let partition = PartitionToAdd { topic: OFFSETS_TOPIC, partition: node.shard_of(request.group_id) };
    let add = AddPartitions {
        transactional_id: request.transactional_id,
        producer: ProducerIdentity {
            id: ProducerId(request.producer_id),
            epoch: ProducerEpoch(request.producer_epoch),
        },
        version: TransactionVersion::V0,
        partitions: vec![partition],
    };
    let then = TransactionAnswer::AddOffsetsToTxn(context.key);
    node.ask_transactions(context.now, then, request.transactional_id, Request::AddPartitions(add));
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, result: TransactionResult) {
    let error_code = match result {
        Ok(Reply::AddPartitions(Ok(()))) => ErrorCode::None,
        Ok(Reply::AddPartitions(Err(error))) => errors::of_transaction_in(key.version, FENCED_FROM, error),
        Ok(other) => panic!("a coordinator answered AddOffsetsToTxn with {other:?}"),
        Err(refusal) => errors::of_runtime(refusal),
    };
    node.connections
        .respond(key, &AddOffsetsToTxnResponse { error_code, ..AddOffsetsToTxnResponse::default() });
}
