//! OffsetCommit (8): where consumers have read up to.

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// Offsets to store for a group.
    pub struct OffsetCommitRequest<'a>: request of OffsetCommit {
        group_id: &'a str [0..],
        /// −1 when the offsets are stored from outside of a generation.
        generation_id_or_member_epoch: i32 [1..; ignorable] = -1,
        member_id: &'a str [1..; ignorable],
        group_instance_id: Option<&'a str> [7..] nullable [7..],
        retention_time_ms: i64 [2..=4; ignorable] = -1,
        topics: Vec<OffsetCommitRequestTopic<'a>> [0..],
    }

    /// The offsets of one topic: by name up to version 9, by id from 10 on.
    pub struct OffsetCommitRequestTopic<'a> {
        name: &'a str [0..=9; ignorable],
        topic_id: TopicId [10..; ignorable],
        partitions: Vec<OffsetCommitRequestPartition<'a>> [0..],
    }

    /// The next offset that the group will read in a partition.
    pub struct OffsetCommitRequestPartition<'a> {
        partition_index: i32 [0..],
        committed_offset: i64 [0..],
        committed_leader_epoch: i32 [6..; ignorable] = -1,
        /// Null is stored as empty.
        committed_metadata: Option<&'a str> [0..] nullable [0..],
    }

    /// One result for each partition committed.
    pub struct OffsetCommitResponse<'a>: response of OffsetCommit {
        throttle_time_ms: i32 [3..; ignorable],
        topics: Vec<OffsetCommitResponseTopic<'a>> [0..],
    }

    /// The results of one topic.
    pub struct OffsetCommitResponseTopic<'a> {
        name: &'a str [0..=9; ignorable],
        topic_id: TopicId [10..; ignorable],
        partitions: Vec<OffsetCommitResponsePartition> [0..],
    }

    /// The outcome for one partition.
    pub struct OffsetCommitResponsePartition {
        partition_index: i32 [0..],
        error_code: ErrorCode [0..],
    }
}
