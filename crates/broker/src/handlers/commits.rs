//! What OffsetCommit and TxnOffsetCommit have in common: topics are looked up here, by name or id, and partitions that do
//! not exist are refused one by one; what is left goes to the group's coordinator as one request.

use milepost_groups::OffsetToCommit;
use milepost_model::{LeaderEpoch, Offset, PartitionIndex, TopicId};
use milepost_wire::ErrorCode;

use crate::node::Node;

/// How a request names its topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedBy {
    Name,
    Id,
}

/// What the answer repeats: topics, partitions, and which of them the coordinator never saw.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(super) topics: Vec<AskedTopic>,
}

#[derive(Debug)]
pub(super) struct AskedTopic {
    pub(super) name: String,
    pub(super) id: TopicId,
    /// The partition, and its code if it was refused at the edge.
    pub(super) partitions: Vec<(i32, Option<ErrorCode>)>,
}

impl Asked {
    /// The code of each partition, asked for in the answer's order; `code` tells, for the n-th one that went to the
    /// coordinator, what became of it.
    pub(super) fn codes(
        mut code: impl FnMut(usize) -> ErrorCode,
    ) -> impl FnMut(&(i32, Option<ErrorCode>)) -> ErrorCode {
        let mut index = 0;
        move |(_, refused)| {
            refused.unwrap_or_else(|| {
                index += 1;
                code(index - 1)
            })
        }
    }
}

/// A topic of the request that exists.
pub(super) struct Resolved {
    id: TopicId,
    partition_count: i32,
    /// Its name, if the request has only the id.
    name: Option<String>,
}

/// A partition of a request, as the wire has it.
pub(super) struct PartitionToCommit<'a> {
    pub(super) index: i32,
    pub(super) offset: i64,
    pub(super) leader_epoch: i32,
    pub(super) metadata: Option<&'a str>,
}

/// A topic of a request, as the wire has it.
#[derive(Clone, Copy)]
pub(super) struct TopicToCommit<'a> {
    pub(super) name: &'a str,
    pub(super) id: TopicId,
}

pub(super) fn resolve(node: &Node, named_by: NamedBy, name: &str, id: TopicId) -> Option<Resolved> {
    let image = node.metadata.image();
    let (found, name) = match named_by {
        NamedBy::Name => (image.topic(name)?, None),
        NamedBy::Id => {
            let found = image.topic_by_id(id)?;
            (found, Some(found.name.clone()))
        }
    };
    Some(Resolved { id: found.id, partition_count: found.partition_count, name })
}

/// Splits the partitions of a request: what exists goes to the coordinator, the rest is refused here.
pub(super) fn sort_out<'a, P: Iterator<Item = PartitionToCommit<'a>>>(
    named_by: NamedBy,
    topics: impl ExactSizeIterator<Item = (TopicToCommit<'a>, P)>,
    resolved: &'a [Option<Resolved>],
) -> (Asked, Vec<OffsetToCommit<'a>>) {
    let mut asked = Asked { topics: Vec::with_capacity(topics.len()) };
    let mut offsets = Vec::new();
    for ((topic, partitions), resolved) in topics.zip(resolved) {
        let partitions = sort_out_topic(named_by, topic.name, resolved.as_ref(), partitions, &mut offsets);
        asked.topics.push(AskedTopic { name: topic.name.to_owned(), id: topic.id, partitions });
    }
    (asked, offsets)
}

fn sort_out_topic<'a>(
    named_by: NamedBy,
    name: &'a str,
    resolved: Option<&'a Resolved>,
    partitions: impl Iterator<Item = PartitionToCommit<'a>>,
    offsets: &mut Vec<OffsetToCommit<'a>>,
) -> Vec<(i32, Option<ErrorCode>)> {
    let Some(found) = resolved else {
        let code = match named_by {
            NamedBy::Name => ErrorCode::UnknownTopicOrPartition,
            NamedBy::Id => ErrorCode::UnknownTopicId,
        };
        return partitions.map(|partition| (partition.index, Some(code))).collect();
    };
    let one = |partition: PartitionToCommit<'a>| {
        let PartitionToCommit { index, offset, leader_epoch, metadata } = partition;
        if !(0..found.partition_count).contains(&index) {
            return (index, Some(ErrorCode::UnknownTopicOrPartition));
        }
        offsets.push(OffsetToCommit {
            topic: found.name.as_deref().unwrap_or(name),
            topic_id: Some(found.id),
            partition: PartitionIndex(index),
            offset: Offset(offset),
            leader_epoch: (leader_epoch >= 0).then_some(LeaderEpoch(leader_epoch)),
            metadata: metadata.unwrap_or(""),
        });
        (index, None)
    };
    partitions.map(one).collect()
}
