//! OffsetFetch (9), versions 1–10: where groups read next.
//!
//! "Never committed" is a success with offset −1; the number is made here. An error of the coordinator is on each
//! partition in version 1, on the answer in versions 2–7, on the group from version 8.

use std::rc::Rc;

use milepost_coordinator::Refusal;
use milepost_groups::{
    CommittedOffset, Epoch, FetchedTopic, GroupError, OffsetFetch, PartitionToFetch, PartitionsToFetch,
    Reply, Request, Stability,
};
use milepost_model::{PartitionIndex, TopicId};
use milepost_wire::ErrorCode;
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics, OffsetFetchResponse,
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};

/// The first version that asks for several groups.
const GROUPS_FROM: i16 = 8;
/// The first version that names topics by id.
const TOPIC_IDS_FROM: i16 = 10;
/// The first version with an error of its own beside the partitions'.
const ERROR_FROM: i16 = 2;

/// What was asked, group by group. Shared, because the coordinators' requests borrow the names the answer repeats.
#[derive(Clone, Debug)]
pub(crate) struct Asked(Rc<Vec<AskedGroup>>);

#[derive(Debug)]
struct AskedGroup {
    group_id: String,
    /// Who asks, if a member of a consumer group does, and in which epoch.
    member: (Option<String>, Option<Epoch>),
    /// `None`: everything the group has committed.
    topics: Option<Vec<AskedTopic>>,
}

#[derive(Debug)]
struct AskedTopic {
    name: String,
    id: TopicId,
    /// `None`: the request has an id that no topic has.
    known: Option<Known>,
    partitions: Vec<i32>,
}

/// A topic that may be asked for; by name it need not exist.
#[derive(Debug)]
struct Known {
    /// What the coordinator compares the stored id with.
    id: Option<TopicId>,
}

/// What was found for one group, in a form all versions are written from.
struct Found {
    error: ErrorCode,
    topics: Vec<FoundTopic>,
}

struct FoundTopic {
    name: String,
    id: TopicId,
    partitions: Vec<(i32, Result<Option<CommittedOffset>, ErrorCode>)>,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &OffsetFetchRequest<'_>) -> Handled {
    let asked = Asked(Rc::new(asked_groups(node, context.key.version, request)));
    let stability = if request.require_stable { Stability::RequireStable } else { Stability::CommittedNow };
    let groups = Rc::clone(&asked.0);
    let parts = groups
        .iter()
        .map(|group| (node.shard_of(&group.group_id), Request::OffsetFetch(group.request(stability))))
        .collect();
    node.ask_all(context.now, context.key, GroupAnswer::OffsetFetch(asked), parts);
    Ok(())
}

impl AskedGroup {
    fn request(&self, stability: Stability) -> OffsetFetch<'_> {
        let partitions = match &self.topics {
            None => PartitionsToFetch::All,
            Some(topics) => {
                let known =
                    topics.iter().filter_map(|topic| topic.known.as_ref().map(|known| (topic, known)));
                let partitions = known.flat_map(|(topic, known)| {
                    topic.partitions.iter().map(|index| PartitionToFetch {
                        topic: &topic.name,
                        topic_id: known.id,
                        partition: PartitionIndex(*index),
                    })
                });
                PartitionsToFetch::Named(partitions.collect())
            }
        };
        OffsetFetch {
            group_id: &self.group_id,
            partitions,
            stability,
            member_id: self.member.0.as_deref(),
            member_epoch: self.member.1,
        }
    }
}

fn asked_groups(node: &Node, version: i16, request: &OffsetFetchRequest<'_>) -> Vec<AskedGroup> {
    let image = node.metadata.image();
    // By name the topic that has it now is meant: an offset of a former one of that name, whose removal a crash
    // prevented, says nothing about this one. Of a name that no topic has, anything that is left is told.
    let by_name = |name: &str, partitions: &[i32]| AskedTopic {
        name: name.to_owned(),
        id: TopicId::ZERO,
        known: Some(Known { id: image.topic(name).map(|topic| topic.id) }),
        partitions: partitions.to_vec(),
    };
    if version < GROUPS_FROM {
        let topics = request.topics.as_ref().map(|topics| {
            topics.iter().map(|topic| by_name(topic.name, &topic.partition_indexes)).collect::<Vec<_>>()
        });
        return vec![AskedGroup { group_id: request.group_id.to_owned(), member: (None, None), topics }];
    }
    let by_id = |id: TopicId, partitions: &[i32]| {
        let found = image.topic_by_id(id);
        AskedTopic {
            name: found.map(|topic| topic.name.clone()).unwrap_or_default(),
            id,
            known: found.map(|topic| Known { id: Some(topic.id) }),
            partitions: partitions.to_vec(),
        }
    };
    let group = |group: &OffsetFetchRequestGroup<'_>| AskedGroup {
        group_id: group.group_id.to_owned(),
        member: (
            group.member_id.map(str::to_owned),
            (group.member_epoch >= 0).then_some(Epoch(group.member_epoch)),
        ),
        topics: group.topics.as_ref().map(|topics| {
            let one = |topic: &OffsetFetchRequestTopics<'_>| {
                if version >= TOPIC_IDS_FROM {
                    by_id(topic.topic_id, &topic.partition_indexes)
                } else {
                    by_name(topic.name, &topic.partition_indexes)
                }
            };
            topics.iter().map(one).collect()
        }),
    };
    request.groups.iter().map(group).collect()
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, results: Vec<GroupResult>) {
    let found: Vec<Found> =
        asked.0.iter().zip(results).map(|(group, result)| found(node, key.version, group, result)).collect();
    if key.version >= GROUPS_FROM {
        let groups = asked.0.iter().zip(&found).map(|(group, found)| group_to_wire(group, found)).collect();
        node.connections.respond(key, &OffsetFetchResponse { groups, ..OffsetFetchResponse::default() });
        return;
    }
    let Some(found) = found.first() else { return };
    let response = OffsetFetchResponse {
        topics: found.topics.iter().map(topic_to_wire).collect(),
        error_code: found.error,
        ..OffsetFetchResponse::default()
    };
    node.connections.respond(key, &response);
}

fn found(node: &Node, version: i16, group: &AskedGroup, result: GroupResult) -> Found {
    match result {
        Ok(Reply::OffsetFetch(results)) => {
            Found { error: ErrorCode::None, topics: named_topics(group, results.into_iter()) }
        }
        Ok(Reply::OffsetFetchAll(topics)) => {
            Found { error: ErrorCode::None, topics: all_topics(node, version, topics) }
        }
        Ok(Reply::OffsetFetchRefused(error)) => refused(version, group, errors::of_group(error)),
        Ok(other) => panic!("a coordinator answered OffsetFetch with {other:?}"),
        Err(refusal) => refused(version, group, of_runtime(refusal)),
    }
}

/// KAFKA-17267: a timeout is never said as such, because older clients take it for fatal.
fn of_runtime(refusal: Refusal) -> ErrorCode {
    match refusal {
        Refusal::TimedOut | Refusal::NoSpace | Refusal::Busy => ErrorCode::NotCoordinator,
        other => errors::of_runtime(other),
    }
}

fn named_topics(
    group: &AskedGroup,
    mut results: impl Iterator<Item = Result<Option<CommittedOffset>, GroupError>>,
) -> Vec<FoundTopic> {
    let mut one = |topic: &AskedTopic| FoundTopic {
        name: topic.name.clone(),
        id: topic.id,
        partitions: topic
            .partitions
            .iter()
            .map(|index| match topic.known {
                Some(_) => {
                    let result = results.next().expect("one result for each partition asked");
                    (*index, result.map_err(errors::of_group))
                }
                None => (*index, Err(ErrorCode::UnknownTopicId)),
            })
            .collect(),
    };
    group.topics.iter().flatten().map(&mut one).collect()
}

/// Everything a group has committed. By id, topics that no longer exist have none to be named by and are left out.
fn all_topics(node: &Node, version: i16, topics: Vec<FetchedTopic>) -> Vec<FoundTopic> {
    let one = |topic: FetchedTopic| {
        let id = node.metadata.image().topic(&topic.topic).map(|found| found.id);
        if version >= TOPIC_IDS_FROM && id.is_none() {
            return None;
        }
        let partitions: Vec<_> = topic
            .partitions
            .into_iter()
            .filter(|partition| is_of_topic(id, &partition.offset))
            .map(|partition| (partition.partition.0, partition.offset.map(Some).map_err(errors::of_group)))
            .collect();
        if partitions.is_empty() {
            return None;
        }
        Some(FoundTopic { name: topic.topic.to_string(), id: id.unwrap_or(TopicId::ZERO), partitions })
    };
    topics.into_iter().filter_map(one).collect()
}

/// Whether an offset was committed for the topic that has the name now; of a name that no topic has, any is told.
fn is_of_topic(current: Option<TopicId>, offset: &Result<CommittedOffset, GroupError>) -> bool {
    let stored = offset.as_ref().ok().and_then(CommittedOffset::topic_id);
    current.zip(stored).is_none_or(|(current, stored)| current == stored)
}

fn refused(version: i16, group: &AskedGroup, error: ErrorCode) -> Found {
    if version >= ERROR_FROM {
        return Found { error, topics: Vec::new() };
    }
    let one = |topic: &AskedTopic| FoundTopic {
        name: topic.name.clone(),
        id: topic.id,
        partitions: topic.partitions.iter().map(|index| (*index, Err(error))).collect(),
    };
    Found { error, topics: group.topics.iter().flatten().map(one).collect() }
}

/// Offset, leader epoch, metadata and code as the wire says them.
fn to_wire(offset: &Result<Option<CommittedOffset>, ErrorCode>) -> (i64, i32, &str, ErrorCode) {
    match offset {
        Ok(Some(offset)) => {
            let epoch = offset.leader_epoch().map_or(-1, |epoch| epoch.0);
            (offset.offset().0, epoch, offset.metadata(), ErrorCode::None)
        }
        Ok(None) => (-1, -1, "", ErrorCode::None),
        Err(code) => (-1, -1, "", *code),
    }
}

fn group_to_wire<'a>(group: &'a AskedGroup, found: &'a Found) -> OffsetFetchResponseGroup<'a> {
    let partition = |(index, offset): &'a (i32, Result<Option<CommittedOffset>, ErrorCode>)| {
        let (committed_offset, committed_leader_epoch, metadata, error_code) = to_wire(offset);
        OffsetFetchResponsePartitions {
            partition_index: *index,
            committed_offset,
            committed_leader_epoch,
            metadata: Some(metadata),
            error_code,
        }
    };
    let topics = found
        .topics
        .iter()
        .map(|topic| OffsetFetchResponseTopics {
            name: &topic.name,
            topic_id: topic.id,
            partitions: topic.partitions.iter().map(partition).collect(),
        })
        .collect();
    OffsetFetchResponseGroup { group_id: &group.group_id, topics, error_code: found.error }
}

fn topic_to_wire(topic: &FoundTopic) -> OffsetFetchResponseTopic<'_> {
    let partitions = topic.partitions.iter().map(|(index, offset)| {
        let (committed_offset, committed_leader_epoch, metadata, error_code) = to_wire(offset);
        OffsetFetchResponsePartition {
            partition_index: *index,
            committed_offset,
            committed_leader_epoch,
            metadata: Some(metadata),
            error_code,
        }
    });
    OffsetFetchResponseTopic { name: &topic.name, partitions: partitions.collect() }
}
