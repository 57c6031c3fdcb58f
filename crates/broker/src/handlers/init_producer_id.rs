//! InitProducerId (22), versions 0–5: a number for an idempotent producer, or the identity of a transactional one.
//!
//! Without a transactional id any number will do, and what the request says of itself is ignored. With one its
//! coordinator decides; a number is taken only if it says that one is needed.

use milepost_model::{Now, ProducerEpoch, ProducerId, ProducerIdentity};
use milepost_transactions::{
    InitProducerId, OpenTransaction, Reply, Request, TransactionError, TwoPhaseCommit,
};
use milepost_wire::ErrorCode;
use milepost_wire::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};

use super::{Context, Handled};
use crate::errors;
use crate::node::{IdTaker, Node, RequestKey, TransactionAnswer, TransactionResult};

/// The epoch beside an error.
const NO_EPOCH: i16 = -1;
/// The first version that knows PRODUCER_FENCED.
const FENCED_FROM: i16 = 4;

/// What is asked for a transactional id, owned, because it may have to be asked twice.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    transactional_id: String,
    timeout_ms: i32,
    current: Option<ProducerIdentity>,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &InitProducerIdRequest<'_>) -> Handled {
    let key = context.key;
    let is_half_given = (request.producer_id < 0) != (request.producer_epoch < 0);
    match request.transactional_id {
        _ if is_half_given => respond(node, key, Err(ErrorCode::InvalidRequest)),
        Some("") => respond(node, key, Err(ErrorCode::InvalidRequest)),
        None => node.take_producer_id(context.now, IdTaker::Idempotent(key)),
        Some(transactional_id) => {
            let current = ProducerIdentity {
                id: ProducerId(request.producer_id),
                epoch: ProducerEpoch(request.producer_epoch),
            };
            let asked = Asked {
                transactional_id: transactional_id.to_owned(),
                timeout_ms: request.transaction_timeout_ms,
                current: (request.producer_id >= 0).then_some(current),
            };
            ask(node, context.now, key, asked, None);
        }
    }
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
    let request = InitProducerId {
        transactional_id: &id,
        timeout_ms: asked.timeout_ms,
        current: asked.current,
        two_phase_commit: TwoPhaseCommit::No,
        open_transaction: OpenTransaction::Abort,
        fresh_producer_id,
    };
    let then = TransactionAnswer::InitProducerId(key, asked);
    node.ask_transactions(now, then, &id, Request::InitProducerId(request));
}

pub(crate) fn finish(node: &mut Node, now: Now, key: RequestKey, asked: Asked, result: TransactionResult) {
    let code = match result {
        Ok(Reply::InitProducerId(Ok(producer))) => return respond(node, key, Ok(producer)),
        Ok(Reply::InitProducerId(Err(TransactionError::ProducerIdRequired))) => {
            return node.take_producer_id(now, IdTaker::InitProducerId(key, asked));
        }
        Ok(Reply::InitProducerId(Err(error))) => errors::of_transaction_in(key.version, FENCED_FROM, error),
        Ok(other) => panic!("a coordinator answered InitProducerId with {other:?}"),
        Err(refusal) => errors::of_runtime(refusal),
    };
    respond(node, key, Err(code));
}

/// Gives an idempotent producer its number.
pub(crate) fn give(node: &mut Node, key: RequestKey, id: ProducerId) {
    respond(node, key, Ok(ProducerIdentity { id, epoch: ProducerEpoch(0) }));
}

/// There is no number to be had now.
pub(crate) fn refuse_id(node: &mut Node, key: RequestKey) {
    respond(node, key, Err(ErrorCode::CoordinatorNotAvailable));
}

fn respond(node: &mut Node, key: RequestKey, result: Result<ProducerIdentity, ErrorCode>) {
    let response = match result {
        Ok(producer) => InitProducerIdResponse {
            producer_id: producer.id.0,
            producer_epoch: producer.epoch.0,
            ..InitProducerIdResponse::default()
        },
        Err(error_code) => InitProducerIdResponse {
            error_code,
            producer_epoch: NO_EPOCH,
            ..InitProducerIdResponse::default()
        },
    };
    node.connections.respond(key, &response);
}
