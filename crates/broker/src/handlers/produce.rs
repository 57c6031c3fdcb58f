//! Produce (0), versions 3–13: appends one batch per partition, answers when all of them are durable.
//!
//! Both acks=1 and acks=all wait for the disk; acks=0 gets no answer, and an error on it closes the connection, which
//! is the only way such a client can learn of one. What belongs to a transaction may have to wait before it is appended
//! (`transactional`).

mod transactional;

use milepost_batch::{BatchError, BatchView, Codec};
use milepost_log::AppendOrigin;
use milepost_model::{Offset, PartitionIndex, TopicId, TopicPartition};
use milepost_wire::ErrorCode;
use milepost_wire::messages::produce::{
    BatchIndexAndErrorMessage, PartitionProduceData, PartitionProduceResponse, ProduceRequest,
    ProduceResponse, TopicProduceData, TopicProduceResponse,
};

use super::{CloseConnection, Context, DISK_WAIT_MIN_MS, Handled};
use crate::errors::{self, Refusal};
use crate::node::{Node, RequestKey, Verdicts};
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
    match transactional::to_verify(node, context, request) {
        Ok(None) => produce(node, context, request, &Verdicts::default()),
        Ok(Some(asked)) => {
            node.hold(context, asked);
            Ok(())
        }
        Err(code) => refuse_all(node, context, request, code),
    }
}

/// Goes on once the partitions of a transaction were verified.
pub(crate) fn go_on(
    node: &mut Node,
    context: Context<'_>,
    request: &ProduceRequest<'_>,
    verdicts: &Verdicts,
) -> Handled {
    produce(node, context, request, verdicts)
}

fn produce(
    node: &mut Node,
    context: Context<'_>,
    request: &ProduceRequest<'_>,
    verdicts: &Verdicts,
) -> Handled {
    let mut needs = Vec::new();
    let produced = each_partition(request, |topic, data| {
        write(node, context, request.acks, verdicts, (topic, data), &mut needs)
    });
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

/// Refuses every partition of a request.
fn refuse_all(
    node: &mut Node,
    context: Context<'_>,
    request: &ProduceRequest<'_>,
    code: ErrorCode,
) -> Handled {
    let produced = each_partition(request, |_, _| Err(code.into()));
    if request.acks == 0 {
        return finish_unacknowledged(node, context.key, &produced);
    }
    respond(node, context.key, &produced);
    Ok(())
}

fn each_partition<'a>(
    request: &'a ProduceRequest<'a>,
    mut result: impl FnMut(&'a TopicProduceData<'a>, &'a PartitionProduceData<'a>) -> Result<Written, Refusal>,
) -> Produced {
    let mut produced = Produced::default();
    for topic in &request.topic_data {
        let one = |data: &'a PartitionProduceData<'a>| ProducedPartition {
            index: data.index,
            result: result(topic, data),
        };
        let partitions = topic.partition_data.iter().map(one).collect();
        produced.topics.push(ProducedTopic { name: topic.name.to_owned(), id: topic.topic_id, partitions });
    }
    produced
}

/// Appends one partition's batch; notes what the answer must wait for.
fn write(
    node: &mut Node,
    context: Context<'_>,
    acks: i16,
    verdicts: &Verdicts,
    (topic, data): (&TopicProduceData<'_>, &PartitionProduceData<'_>),
    needs: &mut Vec<(TopicPartition, Offset)>,
) -> Result<Written, Refusal> {
    let found = resolve(node, context, topic, data.index)?;
    let version = context.key.version;
    let batch = single_batch(version, data.records)?;
    verdicts
        .of(found.name, PartitionIndex(data.index))
        .map_err(|unverified| transactional::of_unverified(version, unverified))?;
    if !matches!(acks, -1..=1) {
        return Err(ErrorCode::InvalidRequiredAcks.into());
    }
    if found.is_internal && context.client_id != ADMIN_CLIENT_ID {
        return Err(ErrorCode::InvalidTopicException.into());
    }
    let partition = found.id;
    transactional::check_first_sequence(node, version, partition, &batch)?;
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

/// A partition that exists.
struct Found<'a> {
    id: TopicPartition,
    /// Its topic's name, which a request may leave out.
    name: &'a str,
    is_internal: bool,
}

fn resolve<'a>(
    node: &'a Node,
    context: Context<'_>,
    topic: &TopicProduceData<'_>,
    index: i32,
) -> Result<Found<'a>, Refusal> {
    let image = node.metadata.image();
    let (found, missing) = if context.key.version >= 13 {
        (image.topic_by_id(topic.topic_id), ErrorCode::UnknownTopicId)
    } else {
        (image.topic(topic.name), ErrorCode::UnknownTopicOrPartition)
    };
    let found = found.ok_or(missing)?;
    let id = topics::partition(found, index).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    Ok(Found { id, name: &found.name, is_internal: found.is_internal })
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
