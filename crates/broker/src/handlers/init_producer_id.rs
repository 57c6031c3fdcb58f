//! InitProducerId (22), versions 0–5: a number for an idempotent producer.
//!
//! With a transactional id the answer is COORDINATOR_NOT_AVAILABLE until transactions are implemented; clients take
//! it as "try later" and fail with their own timeout.

use milepost_log::metadata::MetadataRecord;
use milepost_model::{Now, ProducerId};
use milepost_wire::ErrorCode;
use milepost_wire::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};

use super::{Context, Handled};
use crate::node::{Node, RequestKey, TopicWait};
use crate::producer_ids::BLOCK_LENGTH;

/// The epoch beside an error.
const NO_EPOCH: i16 = -1;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &InitProducerIdRequest<'_>) -> Handled {
    let half_given = (request.producer_id < 0) != (request.producer_epoch < 0);
    let refusal = match request.transactional_id {
        _ if half_given => Some(ErrorCode::InvalidRequest),
        Some("") => Some(ErrorCode::InvalidRequest),
        Some(_) => Some(ErrorCode::CoordinatorNotAvailable),
        None => None,
    };
    match refusal {
        Some(code) => refuse(node, context.key, code),
        None => give(node, context.now, context.key),
    }
    Ok(())
}

/// Answers with the next id, or waits for a block of them.
pub(crate) fn give(node: &mut Node, now: Now, key: RequestKey) {
    if let Some(ProducerId(producer_id)) = node.producer_ids.take() {
        node.connections
            .respond(key, &InitProducerIdResponse { producer_id, ..InitProducerIdResponse::default() });
        return;
    }
    if node.producer_ids.reserving().is_none() && !reserve(node, now) {
        refuse(node, key, ErrorCode::CoordinatorNotAvailable);
        return;
    }
    if let Some(needs) = node.producer_ids.reserving() {
        node.topics.park(needs, key, TopicWait::ProducerId);
    }
}

/// Asks for the next block. `false`: nothing can be written now.
fn reserve(node: &mut Node, now: Now) -> bool {
    let next = node.metadata.next_unproposed_producer_id().0 + BLOCK_LENGTH;
    let record = MetadataRecord::ProducerIdBlock { next_producer_id: ProducerId(next) };
    match node.metadata.propose(&mut node.logs, vec![record], now) {
        Ok(position) => {
            node.producer_ids.begin_reserving(position);
            true
        }
        Err(error) => {
            tracing::warn!("no producer ids can be reserved now: {error}");
            false
        }
    }
}

fn refuse(node: &mut Node, key: RequestKey, error_code: ErrorCode) {
    let response =
        InitProducerIdResponse { error_code, producer_epoch: NO_EPOCH, ..InitProducerIdResponse::default() };
    node.connections.respond(key, &response);
}
