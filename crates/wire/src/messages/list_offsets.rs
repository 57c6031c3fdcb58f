//! ListOffsets (2): offsets by time, and the two ends of a log.

use crate::error_code::ErrorCode;

messages! {
    /// Times whose offsets are asked for.
    pub struct ListOffsetsRequest<'a>: request of ListOffsets {
        replica_id: i32 [0..],
        /// 0 reads everything, 1 only what is committed.
        isolation_level: i8 [2..],
        topics: Vec<ListOffsetsTopic<'a>> [0..],
        timeout_ms: i32 [10..; ignorable],
    }

    /// The partitions of one topic.
    pub struct ListOffsetsTopic<'a> {
        name: &'a str [0..],
        partitions: Vec<ListOffsetsPartition> [0..],
    }

    /// A time in one partition; negative ones have meanings of their own.
    pub struct ListOffsetsPartition {
        partition_index: i32 [0..],
        current_leader_epoch: i32 [4..; ignorable] = -1,
        timestamp: i64 [0..],
    }

    /// The offsets found.
    pub struct ListOffsetsResponse<'a>: response of ListOffsets {
        throttle_time_ms: i32 [2..; ignorable],
        topics: Vec<ListOffsetsTopicResponse<'a>> [0..],
    }

    /// The offsets of one topic.
    pub struct ListOffsetsTopicResponse<'a> {
        name: &'a str [0..],
        partitions: Vec<ListOffsetsPartitionResponse> [0..],
    }

    /// The first record at or after the time; −1 when there is none.
    pub struct ListOffsetsPartitionResponse {
        partition_index: i32 [0..],
        error_code: ErrorCode [0..],
        timestamp: i64 [1..] = -1,
        offset: i64 [1..] = -1,
        leader_epoch: i32 [4..] = -1,
    }
}
