//! Reading what a Fetch asks for, partition by partition.

use milepost_batch::BatchView;
use milepost_log::{AbortedTransaction, FirstBatch, IsolationLevel, LogSet, PartitionLog};
use milepost_model::{LeaderEpoch, Offset, TopicPartition};
use milepost_wire::ErrorCode;
use milepost_wire::messages::fetch::FetchPartition;

use super::plan::{FetchPlan, missing};
use crate::errors;
use crate::fetch_sessions::Seen;
use crate::node::Node;

/// What was found for one partition.
pub(super) struct Answer {
    pub(super) error: ErrorCode,
    pub(super) high_watermark: i64,
    pub(super) last_stable_offset: i64,
    pub(super) log_start_offset: i64,
    pub(super) diverging: Option<(LeaderEpoch, Offset)>,
    pub(super) records: Vec<u8>,
    /// To readers of committed records: the aborted transactions among the records.
    pub(super) aborted: Option<Vec<AbortedTransaction>>,
}

impl Answer {
    /// What a session is told of it.
    pub(super) fn seen(&self) -> Seen {
        Seen {
            has_records: !self.records.is_empty(),
            high_watermark: self.high_watermark,
            log_start_offset: self.log_start_offset,
            is_trouble: self.error != ErrorCode::None || self.diverging.is_some(),
        }
    }

    fn refused(error: ErrorCode) -> Self {
        Self {
            error,
            high_watermark: -1,
            last_stable_offset: -1,
            log_start_offset: -1,
            diverging: None,
            records: Vec::new(),
            aborted: None,
        }
    }
}

/// What was found for all of them, in the order asked.
pub(super) struct Answers {
    pub(super) partitions: Vec<Answer>,
    pub(super) bytes: usize,
}

impl Answers {
    /// Whether there is no point in waiting: enough bytes, or something that the client must hear of at once.
    pub(super) fn is_complete(&self, min_bytes: usize) -> bool {
        self.bytes >= min_bytes
            || self
                .partitions
                .iter()
                .any(|answer| answer.error != ErrorCode::None || answer.diverging.is_some())
    }
}

pub(super) fn read_all(node: &mut Node, version: i16, plan: &FetchPlan, max_bytes: usize) -> Answers {
    let mut answers = Answers { partitions: Vec::new(), bytes: 0 };
    for partition in plan.topics.iter().flat_map(|topic| &topic.partitions) {
        let budget = max_bytes.saturating_sub(answers.bytes);
        let first = if answers.bytes == 0 { FirstBatch::AlwaysWhole } else { FirstBatch::OnlyIfFits };
        let found = partition.found.and_then(|id| {
            let is_deleted = node.metadata.image().topic_by_id(id.topic).is_none();
            if is_deleted {
                return Err(missing(version));
            }
            read_one(&mut node.logs, id, &partition.asked, plan.isolation_level, (budget, first))
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
    isolation: IsolationLevel,
    (budget, first): (usize, FirstBatch),
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
        aborted: (isolation == IsolationLevel::ReadCommitted).then(Vec::new),
    };
    if answer.diverging.is_some() {
        return Ok(answer);
    }
    let max_bytes = usize::try_from(asked.partition_max_bytes).unwrap_or(0).min(budget);
    let from = Offset(asked.fetch_offset);
    answer.records =
        logs.read(id, from, max_bytes, first, isolation).map_err(|error| errors::of_read(&error))?;
    if let (Some(aborted), Some(end)) = (&mut answer.aborted, end_of(&answer.records)) {
        *aborted = logs.aborted_transactions(id, from, end).map_err(|error| errors::of_read(&error))?;
    }
    Ok(answer)
}

/// The offset after the last of these batches.
fn end_of(mut batches: &[u8]) -> Option<Offset> {
    let mut end = None;
    while let Ok((batch, rest)) = BatchView::parse(batches) {
        end = Some(batch.next_offset());
        batches = rest;
    }
    end
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
