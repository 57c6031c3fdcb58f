//! DeleteRecords (21), versions 0–2: the beginning of a partition goes. Answered once the new log start is durable.

use milepost_log::ReadError;
use milepost_model::{Offset, TopicPartition};
use milepost_wire::ErrorCode;
use milepost_wire::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsPartitionResult, DeleteRecordsRequest, DeleteRecordsResponse,
    DeleteRecordsTopicResult,
};

use super::{Context, DISK_WAIT_MIN_MS, Handled};
use crate::config::TopicSettings;
use crate::errors;
use crate::node::{Node, RequestKey};
use crate::purgatory::DeletionWait;
use crate::topics;

/// Asks for everything that is durable to go.
const HIGH_WATERMARK: i64 = -1;

/// The results of one request so far.
#[derive(Debug, Default)]
pub(crate) struct Deletions {
    topics: Vec<(String, Vec<Deletion>)>,
}

#[derive(Debug)]
struct Deletion {
    index: i32,
    result: Result<TopicPartition, ErrorCode>,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &DeleteRecordsRequest<'_>) -> Handled {
    let mut results = Deletions::default();
    let mut needs = Vec::new();
    for topic in &request.topics {
        let partitions = topic.partitions.iter().map(|asked| Deletion {
            index: asked.partition_index,
            result: delete(node, topic.name, asked, &mut needs),
        });
        results.topics.push((topic.name.to_owned(), partitions.collect()));
    }
    if needs.is_empty() {
        respond(node, context.key, &results);
        return Ok(());
    }
    let timeout_ms = u64::try_from(request.timeout_ms).unwrap_or(0).max(DISK_WAIT_MIN_MS);
    let wait = DeletionWait {
        key: context.key,
        deadline: context.now.monotonic.plus_ms(timeout_ms),
        remaining: needs.len(),
        results,
    };
    node.deletions.park(wait, &needs);
    Ok(())
}

/// Moves one log start; notes the last offset that goes, if the answer must wait for it.
fn delete(
    node: &mut Node,
    name: &str,
    asked: &DeleteRecordsPartition,
    needs: &mut Vec<(TopicPartition, Offset)>,
) -> Result<TopicPartition, ErrorCode> {
    let topic = node.metadata.image().topic(name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let id = topics::partition(topic, asked.partition_index).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    if topic.is_internal {
        return Err(ErrorCode::InvalidTopicException);
    }
    let log = node.logs.log(id).ok_or(ErrorCode::NotLeaderOrFollower)?;
    if log.offline().is_some() {
        return Err(ErrorCode::KafkaStorageError);
    }
    let settings = TopicSettings::new(&topic.configs, &node.settings.values);
    let is_compacted = settings.has_word("cleanup.policy", "compact");
    if is_compacted && !settings.has_word("cleanup.policy", "delete") {
        return Err(ErrorCode::PolicyViolation);
    }
    let offset = match asked.offset {
        HIGH_WATERMARK => log.high_watermark(),
        offset if offset < 0 => return Err(ErrorCode::OffsetOutOfRange),
        offset => Offset(offset),
    };
    let is_done = offset <= log.log_start_offset();
    node.logs.advance_log_start(id, offset).map_err(|error: ReadError| errors::of_read(&error))?;
    if !is_done {
        needs.push((id, offset.plus(-1)));
    }
    Ok(id)
}

/// Answers a request whose log starts are all durable.
pub(crate) fn finish(node: &mut Node, wait: &DeletionWait) {
    respond(node, wait.key, &wait.results);
}

/// Answers a request that can no longer be waited for.
pub(crate) fn give_up(node: &mut Node, mut wait: DeletionWait, code: ErrorCode) {
    for partition in wait.results.topics.iter_mut().flat_map(|(_, partitions)| partitions) {
        if partition.result.is_ok() {
            partition.result = Err(code);
        }
    }
    respond(node, wait.key, &wait.results);
}

fn respond(node: &mut Node, key: RequestKey, results: &Deletions) {
    let one = |partition: &Deletion| {
        // The only replica's log start; a partition that went meanwhile has none.
        let start = partition.result.and_then(|id| {
            let log = node.logs.log(id).ok_or(ErrorCode::NotLeaderOrFollower)?;
            Ok(log.log_start_offset().0)
        });
        DeleteRecordsPartitionResult {
            partition_index: partition.index,
            low_watermark: start.unwrap_or(-1),
            error_code: start.err().unwrap_or(ErrorCode::None),
        }
    };
    let topics = results
        .topics
        .iter()
        .map(|(name, partitions)| DeleteRecordsTopicResult {
            name,
            partitions: partitions.iter().map(one).collect(),
        })
        .collect();
    node.connections.respond(key, &DeleteRecordsResponse { topics, ..DeleteRecordsResponse::default() });
}
