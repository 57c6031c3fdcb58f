//! TxnOffsetCommit (28), versions 0–6: offsets that a transaction commits with its records.
//!
//! Before the group's coordinator is asked, its partition of `__consumer_offsets` must be part of the transaction: up to
//! version 4 AddOffsetsToTxn has added it, from version 5 on it is added here (KIP-890).

use milepost_coordinator::Refusal;
use milepost_groups::{GroupError, Reply, Request, TxnOffsetCommit};
use milepost_model::{Generation, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity};
use milepost_transactions::TransactionError;
use milepost_wire::ErrorCode;
use milepost_wire::messages::txn_offset_commit::{
    TxnOffsetCommitRequest, TxnOffsetCommitRequestTopic, TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition, TxnOffsetCommitResponseTopic,
};

use super::Context;
pub(crate) use super::commits::Asked;
use super::commits::{self, NamedBy, PartitionToCommit, Resolved, TopicToCommit};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey, ToVerify, Unverified, Verdicts, Verification};
use crate::topics::{self, OFFSETS_TOPIC};

/// The first version that knows COORDINATOR_LOAD_IN_PROGRESS.
const LOADING_FROM: i16 = 2;
/// The first version that knows TRANSACTION_ABORTABLE.
const ABORTABLE_FROM: i16 = 4;
/// The first version that adds the partition by itself.
const ADDING_FROM: i16 = 5;
/// The first version that names topics by id, and knows the errors of consumer groups.
const TOPIC_IDS_FROM: i16 = 6;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &TxnOffsetCommitRequest<'_>) {
    commit(node, context, request, None);
}

/// Goes on once the partition was verified.
pub(crate) fn go_on(
    node: &mut Node,
    context: Context<'_>,
    request: &TxnOffsetCommitRequest<'_>,
    verdicts: &Verdicts,
) {
    commit(node, context, request, Some(verdicts));
}

fn commit(
    node: &mut Node,
    context: Context<'_>,
    request: &TxnOffsetCommitRequest<'_>,
    verdicts: Option<&Verdicts>,
) {
    let (version, shard) = (context.key.version, node.shard_of(request.group_id));
    let named_by = if version >= TOPIC_IDS_FROM { NamedBy::Id } else { NamedBy::Name };
    let resolve = |topic: &TxnOffsetCommitRequestTopic<'_>| {
        commits::resolve(node, named_by, topic.name, topic.topic_id)
    };
    let resolved: Vec<Option<Resolved>> = request.topics.iter().map(resolve).collect();
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|partition| PartitionToCommit {
            index: partition.partition_index,
            offset: partition.committed_offset,
            leader_epoch: partition.committed_leader_epoch,
            metadata: partition.committed_metadata,
        });
        (TopicToCommit { name: topic.name, id: topic.topic_id }, partitions)
    });
    let (asked, offsets) = commits::sort_out(named_by, topics, &resolved);
    if offsets.is_empty() {
        return respond(node, context.key, &asked, |_| ErrorCode::None);
    }
    match verdicts.map(|verdicts| verdicts.of(OFFSETS_TOPIC, shard)) {
        Some(Err(unverified)) => {
            let code = of_unverified(version, unverified);
            return respond(node, context.key, &asked, |_| code);
        }
        Some(Ok(())) => {}
        None => {
            if let Some(asked) = to_verify(node, version, request, shard) {
                return node.hold(context, asked);
            }
        }
    }
    let commit = TxnOffsetCommit {
        group_id: request.group_id,
        member_id: Some(request.member_id).filter(|id| !id.is_empty()),
        group_instance_id: request.group_instance_id,
        generation: Some(Generation(request.generation_id_or_member_epoch)).filter(|given| given.0 >= 0),
        producer: producer(request),
        offsets,
    };
    let answer = GroupAnswer::TxnOffsetCommit(asked);
    node.ask(context.now, context.key, answer, request.group_id, Request::TxnOffsetCommit(commit));
}

fn producer(request: &TxnOffsetCommitRequest<'_>) -> ProducerIdentity {
    ProducerIdentity { id: ProducerId(request.producer_id), epoch: ProducerEpoch(request.producer_epoch) }
}

/// What must be verified. Nothing is if the transaction is open in the partition already, or if the request is one that
/// no group takes.
fn to_verify(
    node: &Node,
    version: i16,
    request: &TxnOffsetCommitRequest<'_>,
    shard: PartitionIndex,
) -> Option<ToVerify> {
    let verification = if version >= ADDING_FROM { Verification::Add } else { Verification::Verify };
    let offsets = node.metadata.image().topic(OFFSETS_TOPIC)?;
    let log = node.logs.log(topics::partition(offsets, shard.0)?)?;
    let is_open = log.ongoing_transaction(producer(request)).is_some();
    let is_wanted = verification == Verification::Add || node.settings.verifies_partitions;
    if is_open || !is_wanted || request.group_id.is_empty() {
        return None;
    }
    Some(ToVerify {
        transactional_id: request.transactional_id.to_owned(),
        producer: producer(request),
        verification,
        partitions: vec![(OFFSETS_TOPIC.to_owned(), shard)],
    })
}

/// Why the partition is not known to be part of the transaction. Clients take PRODUCER_FENCED for an answer of the
/// coordinator of transactions only, and know how to wait for one of groups that loads (KAFKA-16386).
fn of_unverified(version: i16, unverified: Unverified) -> ErrorCode {
    match unverified {
        Unverified::NoAnswer if version < LOADING_FROM => ErrorCode::CoordinatorNotAvailable,
        Unverified::NoAnswer => ErrorCode::CoordinatorLoadInProgress,
        Unverified::Refused(TransactionError::TransactionAbortable) if version < ABORTABLE_FROM => {
            ErrorCode::InvalidTxnState
        }
        Unverified::Refused(TransactionError::ProducerFenced) => ErrorCode::InvalidProducerEpoch,
        Unverified::Refused(error) => errors::of_transaction(error),
    }
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, result: GroupResult) {
    match result {
        Ok(Reply::TxnOffsetCommit(Ok(refused))) => {
            let mut refused = refused.into_iter().peekable();
            respond(node, key, asked, |index| match refused.next_if(|refused| refused.index == index) {
                Some(refused) => errors::of_group(refused.error),
                None => ErrorCode::None,
            });
        }
        Ok(Reply::TxnOffsetCommit(Err(error))) => {
            respond(node, key, asked, |_| of_group(key.version, error));
        }
        Ok(other) => panic!("a coordinator answered TxnOffsetCommit with {other:?}"),
        Err(Refusal::Loading) if key.version < LOADING_FROM => {
            respond(node, key, asked, |_| ErrorCode::CoordinatorNotAvailable);
        }
        Err(refusal) => respond(node, key, asked, |_| errors::of_runtime(refusal)),
    }
}

/// Older versions do not know how a member of a consumer group is fenced.
fn of_group(version: i16, error: GroupError) -> ErrorCode {
    match error {
        GroupError::StaleMemberEpoch | GroupError::GroupIdNotFound if version < TOPIC_IDS_FROM => {
            ErrorCode::IllegalGeneration
        }
        error => errors::of_group(error),
    }
}

/// Writes the answer; `code` tells, for the n-th partition that went to the coordinator, what became of it.
fn respond(node: &mut Node, key: RequestKey, asked: &Asked, code: impl FnMut(usize) -> ErrorCode) {
    let mut codes = Asked::codes(code);
    let topics = asked
        .topics
        .iter()
        .map(|topic| TxnOffsetCommitResponseTopic {
            name: &topic.name,
            topic_id: topic.id,
            partitions: topic
                .partitions
                .iter()
                .map(|partition| TxnOffsetCommitResponsePartition {
                    partition_index: partition.0,
                    error_code: codes(partition),
                })
                .collect(),
        })
        .collect();
    node.connections.respond(key, &TxnOffsetCommitResponse { topics, ..TxnOffsetCommitResponse::default() });
}
