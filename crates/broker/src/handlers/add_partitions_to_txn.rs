//! AddPartitionsToTxn (24), versions 0–5: partitions join a transaction, all of them or none.
//!
//! Clients send versions up to 3, for one transaction; later ones are between brokers, for many, and may only ask. A
//! partition that does not exist keeps the others from being added, as in Kafka.

use milepost_model::{PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity};
use milepost_transactions::{
    AddPartitions, PartitionToAdd, Reply, Request, TransactionVersion, VerifyPartitions,
};
use milepost_wire::ErrorCode;
use milepost_wire::messages::add_partitions_to_txn::{
    AddPartitionsToTxnPartitionResult, AddPartitionsToTxnRequest, AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult, AddPartitionsToTxnTopic, AddPartitionsToTxnTopicResult,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{Node, RequestKey, Shard, TransactionAnswer, TransactionResult};
use crate::topics;

/// The first version that knows PRODUCER_FENCED.
const FENCED_FROM: i16 = 2;
/// The first version for several transactions.
const BATCHED_FROM: i16 = 4;

/// What the answer repeats, transaction by transaction.
#[derive(Debug)]
pub(crate) struct Asked {
    transactions: Vec<AskedTransaction>,
}

#[derive(Debug)]
struct AskedTransaction {
    transactional_id: String,
    /// Whether its coordinator was asked.
    is_asked: bool,
    topics: Vec<(String, Vec<AskedPartition>)>,
}

/// A partition, and its code if the coordinator was not asked.
#[derive(Debug)]
struct AskedPartition {
    index: i32,
    refused: Option<ErrorCode>,
}

/// One transaction of a request of any version.
struct ToAdd<'a> {
    transactional_id: &'a str,
    producer: ProducerIdentity,
    is_verified_only: bool,
    topics: &'a [AddPartitionsToTxnTopic<'a>],
}

pub(crate) fn handle(
    node: &mut Node,
    context: Context<'_>,
    request: &AddPartitionsToTxnRequest<'_>,
) -> Handled {
    let version = context.key.version;
    let mut asked = Asked { transactions: Vec::new() };
    let mut parts = Vec::new();
    for one in transactions(version, request) {
        let transaction = sort_out(node, version, &one);
        if transaction.is_asked {
            parts.push((Shard::Of(one.transactional_id), to_coordinator(version, &one)));
        }
        asked.transactions.push(transaction);
    }
    if parts.is_empty() {
        finish(node, context.key, &asked, Vec::new());
        return Ok(());
    }
    let then = TransactionAnswer::AddPartitionsToTxn(context.key, asked);
    node.ask_all_transactions(context.now, then, parts);
    Ok(())
}

fn transactions<'a>(version: i16, request: &'a AddPartitionsToTxnRequest<'a>) -> Vec<ToAdd<'a>> {
    let producer = |id, epoch| ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(epoch) };
    if version < BATCHED_FROM {
        return vec![ToAdd {
            transactional_id: request.v3_and_below_transactional_id,
            producer: producer(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch),
            is_verified_only: false,
            topics: &request.v3_and_below_topics,
        }];
    }
    let one =
        |one: &'a milepost_wire::messages::add_partitions_to_txn::AddPartitionsToTxnTransaction<'a>| ToAdd {
            transactional_id: one.transactional_id,
            producer: producer(one.producer_id, one.producer_epoch),
            is_verified_only: one.verify_only,
            topics: &one.topics,
        };
    request.transactions.iter().map(one).collect()
}

/// Looks the partitions up. If one of them cannot be added, none is.
fn sort_out(node: &Node, version: i16, one: &ToAdd<'_>) -> AskedTransaction {
    let image = node.metadata.image();
    let mut is_asked = true;
    let mut check = |name: &str, index: i32| {
        let refused = match image.topic(name) {
            // Clients may not write to the server's own topics, so neither add them.
            Some(topic) if topic.is_internal && version < BATCHED_FROM => {
                Some(ErrorCode::TopicAuthorizationFailed)
            }
            Some(topic) if topics::partition(topic, index).is_some() => None,
            _ => Some(ErrorCode::UnknownTopicOrPartition),
        };
        is_asked &= refused.is_none();
        AskedPartition { index, refused }
    };
    let mut topics = Vec::with_capacity(one.topics.len());
    for topic in one.topics {
        let partitions = topic.partitions.iter().map(|index| check(topic.name, *index)).collect();
        topics.push((topic.name.to_owned(), partitions));
    }
    if !is_asked {
        let partitions =
            topics.iter_mut().flat_map(|(_, partitions): &mut (_, Vec<AskedPartition>)| partitions);
        for partition in partitions {
            partition.refused.get_or_insert(ErrorCode::OperationNotAttempted);
        }
    }
    AskedTransaction { transactional_id: one.transactional_id.to_owned(), is_asked, topics }
}

fn to_coordinator<'a>(version: i16, one: &ToAdd<'a>) -> Request<'a> {
    let (transactional_id, producer) = (one.transactional_id, one.producer);
    let partitions = one.topics.iter().flat_map(|topic| {
        let add = |index: &i32| PartitionToAdd { topic: topic.name, partition: PartitionIndex(*index) };
        topic.partitions.iter().map(add)
    });
    let partitions = partitions.collect();
    if one.is_verified_only {
        return Request::VerifyPartitions(VerifyPartitions { transactional_id, producer, partitions });
    }
    let version = if version >= BATCHED_FROM { TransactionVersion::V2 } else { TransactionVersion::V0 };
    Request::AddPartitions(AddPartitions { transactional_id, producer, version, partitions })
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, results: Vec<TransactionResult>) {
    let mut results = results.into_iter();
    let mut answered = |transaction: &AskedTransaction| {
        if transaction.is_asked { codes(key.version, results.next()) } else { Codes::All(ErrorCode::None) }
    };
    let by_transaction: Vec<AddPartitionsToTxnResult<'_>> = asked
        .transactions
        .iter()
        .map(|transaction| AddPartitionsToTxnResult {
            transactional_id: &transaction.transactional_id,
            topic_results: topic_results(transaction, answered(transaction)),
        })
        .collect();
    let response = if key.version < BATCHED_FROM {
        let of_topics = by_transaction.into_iter().next().map(|one| one.topic_results);
        AddPartitionsToTxnResponse {
            results_by_topic_v3_and_below: of_topics.unwrap_or_default(),
            ..AddPartitionsToTxnResponse::default()
        }
    } else {
        AddPartitionsToTxnResponse {
            results_by_transaction: by_transaction,
            ..AddPartitionsToTxnResponse::default()
        }
    };
    node.connections.respond(key, &response);
}

/// What the coordinator said.
enum Codes {
    /// The same of all partitions.
    All(ErrorCode),
    /// Of each, in their order.
    Each(std::vec::IntoIter<ErrorCode>),
}

fn codes(version: i16, result: Option<TransactionResult>) -> Codes {
    let of = |error| errors::of_transaction_in(version, FENCED_FROM, error);
    match result {
        Some(Ok(Reply::AddPartitions(result))) => Codes::All(result.err().map_or(ErrorCode::None, of)),
        Some(Ok(Reply::VerifyPartitions(Err(error)))) => Codes::All(of(error)),
        Some(Ok(Reply::VerifyPartitions(Ok(results)))) => {
            let codes: Vec<_> =
                results.into_iter().map(|result| result.err().map_or(ErrorCode::None, of)).collect();
            Codes::Each(codes.into_iter())
        }
        Some(Ok(other)) => panic!("a coordinator answered AddPartitionsToTxn with {other:?}"),
        Some(Err(refusal)) => Codes::All(errors::of_runtime(refusal)),
        None => panic!("one result for each transaction that was asked about"),
    }
}

fn topic_results(transaction: &AskedTransaction, mut codes: Codes) -> Vec<AddPartitionsToTxnTopicResult<'_>> {
    let mut result = |partition: &AskedPartition| {
        let said = match &mut codes {
            Codes::All(code) => *code,
            Codes::Each(codes) => codes.next().expect("one result for each partition asked about"),
        };
        AddPartitionsToTxnPartitionResult {
            partition_index: partition.index,
            partition_error_code: partition.refused.unwrap_or(said),
        }
    };
    let topics = transaction.topics.iter();
    topics
        .map(|(name, partitions)| AddPartitionsToTxnTopicResult {
            name,
            results_by_partition: partitions.iter().map(&mut result).collect(),
        })
        .collect()
}
