//! OffsetCommit (8), versions 2–10: where consumers of a group read next.
//!
//! Topics that do not exist are refused here, partition by partition; what is left goes to the group's coordinator as
//! one request and is answered when it is durable. If nothing is left the coordinator is not asked at all, as in Kafka.

use milepost_groups::{MissingGroup, OffsetCommit, Reply, Request};
use milepost_model::Generation;
use milepost_wire::ErrorCode;
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestTopic, OffsetCommitResponse, OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
};

pub(crate) use super::commits::Asked;
use super::commits::{self, NamedBy, PartitionToCommit, Resolved, TopicToCommit};
use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};

/// The first version that names topics by id.
const TOPIC_IDS_FROM: i16 = 10;
/// The first version that knows GROUP_ID_NOT_FOUND.
const GROUP_ID_NOT_FOUND_FROM: i16 = 9;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &OffsetCommitRequest<'_>) -> Handled {
    let version = context.key.version;
    let named_by = if version >= TOPIC_IDS_FROM { NamedBy::Id } else { NamedBy::Name };
    let resolve =
        |topic: &OffsetCommitRequestTopic<'_>| commits::resolve(node, named_by, topic.name, topic.topic_id);
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
        respond(node, context.key, &asked, |_| ErrorCode::None);
        return Ok(());
    }
    let generation = request.generation_id_or_member_epoch;
    let commit = OffsetCommit {
        group_id: request.group_id,
        member_id: Some(request.member_id).filter(|id| !id.is_empty()),
        group_instance_id: request.group_instance_id,
        generation: (generation >= 0).then_some(Generation(generation)),
        retention_ms: (request.retention_time_ms >= 0).then_some(request.retention_time_ms),
        missing_group: if version >= GROUP_ID_NOT_FOUND_FROM {
            MissingGroup::GroupIdNotFound
        } else {
            MissingGroup::IllegalGeneration
        },
        offsets,
    };
    let answer = GroupAnswer::OffsetCommit(asked);
    node.ask(context.now, context.key, answer, request.group_id, Request::OffsetCommit(commit));
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, result: GroupResult) {
    match result {
        Ok(Reply::OffsetCommit(Ok(refused))) => {
            let mut refused = refused.into_iter().peekable();
            respond(node, key, asked, |index| match refused.next_if(|refused| refused.index == index) {
                Some(refused) => errors::of_group(refused.error),
                None => ErrorCode::None,
            });
        }
        Ok(Reply::OffsetCommit(Err(error))) => respond(node, key, asked, |_| errors::of_group(error)),
        Ok(other) => panic!("a coordinator answered OffsetCommit with {other:?}"),
        Err(refusal) => respond(node, key, asked, |_| errors::of_runtime(refusal)),
    }
}

/// Writes the answer; `code` tells, for the n-th partition that went to the coordinator, what became of it.
fn respond(node: &mut Node, key: RequestKey, asked: &Asked, code: impl FnMut(usize) -> ErrorCode) {
    let mut codes = Asked::codes(code);
    let mut partition = |partition: &(i32, Option<ErrorCode>)| OffsetCommitResponsePartition {
        partition_index: partition.0,
        error_code: codes(partition),
    };
    let topics = asked
        .topics
        .iter()
        .map(|topic| OffsetCommitResponseTopic {
            name: &topic.name,
            topic_id: topic.id,
            partitions: topic.partitions.iter().map(&mut partition).collect(),
        })
        .collect();
    node.connections.respond(key, &OffsetCommitResponse { topics, ..OffsetCommitResponse::default() });
}
