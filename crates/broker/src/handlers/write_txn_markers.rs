//! WriteTxnMarkers (27), versions 1–2: ends transactions on partitions. Brokers send it in a cluster of several, and
//! administrators to end a transaction that hangs. Answered when the markers are durable.

use milepost_batch::Marker;
use milepost_log::MarkerEpoch;
use milepost_model::{
    Offset, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, TopicPartition, TransactionEnd,
};
use milepost_wire::ErrorCode;
use milepost_wire::messages::write_txn_markers::{
    WritableTxnMarker, WritableTxnMarkerPartitionResult, WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult, WriteTxnMarkersRequest, WriteTxnMarkersResponse,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{Node, RequestKey};
use crate::purgatory::MarkerWait;
use crate::topics::OFFSETS_TOPIC;

/// How long the disk may take. The request says nothing of it; this is the time that brokers give each other.
const DISK_WAIT_MS: u64 = 30_000;
/// From this version of transactions on a marker's epoch is above that of the data.
const BUMPED_FROM: i8 = 2;

/// The results so far, producer by producer.
#[derive(Debug)]
pub(crate) struct Markers(Vec<(i64, Vec<TopicResults>)>);

/// A topic's name, and the code of each of its partitions.
type TopicResults = (String, Vec<(i32, ErrorCode)>);

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &WriteTxnMarkersRequest<'_>) -> Handled {
    let mut needs = Vec::new();
    let mut results = Vec::with_capacity(request.markers.len());
    for marker in &request.markers {
        let mut topics = Vec::with_capacity(marker.topics.len());
        for topic in &marker.topics {
            let mut write = |index: &i32| {
                let written = write(node, context, marker, topic.name, *index);
                let code = match written {
                    Ok(at) => {
                        needs.push(at);
                        ErrorCode::None
                    }
                    Err(code) => code,
                };
                (*index, code)
            };
            let partitions = topic.partition_indexes.iter().map(&mut write).collect();
            topics.push((topic.name.to_owned(), partitions));
        }
        results.push((marker.producer_id, topics));
    }
    let results = Markers(results);
    if needs.is_empty() {
        respond(node, context.key, &results);
        return Ok(());
    }
    let deadline = context.now.monotonic.plus_ms(DISK_WAIT_MS);
    let wait = MarkerWait { key: context.key, deadline, remaining: needs.len(), results };
    node.markers.park(wait, &needs);
    Ok(())
}

fn write(
    node: &mut Node,
    context: Context<'_>,
    asked: &WritableTxnMarker<'_>,
    topic: &str,
    index: i32,
) -> Result<(TopicPartition, Offset), ErrorCode> {
    if asked.producer_id < 0 || asked.producer_epoch < 0 {
        return Err(ErrorCode::InvalidRequest);
    }
    let producer =
        ProducerIdentity { id: ProducerId(asked.producer_id), epoch: ProducerEpoch(asked.producer_epoch) };
    let end = if asked.transaction_result { TransactionEnd::Commit } else { TransactionEnd::Abort };
    let marker = Marker { end, coordinator_epoch: asked.coordinator_epoch };
    let rule = if asked.transaction_version >= BUMPED_FROM {
        MarkerEpoch::AboveKnown
    } else {
        MarkerEpoch::AtLeastKnown
    };
    let appended = node.append_marker(context.now, topic, PartitionIndex(index), producer, marker, rule);
    match appended.map_err(|error| errors::of_append(&error).code) {
        Ok(Some(at)) => Ok(at),
        Ok(None) => Err(ErrorCode::UnknownTopicOrPartition),
        Err(ErrorCode::NotLeaderOrFollower) if topic != OFFSETS_TOPIC => {
            Err(ErrorCode::UnknownTopicOrPartition)
        }
        Err(code) => Err(code),
    }
}

/// Answers a request whose markers are all durable.
pub(crate) fn finish(node: &mut Node, wait: &MarkerWait) {
    respond(node, wait.key, &wait.results);
}

/// Answers a request that can no longer be waited for.
pub(crate) fn give_up(node: &mut Node, mut wait: MarkerWait, code: ErrorCode) {
    let topics = wait.results.0.iter_mut().flat_map(|(_, topics)| topics);
    for (_, result) in topics.flat_map(|(_, partitions)| partitions) {
        if *result == ErrorCode::None {
            *result = code;
        }
    }
    respond(node, wait.key, &wait.results);
}

fn respond(node: &mut Node, key: RequestKey, results: &Markers) {
    let markers = results
        .0
        .iter()
        .map(|(producer_id, topics)| WritableTxnMarkerResult {
            producer_id: *producer_id,
            topics: topics.iter().map(topic_to_wire).collect(),
        })
        .collect();
    node.connections.respond(key, &WriteTxnMarkersResponse { markers });
}

fn topic_to_wire((name, partitions): &TopicResults) -> WritableTxnMarkerTopicResult<'_> {
    let partition = |(index, code): &(i32, ErrorCode)| WritableTxnMarkerPartitionResult {
        partition_index: *index,
        error_code: *code,
    };
    WritableTxnMarkerTopicResult { name, partitions: partitions.iter().map(partition).collect() }
}
