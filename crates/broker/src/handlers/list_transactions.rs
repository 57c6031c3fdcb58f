//! ListTransactions (66), versions 0–2: the transactional ids of this broker, from all shards.
//!
//! A name of a state that is none is no error: it matches nothing, and the answer says that it is unknown. The pattern of
//! version 2 must match a whole transactional id.

use milepost_coordinator::Refusal;
use milepost_groups::NamePattern;
use milepost_model::{PartitionIndex, ProducerId};
use milepost_transactions::{ListTransactions, ListedTransaction, Reply, Request, TransactionState};
use milepost_wire::ErrorCode;
use milepost_wire::messages::list_transactions::{
    ListTransactionsRequest, ListTransactionsResponse, TransactionState as WireState,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{Node, RequestKey, Shard, TransactionAnswer, TransactionResult};

/// What the answer needs of the request.
#[derive(Debug)]
pub(crate) struct Asked {
    unknown_states: Vec<String>,
    pattern: Option<NamePattern>,
}

pub(crate) fn handle(
    node: &mut Node,
    context: Context<'_>,
    request: &ListTransactionsRequest<'_>,
) -> Handled {
    let (states, unknown) = TransactionState::named(&request.state_filters);
    let pattern = request.transactional_id_pattern.filter(|pattern| !pattern.is_empty());
    let Ok(pattern) = pattern.map(NamePattern::compile).transpose() else {
        refuse(node, context.key, ErrorCode::InvalidRegularExpression);
        return Ok(());
    };
    let list = ListTransactions {
        states: (!request.state_filters.is_empty()).then_some(states),
        producer_ids: (!request.producer_id_filters.is_empty())
            .then(|| request.producer_id_filters.iter().map(|id| ProducerId(*id)).collect()),
        longer_than_ms: (request.duration_filter >= 0).then_some(request.duration_filter),
    };
    let asked = Asked { unknown_states: unknown.into_iter().map(str::to_owned).collect(), pattern };
    let shards = (0..node.transaction_shard_count()).map(|index| Shard::Number(PartitionIndex(index)));
    let parts = shards.map(|shard| (shard, Request::List(list.clone()))).collect();
    let then = TransactionAnswer::ListTransactions(context.key, asked);
    node.ask_all_transactions(context.now, then, parts);
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, results: Vec<TransactionResult>) {
    let mut listed: Vec<ListedTransaction> = Vec::new();
    for result in results {
        match result {
            Ok(Reply::List(transactions)) => listed.extend(transactions),
            Ok(other) => panic!("a coordinator answered ListTransactions with {other:?}"),
            Err(Refusal::NotCoordinator) => {}
            Err(refusal) => return refuse(node, key, errors::of_runtime(refusal)),
        }
    }
    if let Some(pattern) = &asked.pattern {
        listed.retain(|transaction| pattern.matches(&transaction.transactional_id));
    }
    let response = ListTransactionsResponse {
        unknown_state_filters: asked.unknown_states.iter().map(String::as_str).collect(),
        transaction_states: listed.iter().map(state).collect(),
        ..ListTransactionsResponse::default()
    };
    node.connections.respond(key, &response);
}

fn state(listed: &ListedTransaction) -> WireState<'_> {
    WireState {
        transactional_id: &listed.transactional_id,
        producer_id: listed.producer_id.0,
        transaction_state: listed.state.name(),
    }
}

fn refuse(node: &mut Node, key: RequestKey, error_code: ErrorCode) {
    node.connections
        .respond(key, &ListTransactionsResponse { error_code, ..ListTransactionsResponse::default() });
}
