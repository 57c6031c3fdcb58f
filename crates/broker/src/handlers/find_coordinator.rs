//! FindCoordinator (10), versions 0–6: which broker keeps a group or a transactional id. Here that is always this one.
//!
//! `__transaction_state` is made when the first transactional id is looked for; until it is there, the answer is
//! COORDINATOR_NOT_AVAILABLE, which clients take as "try later". Share keys have no coordinator and are told so too.

use milepost_wire::ErrorCode;
use milepost_wire::messages::find_coordinator::{
    Coordinator, FindCoordinatorRequest, FindCoordinatorResponse,
};

use super::{Context, Handled};
use crate::node::Node;

const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;
const SHARE: i8 = 2;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &FindCoordinatorRequest<'_>) -> Handled {
    let version = context.key.version;
    let error = error_for(node, context, request.key_type);
    let found = error == ErrorCode::None;
    let (node_id, host, port) = if found {
        (node.settings.node_id, node.endpoint.host.as_str(), i32::from(node.endpoint.port))
    } else {
        (-1, "", -1)
    };
    let response = if version >= 4 {
        let coordinators = request
            .coordinator_keys
            .iter()
            .map(|key| Coordinator { key, node_id, host, port, error_code: error, error_message: None })
            .collect();
        FindCoordinatorResponse { coordinators, ..FindCoordinatorResponse::default() }
    } else {
        let error_message = if found { Some("NONE") } else { Some(error.name()) };
        FindCoordinatorResponse {
            error_code: error,
            error_message,
            node_id,
            host,
            port,
            ..FindCoordinatorResponse::default()
        }
    };
    node.connections.respond(context.key, &response);
    Ok(())
}

fn error_for(node: &mut Node, context: Context<'_>, key_type: i8) -> ErrorCode {
    match key_type {
        GROUP => ErrorCode::None,
        TRANSACTION if node.transaction_shard_count() > 0 => ErrorCode::None,
        TRANSACTION => {
            if let Err(error) = node.propose_transactions_topic(context.now) {
                tracing::warn!("__transaction_state cannot be made now: {error}");
            }
            ErrorCode::CoordinatorNotAvailable
        }
        SHARE if context.key.version >= 6 => ErrorCode::CoordinatorNotAvailable,
        _ => ErrorCode::InvalidRequest,
    }
}
