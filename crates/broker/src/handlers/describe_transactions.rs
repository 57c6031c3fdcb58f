//! DescribeTransactions (65), version 0: all about some transactional ids.

use std::collections::BTreeSet;

use milepost_transactions::{
    DescribeTransaction, DescribedTransaction, Reply, Request, TransactionPartition,
};
use milepost_wire::ErrorCode;
use milepost_wire::messages::describe_transactions::{
    DescribeTransactionsRequest, DescribeTransactionsResponse, TopicData, TransactionState,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{Node, RequestKey, Shard, TransactionAnswer, TransactionResult};

/// What the answer repeats.
#[derive(Debug)]
pub(crate) struct Asked {
    transactional_ids: Vec<String>,
}

pub(crate) fn handle(
    node: &mut Node,
    context: Context<'_>,
    request: &DescribeTransactionsRequest<'_>,
) -> Handled {
    // Once is enough: a short request must not ask for the same long answer a million times.
    let mut seen = BTreeSet::new();
    let ids: Vec<&str> = request.transactional_ids.iter().copied().filter(|id| seen.insert(*id)).collect();
    let asked = Asked { transactional_ids: ids.iter().map(|id| (*id).to_owned()).collect() };
    let describe = |transactional_id| Request::Describe(DescribeTransaction { transactional_id });
    let parts = ids.into_iter().map(|id| (Shard::Of(id), describe(id))).collect();
    let then = TransactionAnswer::DescribeTransactions(context.key, asked);
    node.ask_all_transactions(context.now, then, parts);
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, results: Vec<TransactionResult>) {
    let described: Vec<Result<DescribedTransaction, ErrorCode>> =
        results.into_iter().map(described).collect();
    let transaction_states =
        asked.transactional_ids.iter().zip(&described).map(|(id, result)| state(id, result)).collect();
    let response =
        DescribeTransactionsResponse { transaction_states, ..DescribeTransactionsResponse::default() };
    node.connections.respond(key, &response);
}

fn described(result: TransactionResult) -> Result<DescribedTransaction, ErrorCode> {
    match result {
        Ok(Reply::Describe(described)) => described.map_err(errors::of_transaction),
        Ok(other) => panic!("a coordinator answered DescribeTransactions with {other:?}"),
        Err(refusal) => Err(errors::of_runtime(refusal)),
    }
}

fn state<'a>(
    transactional_id: &'a str,
    result: &'a Result<DescribedTransaction, ErrorCode>,
) -> TransactionState<'a> {
    match result {
        Ok(described) => TransactionState {
            error_code: ErrorCode::None,
            transactional_id,
            transaction_state: described.state.name(),
            transaction_timeout_ms: described.timeout_ms,
            transaction_start_time_ms: described.start.map_or(-1, |start| start.0),
            producer_id: described.producer.id.0,
            producer_epoch: described.producer.epoch.0,
            topics: topics(&described.partitions),
        },
        Err(error_code) => {
            TransactionState { error_code: *error_code, transactional_id, ..TransactionState::default() }
        }
    }
}

fn topics(partitions: &BTreeSet<TransactionPartition>) -> Vec<TopicData<'_>> {
    let mut topics: Vec<TopicData<'_>> = Vec::new();
    for TransactionPartition { topic, partition } in partitions {
        match topics.last_mut() {
            Some(last) if last.topic == &**topic => last.partitions.push(partition.0),
            _ => topics.push(TopicData { topic, partitions: vec![partition.0] }),
        }
    }
    topics
}
