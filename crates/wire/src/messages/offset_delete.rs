//! OffsetDelete (47): forgets committed offsets. Never flexible.

use crate::error_code::ErrorCode;

messages! {
    /// Offsets of a group to delete.
    pub struct OffsetDeleteRequest<'a>: request of OffsetDelete {
        group_id: &'a str [0..],
        topics: Vec<OffsetDeleteRequestTopic<'a>> [0..],
    }

    /// The partitions of one topic.
    pub struct OffsetDeleteRequestTopic<'a> {
        name: &'a str [0..],
        partitions: Vec<OffsetDeleteRequestPartition> [0..],
    }

    /// One partition.
    pub struct OffsetDeleteRequestPartition {
        partition_index: i32 [0..],
    }

    /// One result for each partition.
    pub struct OffsetDeleteResponse<'a>: response of OffsetDelete {
        error_code: ErrorCode [0..],
        throttle_time_ms: i32 [0..; ignorable],
        topics: Vec<OffsetDeleteResponseTopic<'a>> [0..],
    }

    /// The results of one topic.
    pub struct OffsetDeleteResponseTopic<'a> {
        name: &'a str [0..],
        partitions: Vec<OffsetDeleteResponsePartition> [0..],
    }

    /// The outcome for one partition.
    pub struct OffsetDeleteResponsePartition {
        partition_index: i32 [0..],
        error_code: ErrorCode [0..],
    }
}
