//! Produce (0), versions 3–13: appends one batch per partition, answers when all of them are durable.
//!
//! Both acks=1 and acks=all wait for the disk; acks=0 gets no answer, and an error on it closes the connection, which
//! is the only way such a client can learn of one.

use milepost_batch::{BatchError, BatchView, Codec};
use milepost_log::AppendOrigin;
use milepost_model::{Offset, TopicId, TopicPartition};
use milepost_wire::ErrorCode;
use milepost_wire::messages::produce::{
    BatchIndexAndErrorMessage, PartitionProduceData, PartitionProduceResponse, ProduceRequest,
    ProduceResponse, TopicProduceData, TopicProduceResponse,
};

use super::{CloseConnection, Context, DISK_WAIT_MIN_MS, Handled};
use crate::errors::{self, Refusal};
use crate::node::{Node, RequestKey};
use crate::purgatory::ProduceWait;
use crate::topics;

/// The client id with which Kafka's own tools may write to internal topics.
const ADMIN_CLIENT_ID: &str = "__admin_client";
/// The first version that may carry zstd.
const ZSTD_FROM: i16 = 7;
/// The results of one produce so far.
#[derive(Debug, Default)]
pub(crate) struct Produced {
    topics: Vec<ProducedTopic>,
}

#[derive(Debug)]
struct ProducedTopic {
    name: String,
    id: TopicId,
    partitions: Vec<ProducedPartition>,
}

#[derive(Debug)]
struct ProducedPartition {
    index: i32,
    result: Result<Written, Refusal>,
}

#[derive(Clone, Copy, Debug)]
struct Written {
    base_offset: Offset,
    log_append_time_ms: i64,
    log_start_offset: Offset,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &ProduceRequest<'_>) -> Handled {
    let mut produced = Produced::default();
    let mut needs = Vec::new();
    let transactional_id_missing = transactional_id_missing(request);
    for topic in &request.topic_data {
        let partitions = topic
            .partition_data
            .iter()
            .map(|data| {
                let result = if transactional_id_missing {
                    Err(ErrorCode::TransactionalIdAuthorizationFailed.into())
                } else {
                    write(node, context, request, topic, data, &mut needs)
                };
                ProducedPartition { index: data.index, result }
            })
            .collect();
        produced.topics.push(ProducedTopic { name: topic.name.to_owned(), id: topic.topic_id, partitions });
    }
    if request.acks == 0 {
        return finish_unacknowledged(node, context.key, &produced);
    }
    if needs.is_empty() {
        respond(node, context.key, &produced);
        return Ok(());
    }
    let timeout_ms = u64::try_from(request.timeout_ms).unwrap_or(0).max(DISK_WAIT_MIN_MS);
    let wait = ProduceWait {
        key: context.key,
        deadline: context.now.monotonic.plus_ms(timeout_ms),
        remaining: needs.len(),
        results: produced,
    };
    node.produces.park(wait, &needs);
    Ok(())
}

fn finish_unacknowledged(node: &mut Node, key: RequestKey, produced: &Produced) -> Handled {
    let failed =
        produced.topics.iter().flat_map(|topic| &topic.partitions).find_map(|p| p.result.as_ref().err());
    match failed {
        Some(refusal) => Err(CloseConnection(format!("a produce with acks=0 failed: {}", refusal.code))),
        None => {
            node.connections.answer_nothing(key);
            Ok(())
        }
    }
}

/// A transactional batch without a transactional id spoils the whole request, as in Kafka.
fn transactional_id_missing(request: &ProduceRequest<'_>) -> bool {
    let mut batches =
        request.topic_data.iter().flat_map(|topic| &topic.partition_data).filter_map(|data| data.records);
    request.transactional_id.is_none()
        && batches.any(|bytes| BatchView::parse(bytes).is_ok_and(|(batch, _)| batch.is_transactional()))
}

/// Appends one partition's batch; notes what the answer must wait for.
fn write(
    node: &mut Node,
    context: Context<'_>,
    request: &ProduceRequest<'_>,
    topic: &TopicProduceData<'_>,
    data: &PartitionProduceData<'_>,
    needs: &mut Vec<(TopicPartition, Offset)>,
) -> Result<Written, Refusal> {
    let (partition, is_internal) = resolve(node, context, topic, data.index)?;
    let batch = single_batch(context.key.version, data.records)?;
    if batch.is_transactional() {
        // Transactions come with a later issue; without a coordinator nobody may open one.
        return Err(ErrorCode::InvalidTxnState.into());
    }
    if !matches!(request.acks, -1..=1) {
        return Err(ErrorCode::InvalidRequiredAcks.into());
    }
    if is_internal && context.client_id != ADMIN_CLIENT_ID {
        return Err(ErrorCode::InvalidTopicException.into());
    }
    let appended = node
        .logs
        .append(partition, batch.bytes(), AppendOrigin::Client, context.now)
        .map_err(|error| errors::of_append(&error))?;
    // The original of a duplicate may be durable already; nothing would come to wake its answer.
    let durable_end = node.logs.log(partition).map(milepost_log::PartitionLog::high_watermark);
    if durable_end.is_none_or(|end| appended.last_offset >= end) {
        needs.push((partition, appended.last_offset));
    }
    Ok(Written {
        base_offset: appended.base_offset,
        log_append_time_ms: appended.log_append_time.map_or(-1, |time| time.0),
        log_start_offset: appended.log_start_offset,
    })
}

/// The partition, and whether its topic is internal.
fn resolve(
    node: &Node,
    context: Context<'_>,
    topic: &TopicProduceData<'_>,
    index: i32,
) -> Result<(TopicPartition, bool), Refusal> {
    let image = node.metadata.image();
    let (found, missing) = if context.key.version >= 13 {
        (image.topic_by_id(topic.topic_id), ErrorCode::UnknownTopicId)
    } else {
        (image.topic(topic.name), ErrorCode::UnknownTopicOrPartition)
    };
    let found = found.ok_or(missing)?;
    let partition = topics::partition(found, index).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    Ok((partition, found.is_internal))
}

/// The payload must be exactly one batch of format 2.
fn single_batch(version: i16, records: Option<&[u8]>) -> Result<BatchView<'_>, Refusal> {
    let bytes = records.filter(|bytes| !bytes.is_empty()).ok_or_else(|| {
        Refusal::with_message(
            ErrorCode::InvalidRecord,
            "a produce request must carry one record batch a partition",
        )
    })?;
    let (batch, rest) = BatchView::parse(bytes).map_err(|error| match error {
        // Less than it announces is, to Kafka, no batch at all.
        BatchError::Truncated { .. } => Refusal::with_message(ErrorCode::InvalidRecord, error.to_string()),
        _ => errors::of_batch(&error),
    })?;
    if !rest.is_empty() {
        return Err(Refusal::with_message(
            ErrorCode::InvalidRecord,
            "more than one record batch for a partition",
        ));
    }
    if version < ZSTD_FROM && batch.codec() == Ok(Codec::Zstd) {
        return Err(ErrorCode::UnsupportedCompressionType.into());
    }
    Ok(batch)
}

/// Answers a produce whose partitions are all durable.
pub(crate) fn finish(node: &mut Node, wait: &ProduceWait) {
    respond(node, wait.key, &wait.results);
}

/// Answers a produce whose time is up: what it wrote may still become durable.
pub(crate) fn time_out(node: &mut Node, wait: ProduceWait) {
    give_up(node, wait, ErrorCode::RequestTimedOut);
}

/// Answers a produce that can no longer be waited for.
pub(crate) fn give_up(node: &mut Node, mut wait: ProduceWait, code: ErrorCode) {
    for partition in wait.results.topics.iter_mut().flat_map(|topic| &mut topic.partitions) {
        if partition.result.is_ok() {
            partition.result = Err(code.into());
        }
    }
    respond(node, wait.key, &wait.results);
}

fn respond(node: &mut Node, key: RequestKey, produced: &Produced) {
    let responses = produced
        .topics
        .iter()
        .map(|topic| TopicProduceResponse {
            name: &topic.name,
            topic_id: topic.id,
            partition_responses: topic.partitions.iter().map(partition_response).collect(),
        })
        .collect();
    node.connections.respond(key, &ProduceResponse { responses, ..ProduceResponse::default() });
}

fn partition_response(partition: &ProducedPartition) -> PartitionProduceResponse<'_> {
    match &partition.result {
        Ok(written) => PartitionProduceResponse {
            index: partition.index,
            base_offset: written.base_offset.0,
            log_append_time_ms: written.log_append_time_ms,
            log_start_offset: written.log_start_offset.0,
            ..PartitionProduceResponse::default()
        },
        Err(refusal) => PartitionProduceResponse {
            index: partition.index,
            error_code: refusal.code,
            base_offset: -1,
            record_errors: refusal
                .records
                .iter()
                .map(|(index, message)| BatchIndexAndErrorMessage {
                    batch_index: *index,
                    batch_index_error_message: Some(message),
                })
                .collect(),
            error_message: refusal.message.as_deref(),
            ..PartitionProduceResponse::default()
        },
    }
}
