//! Assignments as members of the classic protocol write and read them: topics by name, in bytes that only they understand
//! elsewhere.

use std::sync::Arc;

use milepost_model::{PartitionIndex, TopicId};
use milepost_records::consumer_protocol::{self, AssignedTopic};

use super::record::Assignment;
use super::topics::ClusterTopics;

/// The partitions of topics that exist.
pub(super) fn partitions(named: &[AssignedTopic<'_>], topics: &ClusterTopics) -> Assignment {
    let of_topic = |named: &AssignedTopic<'_>| {
        let id: Option<TopicId> = topics.topic(named.topic).map(|topic| topic.id);
        let partitions: Vec<PartitionIndex> = named.partitions.clone();
        id.into_iter().flat_map(move |id| partitions.clone().into_iter().map(move |one| (id, one)))
    };
    named.iter().flat_map(of_topic).collect()
}

/// What a member is told that it has, in the version of its own subscription. Topics that are gone are left out.
pub(super) fn encode(assignment: &Assignment, topics: &ClusterTopics, subscription: &[u8]) -> Arc<[u8]> {
    let partitions = assignment.0.iter().filter_map(|(id, partitions)| {
        let topic = topics.name(*id)?;
        Some(AssignedTopic { topic, partitions: partitions.iter().copied().collect() })
    });
    let assignment = consumer_protocol::Assignment { partitions: partitions.collect(), user_data: None };
    let version = consumer_protocol::version_of(subscription).unwrap_or(0);
    let bytes = assignment.encode_as(version).expect("a topic's name fits, and so do its partitions");
    bytes.into()
}
