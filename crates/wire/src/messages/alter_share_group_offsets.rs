//! AlterShareGroupOffsets (91): share groups without members begin to read elsewhere (KIP-932).

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// Where the group is to begin.
    pub struct AlterShareGroupOffsetsRequest<'a>: request of AlterShareGroupOffsets {
        group_id: &'a str [0..],
        topics: Vec<AlterShareGroupOffsetsRequestTopic<'a>> [0..],
    }

    /// In a topic.
    pub struct AlterShareGroupOffsetsRequestTopic<'a> {
        topic_name: &'a str [0..],
        partitions: Vec<AlterShareGroupOffsetsRequestPartition> [0..],
    }

    /// In a partition.
    pub struct AlterShareGroupOffsetsRequestPartition {
        partition_index: i32 [0..],
        start_offset: i64 [0..],
    }

    /// What came of it.
    pub struct AlterShareGroupOffsetsResponse<'a>: response of AlterShareGroupOffsets {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        responses: Vec<AlterShareGroupOffsetsResponseTopic<'a>> [0..],
    }

    /// In a topic.
    pub struct AlterShareGroupOffsetsResponseTopic<'a> {
        topic_name: &'a str [0..],
        topic_id: TopicId [0..],
        partitions: Vec<AlterShareGroupOffsetsResponsePartition<'a>> [0..],
    }

    /// In a partition.
    pub struct AlterShareGroupOffsetsResponsePartition<'a> {
        partition_index: i32 [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
    }
}
