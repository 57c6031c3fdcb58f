//! EndTxn (26), versions 0–5: a producer commits or aborts. The answer says that it is decided; the markers follow.
//!
//! From version 5 on (KIP-890) the answer names the producer for what comes next; older ones are not told.

use milepost_model::{Now, ProducerEpoch, ProducerId, ProducerIdentity, TransactionEnd};
use milepost_transactions::{EndTransaction, Reply, Request, TransactionError, TransactionVersion};
use milepost_wire::ErrorCode;
use milepost_wire::messages::end_txn::{EndTxnRequest, EndTxnResponse};

use super::{Context, Handled};
use crate::errors;
use crate::node::{IdTaker, Node, RequestKey, TransactionAnswer, TransactionResult};

/// The first version that knows PRODUCER_FENCED.
const FENCED_FROM: i16 = 2;
/// The first version whose clients take a new epoch with each transaction.
const BUMPED_FROM: i16 = 5;

/// What is asked, owned, because it may have to be asked twice.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    transactional_id: String,
    producer: ProducerIdentity,
    end: TransactionEnd,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &EndTxnRequest<'_>) -> Handled {
    let asked = Asked {
        transactional_id: request.transactional_id.to_owned(),
        producer: ProducerIdentity {
            id: ProducerId(request.producer_id),
            epoch: ProducerEpoch(request.producer_epoch),
        },
        end: if request.committed { TransactionEnd::Commit } else { TransactionEnd::Abort },
    };
    ask(node, context.now, context.key, asked, None);
    Ok(())
}

/// Asks the coordinator of the transactional id.
pub(crate) fn ask(
    node: &mut Node,
    now: Now,
    key: RequestKey,
    asked: Asked,
    fresh_producer_id: Option<ProducerId>,
) {
    let id = asked.transactional_id.clone();
    let version = if key.version >= BUMPED_FROM { TransactionVersion::V2 } else { TransactionVersion::V0 };
    let request = EndTransaction {
        transactional_id: &id,
        producer: asked.producer,
        end: asked.end,
        version,
        fresh_producer_id,
    };
    let then = TransactionAnswer::EndTxn(key, asked);
    node.ask_transactions(now, then, &id, Request::EndTransaction(request));
}

pub(crate) fn finish(node: &mut Node, now: Now, key: RequestKey, asked: Asked, result: TransactionResult) {
    let code = match result {
        Ok(Reply::EndTransaction(Ok(producer))) => {
            let response = EndTxnResponse {
                producer_id: producer.id.0,
                producer_epoch: producer.epoch.0,
                ..EndTxnResponse::default()
            };
            return node.connections.respond(key, &response);
        }
        Ok(Reply::EndTransaction(Err(TransactionError::ProducerIdRequired))) => {
            return node.take_producer_id(now, IdTaker::EndTxn(key, asked));
        }
        Ok(Reply::EndTransaction(Err(error))) => errors::of_transaction_in(key.version, FENCED_FROM, error),
        Ok(other) => panic!("a coordinator answered EndTxn with {other:?}"),
        Err(refusal) => errors::of_runtime(refusal),
    };
    refuse(node, key, code);
}

/// There is no producer id to be had now.
pub(crate) fn refuse_id(node: &mut Node, key: RequestKey) {
    refuse(node, key, ErrorCode::CoordinatorNotAvailable);
}

fn refuse(node: &mut Node, key: RequestKey, error_code: ErrorCode) {
    node.connections.respond(key, &EndTxnResponse { error_code, ..EndTxnResponse::default() });
}
