//! Fetch (1), versions 4–18: whole batches below the high watermark, at once or when enough has come.
//!
//! Partitions are read in the order asked for, or in that of the session; the first batch found is whole even if it is
//! larger than every limit, so that no consumer can get stuck behind it. In a session (`fetch_sessions`) an answer names
//! only partitions of which there is news.

mod plan;
mod read;

use milepost_wire::ErrorCode;
use milepost_wire::messages::fetch::{
    AbortedTransaction, EpochEndOffset, FetchRequest, FetchResponse, FetchableTopicResponse,
    LeaderIdAndEpoch, NodeEndpoint, PartitionData,
};

use super::{Context, Handled};
use crate::fetch_sessions::{SessionId, SessionPartition};
use crate::node::{Node, RequestKey};
use crate::purgatory::FetchWait;

pub(crate) use plan::FetchPlan;
use plan::PlanSession;
use read::{Answer, Answers};

/// The first version whose answers name the leader and its address beside NOT_LEADER and FENCED_LEADER_EPOCH.
const ENDPOINTS_FROM: i16 = 16;
pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &FetchRequest<'_>) -> Handled {
    let plan = match plan::plan(node, context, request) {
        Ok(plan) => plan,
        Err(error_code) => {
            refuse_session(node, context.key, 0, error_code);
            return Ok(());
        }
    };
    let max_wait_ms = u64::try_from(request.max_wait_ms).unwrap_or(0);
    let deadline = context.now.monotonic.plus_ms(max_wait_ms);
    let wait = FetchWait { key: context.key, deadline, plan };
    answer_or_park(node, wait, if max_wait_ms == 0 { Patience::None } else { Patience::UntilDeadline });
    Ok(())
}

/// Answers whoever still waits in a session that went on without it, or is gone.
fn answer_overtaken(node: &mut Node, id: SessionId) {
    if let Some(wait) = node.fetches.take_session(id) {
        refuse_session(node, wait.key, id.0, ErrorCode::InvalidFetchSessionEpoch);
    }
}

/// Says what is wrong with the session, and nothing else.
fn refuse_session(node: &mut Node, key: RequestKey, session_id: i32, error_code: ErrorCode) {
    node.connections.respond(key, &FetchResponse { error_code, session_id, ..FetchResponse::default() });
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
    let answers = read::read_all(node, wait.key.version, &wait.plan, max_bytes);
    let nothing_asked = wait.plan.topics.is_empty();
    let min_bytes = wait.plan.min_bytes.min(max_bytes);
    if patience == Patience::UntilDeadline && !nothing_asked && !answers.is_complete(min_bytes) {
        node.fetches.park(wait);
        return;
    }
    respond(node, wait.key, &wait.plan, &answers);
}

/// Which session the answer names, 0 for none, and which partitions.
struct Named {
    session_id: i32,
    partitions: Vec<bool>,
}

/// Tells the session what is answered.
///
/// # Errors
/// INVALID_FETCH_SESSION_EPOCH when the session went on without this answer.
fn name(node: &mut Node, plan: &FetchPlan, answers: &Answers) -> Result<Named, ErrorCode> {
    let all = vec![true; answers.partitions.len()];
    match plan.session {
        PlanSession::None => Ok(Named { session_id: 0, partitions: all }),
        PlanSession::Begins { asked_at, topic_keys } => {
            let asked = plan.topics.iter().flat_map(|topic| {
                topic.partitions.iter().map(|partition| SessionPartition {
                    topic: topic.key.clone(),
                    asked: partition.asked.clone(),
                })
            });
            let partitions = asked.zip(answers.partitions.iter().map(Answer::seen)).collect();
            let random = &mut node.random;
            let numbers = || {
                let mut bytes = [0; 4];
                random.fill(&mut bytes);
                i32::from_be_bytes(bytes)
            };
            let id = node.fetch_sessions.create(asked_at, topic_keys, partitions, numbers);
            Ok(Named { session_id: id.map_or(0, |id| id.0), partitions: all })
        }
        PlanSession::Continues { id, epoch } => {
            let seen: Vec<_> = answers.partitions.iter().map(Answer::seen).collect();
            let partitions = node.fetch_sessions.answer(id, epoch, &seen)?;
            Ok(Named { session_id: id.0, partitions })
        }
    }
}

fn respond(node: &mut Node, key: RequestKey, plan: &FetchPlan, answers: &Answers) {
    let named = match name(node, plan, answers) {
        Ok(named) => named,
        Err(error_code) => {
            refuse_session(node, key, plan.continues().map_or(0, |id| id.0), error_code);
            return;
        }
    };
    let mut found = answers.partitions.iter().zip(named.partitions);
    let leader =
        LeaderIdAndEpoch { leader_id: node.settings.node_id, leader_epoch: node.logs.leader_epoch().0 };
    let mut names_leader = false;
    let mut responses = Vec::with_capacity(plan.topics.len());
    for topic in &plan.topics {
        let mut partitions = Vec::with_capacity(topic.partitions.len());
        for (asked, (answer, is_named)) in topic.partitions.iter().zip(found.by_ref()) {
            if !is_named {
                continue;
            }
            let stale = matches!(answer.error, ErrorCode::NotLeaderOrFollower | ErrorCode::FencedLeaderEpoch);
            let tell_leader = stale && key.version >= ENDPOINTS_FROM;
            names_leader |= tell_leader;
            let mut data = partition_data(asked.asked.partition, answer);
            if tell_leader {
                data.current_leader = leader.clone();
            }
            partitions.push(data);
        }
        if partitions.is_empty() && plan.continues().is_some() {
            continue;
        }
        let (topic, topic_id) = topic.name_and_id();
        responses.push(FetchableTopicResponse { topic, topic_id, partitions });
    }
    let endpoint = NodeEndpoint {
        node_id: node.settings.node_id,
        host: &node.endpoint.host,
        port: i32::from(node.endpoint.port),
        rack: None,
    };
    let node_endpoints = if names_leader { vec![endpoint] } else { Vec::new() };
    let session_id = named.session_id;
    let response = FetchResponse { session_id, responses, node_endpoints, ..FetchResponse::default() };
    node.connections.respond(key, &response);
}

fn partition_data(index: i32, answer: &Answer) -> PartitionData<'_> {
    PartitionData {
        partition_index: index,
        error_code: answer.error,
        high_watermark: answer.high_watermark,
        last_stable_offset: answer.last_stable_offset,
        log_start_offset: answer.log_start_offset,
        // Readers of committed records want a list even if it is empty, others none.
        aborted_transactions: answer.aborted.as_ref().map(|aborted| aborted.iter().map(to_wire).collect()),
        records: Some(&answer.records),
        diverging_epoch: answer.diverging.map_or_else(EpochEndOffset::default, |(epoch, end)| {
            EpochEndOffset { epoch: epoch.0, end_offset: end.0 }
        }),
        ..PartitionData::default()
    }
}

fn to_wire(aborted: &milepost_log::AbortedTransaction) -> AbortedTransaction {
    AbortedTransaction { producer_id: aborted.producer_id.0, first_offset: aborted.first_offset.0 }
}
