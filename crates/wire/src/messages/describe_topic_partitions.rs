//! DescribeTopicPartitions (75).

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// Topics to describe, page by page; none asks for all.
    pub struct DescribeTopicPartitionsRequest<'a>: request of DescribeTopicPartitions {
        topics: Vec<TopicRequest<'a>> [0..],
        response_partition_limit: i32 [0..] = 2000,
        cursor: Option<Cursor<'a>> [0..] nullable [0..],
    }

    /// One topic.
    pub struct TopicRequest<'a> {
        name: &'a str [0..],
    }

    /// Where a page begins.
    pub struct Cursor<'a> {
        topic_name: &'a str [0..],
        partition_index: i32 [0..],
    }

    /// One page.
    pub struct DescribeTopicPartitionsResponse<'a>: response of DescribeTopicPartitions {
        throttle_time_ms: i32 [0..; ignorable],
        topics: Vec<DescribeTopicPartitionsResponseTopic<'a>> [0..],
        next_cursor: Option<Cursor<'a>> [0..] nullable [0..],
    }

    /// A topic, or the error.
    pub struct DescribeTopicPartitionsResponseTopic<'a> {
        error_code: ErrorCode [0..],
        name: Option<&'a str> [0..] nullable [0..],
        topic_id: TopicId [0..; ignorable],
        is_internal: bool [0..; ignorable],
        partitions: Vec<DescribeTopicPartitionsResponsePartition> [0..],
        topic_authorized_operations: i32 [0..] = i32::MIN,
    }

    /// A partition, and who has it.
    pub struct DescribeTopicPartitionsResponsePartition {
        error_code: ErrorCode [0..],
        partition_index: i32 [0..],
        leader_id: i32 [0..],
        leader_epoch: i32 [0..; ignorable] = -1,
        replica_nodes: Vec<i32> [0..],
        isr_nodes: Vec<i32> [0..],
        eligible_leader_replicas: Option<Vec<i32>> [0..] nullable [0..],
        last_known_elr: Option<Vec<i32>> [0..] nullable [0..],
        offline_replicas: Vec<i32> [0..; ignorable],
    }
}
