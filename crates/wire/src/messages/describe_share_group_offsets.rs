//! DescribeShareGroupOffsets (90): where share groups begin to read in each partition, and how much is left (KIP-932).

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// The groups asked about.
    pub struct DescribeShareGroupOffsetsRequest<'a>: request of DescribeShareGroupOffsets {
        groups: Vec<DescribeShareGroupOffsetsRequestGroup<'a>> [0..],
    }

    /// A group.
    pub struct DescribeShareGroupOffsetsRequestGroup<'a> {
        group_id: &'a str [0..],
        /// Null: all that the group reads or has read.
        topics: Option<Vec<DescribeShareGroupOffsetsRequestTopic<'a>>> [0..] nullable [0..],
    }

    /// Some partitions of a topic.
    pub struct DescribeShareGroupOffsetsRequestTopic<'a> {
        topic_name: &'a str [0..],
        partitions: Vec<i32> [0..],
    }

    /// One answer for each group.
    pub struct DescribeShareGroupOffsetsResponse<'a>: response of DescribeShareGroupOffsets {
        throttle_time_ms: i32 [0..],
        groups: Vec<DescribeShareGroupOffsetsResponseGroup<'a>> [0..],
    }

    /// A group, or why it cannot be described.
    pub struct DescribeShareGroupOffsetsResponseGroup<'a> {
        group_id: &'a str [0..],
        topics: Vec<DescribeShareGroupOffsetsResponseTopic<'a>> [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
    }

    /// A topic.
    pub struct DescribeShareGroupOffsetsResponseTopic<'a> {
        topic_name: &'a str [0..],
        topic_id: TopicId [0..],
        partitions: Vec<DescribeShareGroupOffsetsResponsePartition<'a>> [0..],
    }

    /// A partition.
    pub struct DescribeShareGroupOffsetsResponsePartition<'a> {
        partition_index: i32 [0..],
        /// The first record that is not done with; −1 while nothing was read yet.
        start_offset: i64 [0..],
        leader_epoch: i32 [0..],
        /// How many records are not done with; −1: not known.
        lag: i64 [1..; ignorable] = -1,
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
    }
}
