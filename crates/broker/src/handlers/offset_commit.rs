//! OffsetCommit (8), versions 2–10: where consumers of a group read next.
//!
//! Topics that do not exist are refused here, partition by partition; what is left goes to the group's coordinator as
//! one request and is answered when it is durable. If nothing is left the coordinator is not asked at all, as in Kafka.

use milepost_groups::{MissingGroup, OffsetCommit, OffsetToCommit, Reply, Request};
use milepost_model::{Generation, LeaderEpoch, Offset, PartitionIndex, TopicId};
use milepost_wire::ErrorCode;
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse,
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};

/// The first version that names topics by id.
const TOPIC_IDS_FROM: i16 = 10;
/// The first version that knows GROUP_ID_NOT_FOUND.
const GROUP_ID_NOT_FOUND_FROM: i16 = 9;

/// What the answer repeats: topics, partitions, and which of them the coordinator never saw.
#[derive(Debug)]
pub(crate) struct Asked {
    topics: Vec<AskedTopic>,
}

#[derive(Debug)]
struct AskedTopic {
    name: String,
    id: TopicId,
    /// The partition, and its code if it was refused at the edge.
    partitions: Vec<(i32, Option<ErrorCode>)>,
}

/// A topic of the request that exists.
struct Resolved {
    id: TopicId,
    partition_count: i32,
    /// Its name, if the request has only the id.
    name: Option<String>,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &OffsetCommitRequest<'_>) -> Handled {
    let version = context.key.version;
    let resolved: Vec<Option<Resolved>> =
        request.topics.iter().map(|topic| resolve(node, version, topic)).collect();
    let mut asked = Asked { topics: Vec::with_capacity(request.topics.len()) };
    let mut offsets = Vec::new();
    for (topic, resolved) in request.topics.iter().zip(&resolved) {
        let partitions = sort_out(version, topic, resolved.as_ref(), &mut offsets);
        asked.topics.push(AskedTopic { name: topic.name.to_owned(), id: topic.topic_id, partitions });
    }
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

fn resolve(node: &Node, version: i16, topic: &OffsetCommitRequestTopic<'_>) -> Option<Resolved> {
    let image = node.metadata.image();
    let by_id = version >= TOPIC_IDS_FROM;
    let found = if by_id { image.topic_by_id(topic.topic_id) } else { image.topic(topic.name) }?;
    let name = by_id.then(|| found.name.clone());
    Some(Resolved { id: found.id, partition_count: found.partition_count, name })
}

/// Splits a topic's partitions: what exists goes to the coordinator, the rest is refused here.
fn sort_out<'a>(
    version: i16,
    topic: &OffsetCommitRequestTopic<'a>,
    resolved: Option<&'a Resolved>,
    offsets: &mut Vec<OffsetToCommit<'a>>,
) -> Vec<(i32, Option<ErrorCode>)> {
    let Some(found) = resolved else {
        let code = if version >= TOPIC_IDS_FROM {
            ErrorCode::UnknownTopicId
        } else {
            ErrorCode::UnknownTopicOrPartition
        };
        return topic.partitions.iter().map(|partition| (partition.partition_index, Some(code))).collect();
    };
    let mut one = |partition: &OffsetCommitRequestPartition<'a>| {
        let index = partition.partition_index;
        if !(0..found.partition_count).contains(&index) {
            return (index, Some(ErrorCode::UnknownTopicOrPartition));
        }
        let epoch = partition.committed_leader_epoch;
        offsets.push(OffsetToCommit {
            topic: found.name.as_deref().unwrap_or(topic.name),
            topic_id: Some(found.id),
            partition: PartitionIndex(index),
            offset: Offset(partition.committed_offset),
            leader_epoch: (epoch >= 0).then_some(LeaderEpoch(epoch)),
            metadata: partition.committed_metadata.unwrap_or(""),
        });
        (index, None)
    };
    topic.partitions.iter().map(&mut one).collect()
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
fn respond(node: &mut Node, key: RequestKey, asked: &Asked, mut code: impl FnMut(usize) -> ErrorCode) {
    let mut index = 0;
    let mut partition = |(partition_index, refused): &(i32, Option<ErrorCode>)| {
        let error_code = refused.unwrap_or_else(|| {
            index += 1;
            code(index - 1)
        });
        OffsetCommitResponsePartition { partition_index: *partition_index, error_code }
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
