//! DescribeTopicPartitions (75), version 0: topics and their partitions, sorted by name, page by page.

use std::collections::BTreeSet;

use milepost_log::metadata::{MetadataImage, Topic};
use milepost_model::TopicId;
use milepost_wire::ErrorCode;
use milepost_wire::messages::describe_topic_partitions::{
    Cursor, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};

use super::{Context, Handled};
use crate::node::Node;
use crate::{operations, topics};

/// The most partitions of one page (`max.request.partition.size.limit` in Kafka).
const PAGE_PARTITIONS_MAX: i32 = 2_000;

pub(crate) fn handle(
    node: &mut Node,
    context: Context<'_>,
    request: &DescribeTopicPartitionsRequest<'_>,
) -> Handled {
    let names: BTreeSet<&str> = request.topics.iter().map(|topic| topic.name).collect();
    let is_bad_cursor = request.cursor.as_ref().is_some_and(|cursor| {
        cursor.partition_index < 0 || (!names.is_empty() && !names.contains(cursor.topic_name))
    });
    let response = if is_bad_cursor {
        let refused = names.iter().map(|name| refused(name, ErrorCode::InvalidRequest));
        DescribeTopicPartitionsResponse { topics: refused.collect(), ..Default::default() }
    } else {
        let view = View {
            image: node.metadata.image(),
            node_id: node.settings.node_id,
            leader_epoch: node.logs.leader_epoch().0,
        };
        view.page(&names, request)
    };
    node.connections.respond(context.key, &response);
    Ok(())
}

/// What the answer is made of.
struct View<'a> {
    image: &'a MetadataImage,
    node_id: i32,
    leader_epoch: i32,
}

impl<'a> View<'a> {
    /// The page from the cursor on.
    fn page(
        &self,
        asked: &BTreeSet<&'a str>,
        request: &DescribeTopicPartitionsRequest<'a>,
    ) -> DescribeTopicPartitionsResponse<'a> {
        let names: BTreeSet<&'a str> = if asked.is_empty() {
            self.image.topics().map(|topic| topic.name.as_str()).collect()
        } else {
            asked.clone()
        };
        let first = request.cursor.as_ref().map_or("", |cursor| cursor.topic_name);
        let mut room = request.response_partition_limit.clamp(1, PAGE_PARTITIONS_MAX);
        let mut response = DescribeTopicPartitionsResponse::default();
        for name in names.range(first..).copied() {
            if room == 0 {
                response.next_cursor = Some(Cursor { topic_name: name, partition_index: 0 });
                break;
            }
            let Some(topic) = self.image.topic(name) else {
                response.topics.push(unknown(name));
                continue;
            };
            let from = request.cursor.as_ref().filter(|cursor| cursor.topic_name == name);
            let from = from.map_or(0, |cursor| cursor.partition_index);
            let to = topic.partition_count.min(from.saturating_add(room));
            response.topics.push(self.described(topic, from..to));
            room -= (to - from).max(0);
            if to < topic.partition_count {
                response.next_cursor = Some(Cursor { topic_name: name, partition_index: to });
                break;
            }
        }
        response
    }

    fn described(
        &self,
        topic: &'a Topic,
        partitions: std::ops::Range<i32>,
    ) -> DescribeTopicPartitionsResponseTopic<'a> {
        let partition = |index| DescribeTopicPartitionsResponsePartition {
            partition_index: index,
            leader_id: self.node_id,
            leader_epoch: self.leader_epoch,
            replica_nodes: vec![self.node_id],
            isr_nodes: vec![self.node_id],
            eligible_leader_replicas: Some(Vec::new()),
            last_known_elr: Some(Vec::new()),
            ..DescribeTopicPartitionsResponsePartition::default()
        };
        DescribeTopicPartitionsResponseTopic {
            error_code: ErrorCode::None,
            name: Some(&topic.name),
            topic_id: topic.id,
            is_internal: topic.is_internal,
            partitions: partitions.map(partition).collect(),
            topic_authorized_operations: operations::TOPIC,
        }
    }
}

fn unknown(name: &str) -> DescribeTopicPartitionsResponseTopic<'_> {
    let code = if topics::check_name(name).is_ok() {
        ErrorCode::UnknownTopicOrPartition
    } else {
        ErrorCode::InvalidTopicException
    };
    refused(name, code)
}

fn refused(name: &str, error_code: ErrorCode) -> DescribeTopicPartitionsResponseTopic<'_> {
    DescribeTopicPartitionsResponseTopic {
        error_code,
        name: Some(name),
        topic_id: TopicId::ZERO,
        topic_authorized_operations: operations::TOPIC,
        ..DescribeTopicPartitionsResponseTopic::default()
    }
}
