//! OffsetForLeaderEpoch (23): where the records of a leader epoch end.

use crate::error_code::ErrorCode;

messages! {
    /// Epochs whose ends are asked for.
    pub struct OffsetForLeaderEpochRequest<'a>: request of OffsetForLeaderEpoch {
        replica_id: i32 [3..; ignorable] = -2,
        topics: Vec<OffsetForLeaderTopic<'a>> [0..],
    }

    /// The partitions of one topic.
    pub struct OffsetForLeaderTopic<'a> {
        topic: &'a str [0..],
        partitions: Vec<OffsetForLeaderPartition> [0..],
    }

    /// An epoch in one partition.
    pub struct OffsetForLeaderPartition {
        partition: i32 [0..],
        current_leader_epoch: i32 [2..; ignorable] = -1,
        leader_epoch: i32 [0..],
    }

    /// The ends found.
    pub struct OffsetForLeaderEpochResponse<'a>: response of OffsetForLeaderEpoch {
        throttle_time_ms: i32 [2..; ignorable],
        topics: Vec<OffsetForLeaderTopicResult<'a>> [0..],
    }

    /// The ends of one topic.
    pub struct OffsetForLeaderTopicResult<'a> {
        topic: &'a str [0..],
        partitions: Vec<EpochEndOffset> [0..],
    }

    /// The largest epoch not above the one asked for, and its end.
    pub struct EpochEndOffset {
        error_code: ErrorCode [0..],
        partition: i32 [0..],
        leader_epoch: i32 [1..; ignorable] = -1,
        end_offset: i64 [0..] = -1,
    }
}
