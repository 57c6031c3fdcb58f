//! Fetch (1), versions 4–18: whole batches below the high watermark, at once or when enough has come.
//!
//! Every fetch is sessionless (session id 0 in the answer), which every client accepts. Partitions are read in the
//! order asked for; the first batch found is whole even if it is larger than every limit, so that no consumer can
//! get stuck behind it.

use milepost_log::{FirstBatch, LogSet, PartitionLog};
use milepost_model::{LeaderEpoch, Offset, TopicId, TopicPartition};
use milepost_wire::ErrorCode;
use milepost_wire::messages::fetch::{
    EpochEndOffset, FetchPartition, FetchRequest, FetchResponse, FetchableTopicResponse, LeaderIdAndEpoch,
    NodeEndpoint, PartitionData,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{Node, RequestKey};
use crate::purgatory::FetchWait;
use crate::topics;

/// The first version whose answers name the leader and its address beside NOT_LEADER and FENCED_LEADER_EPOCH.
const ENDPOINTS_FROM: i16 = 16;
/// The first version that names topics by id.
const TOPIC_IDS_FROM: i16 = 13;
const READ_COMMITTED: i8 = 1;
/// The epoch of a fetch that would begin a session, and of one outside sessions.
const FULL_EPOCH: i32 = 0;
const SESSIONLESS_EPOCH: i32 = -1;

/// A fetch, owned, so that it can wait.
#[derive(Debug)]
pub(crate) struct FetchPlan {
    max_bytes: usize,
    min_bytes: usize,
    isolation_level: i8,
    topics: Vec<TopicPlan>,
}

#[derive(Debug)]
struct TopicPlan {
    name: String,
    id: TopicId,
    partitions: Vec<PartitionPlan>,
}

#[derive(Debug)]
struct PartitionPlan {
    asked: FetchPartition,
    found: Result<TopicPartition, ErrorCode>,
}

impl FetchPlan {
    /// The partitions that exist, which may grow.
    pub(crate) fn partitions(&self) -> Vec<TopicPartition> {
        self.topics.iter().flat_map(|topic| &topic.partitions).filter_map(|plan| plan.found.ok()).collect()
    }
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &FetchRequest<'_>) -> Handled {
    if !matches!(request.session_epoch, FULL_EPOCH | SESSIONLESS_EPOCH) {
        // Nobody was given a session, so the one that this goes on with cannot be known.
        let response =
            FetchResponse { error_code: ErrorCode::FetchSessionIdNotFound, ..FetchResponse::default() };
        node.connections.respond(context.key, &response);
        return Ok(());
    }
    let plan = plan(node, context.key.version, request);
    let max_wait_ms = u64::try_from(request.max_wait_ms).unwrap_or(0);
    let deadline = context.now.monotonic.plus_ms(max_wait_ms);
    let wait = FetchWait { key: context.key, deadline, plan };
    answer_or_park(node, wait, if max_wait_ms == 0 { Patience::None } else { Patience::UntilDeadline });
    Ok(())
}

/// Whether a fetch that finds too little may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    None,
    UntilDeadline,
}

/// Answers a fetch if it can be answered, or lets it wait for more.
pub(crate) fn answer_or_park(node: &mut Node, wait: FetchWait, patience: Patience) {
    // What the client has not taken yet bounds what it gets now; the first batch is whole all the same.
    let max_bytes = wait.plan.max_bytes.min(node.connections.answer_room(wait.key.connection));
    let answers = read_all(node, wait.key.version, &wait.plan, max_bytes);
    let nothing_asked = wait.plan.topics.is_empty();
    let min_bytes = wait.plan.min_bytes.min(max_bytes);
    if patience == Patience::UntilDeadline && !nothing_asked && !answers.is_complete(min_bytes) {
        node.fetches.park(wait);
        return;
    }
    respond(node, wait.key, &wait.plan, &answers);
}

fn plan(node: &Node, version: i16, request: &FetchRequest<'_>) -> FetchPlan {
    let image = node.metadata.image();
    let topics = request
        .topics
        .iter()
        .map(|topic| {
            let found = if version >= TOPIC_IDS_FROM {
                image.topic_by_id(topic.topic_id)
            } else {
                image.topic(topic.topic)
            };
            let locate = |index| {
                let topic = found.ok_or_else(|| missing(version))?;
                topics::partition(topic, index).ok_or(ErrorCode::UnknownTopicOrPartition)
            };
            let partitions = topic
                .partitions
                .iter()
                .map(|asked| PartitionPlan { asked: asked.clone(), found: locate(asked.partition) })
                .collect();
            TopicPlan { name: topic.topic.to_owned(), id: topic.topic_id, partitions }
        })
        .collect();
    let max_bytes = usize::try_from(request.max_bytes).unwrap_or(0).min(node.settings.fetch_max_bytes);
    let min_bytes = usize::try_from(request.min_bytes).unwrap_or(0).min(max_bytes);
    FetchPlan { max_bytes, min_bytes, isolation_level: request.isolation_level, topics }
}

/// What a version says of a topic that does not exist, or no longer.
fn missing(version: i16) -> ErrorCode {
    if version >= TOPIC_IDS_FROM { ErrorCode::UnknownTopicId } else { ErrorCode::UnknownTopicOrPartition }
}

/// What was found for one partition.
struct Answer {
    error: ErrorCode,
    high_watermark: i64,
    last_stable_offset: i64,
    log_start_offset: i64,
    diverging: Option<(LeaderEpoch, Offset)>,
    records: Vec<u8>,
}

impl Answer {
    fn refused(error: ErrorCode) -> Self {
        Self {
            error,
            high_watermark: -1,
            last_stable_offset: -1,
            log_start_offset: -1,
            diverging: None,
            records: Vec::new(),
        }
    }
}

/// What was found for all of them, in the order asked.
struct Answers {
    partitions: Vec<Answer>,
    bytes: usize,
}

impl Answers {
    /// Whether there is no point in waiting: enough bytes, or something that the client must hear of at once.
    fn is_complete(&self, min_bytes: usize) -> bool {
        self.bytes >= min_bytes
            || self
                .partitions
                .iter()
                .any(|answer| answer.error != ErrorCode::None || answer.diverging.is_some())
    }
}

fn read_all(node: &mut Node, version: i16, plan: &FetchPlan, max_bytes: usize) -> Answers {
    let mut answers = Answers { partitions: Vec::new(), bytes: 0 };
    for partition in plan.topics.iter().flat_map(|topic| &topic.partitions) {
        let budget = max_bytes.saturating_sub(answers.bytes);
        let first = if answers.bytes == 0 { FirstBatch::AlwaysWhole } else { FirstBatch::OnlyIfFits };
        let found = partition.found.and_then(|id| {
            let is_deleted = node.metadata.image().topic_by_id(id.topic).is_none();
            if is_deleted {
                return Err(missing(version));
            }
            read_one(&mut node.logs, id, &partition.asked, budget, first)
        });
        let answer = match found {
            Ok(answer) => answer,
            // Older clients do not know KAFKA_STORAGE_ERROR.
            Err(ErrorCode::KafkaStorageError) if version <= 5 => {
                Answer::refused(ErrorCode::NotLeaderOrFollower)
            }
            Err(error) => Answer::refused(error),
        };
        answers.bytes += answer.records.len();
        answers.partitions.push(answer);
    }
    answers
}

fn read_one(
    logs: &mut LogSet,
    id: TopicPartition,
    asked: &FetchPartition,
    budget: usize,
    first: FirstBatch,
) -> Result<Answer, ErrorCode> {
    let log = logs.log(id).ok_or(ErrorCode::NotLeaderOrFollower)?;
    errors::check_leader_epoch(asked.current_leader_epoch, logs.leader_epoch())?;
    let mut answer = Answer {
        error: ErrorCode::None,
        high_watermark: log.high_watermark().0,
        last_stable_offset: log.last_stable_offset().0,
        log_start_offset: log.log_start_offset().0,
        diverging: diverging_epoch(log, asked),
        records: Vec::new(),
    };
    if answer.diverging.is_some() {
        return Ok(answer);
    }
    let max_bytes = usize::try_from(asked.partition_max_bytes).unwrap_or(0).min(budget);
    answer.records = logs
        .read(id, Offset(asked.fetch_offset), max_bytes, first)
        .map_err(|error| errors::of_read(&error))?;
    Ok(answer)
}

/// KIP-595: where the log parted from what the client last read, if it did.
fn diverging_epoch(log: &PartitionLog, asked: &FetchPartition) -> Option<(LeaderEpoch, Offset)> {
    if asked.last_fetched_epoch < 0 {
        return None;
    }
    let epoch = LeaderEpoch(asked.last_fetched_epoch);
    let (found, end) = log.end_offset_for_epoch(epoch)?;
    (found < epoch || end < Offset(asked.fetch_offset)).then_some((found, end))
}

fn respond(node: &mut Node, key: RequestKey, plan: &FetchPlan, answers: &Answers) {
    let mut found = answers.partitions.iter();
    let leader =
        LeaderIdAndEpoch { leader_id: node.settings.node_id, leader_epoch: node.logs.leader_epoch().0 };
    let mut names_leader = false;
    let mut responses = Vec::with_capacity(plan.topics.len());
    for topic in &plan.topics {
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for (asked, answer) in topic.partitions.iter().zip(found.by_ref()) {
            let stale = matches!(answer.error, ErrorCode::NotLeaderOrFollower | ErrorCode::FencedLeaderEpoch);
            let tell_leader = stale && key.version >= ENDPOINTS_FROM;
            names_leader |= tell_leader;
            let mut data = partition_data(asked.asked.partition, plan.isolation_level, answer);
            if tell_leader {
                data.current_leader = leader.clone();
            }
            partitions.push(data);
        }
        responses.push(FetchableTopicResponse { topic: &topic.name, topic_id: topic.id, partitions });
    }
    let endpoint = NodeEndpoint {
        node_id: node.settings.node_id,
        host: &node.endpoint.host,
        port: i32::from(node.endpoint.port),
        rack: None,
    };
    let node_endpoints = if names_leader { vec![endpoint] } else { Vec::new() };
    node.connections.respond(key, &FetchResponse { responses, node_endpoints, ..FetchResponse::default() });
}

fn partition_data(index: i32, isolation_level: i8, answer: &Answer) -> PartitionData<'_> {
    PartitionData {
        partition_index: index,
        error_code: answer.error,
        high_watermark: answer.high_watermark,
        last_stable_offset: answer.last_stable_offset,
        log_start_offset: answer.log_start_offset,
        // Without transactions none was aborted; read_committed still wants a list, read_uncommitted none.
        aborted_transactions: (isolation_level == READ_COMMITTED && answer.error == ErrorCode::None)
            .then(Vec::new),
        records: Some(&answer.records),
        diverging_epoch: answer.diverging.map_or_else(EpochEndOffset::default, |(epoch, end)| {
            EpochEndOffset { epoch: epoch.0, end_offset: end.0 }
        }),
        ..PartitionData::default()
    }
}
