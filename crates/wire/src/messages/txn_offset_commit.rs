//! TxnOffsetCommit (28): offsets that are stored when the transaction commits.

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// Offsets to store for a group, within a transaction.
    pub struct TxnOffsetCommitRequest<'a>: request of TxnOffsetCommit {
        transactional_id: &'a str [0..],
        group_id: &'a str [0..],
        producer_id: i64 [0..],
        producer_epoch: i16 [0..],
        /// −1 when the offsets are stored from outside of a generation.
        generation_id_or_member_epoch: i32 [3..] = -1,
        member_id: &'a str [3..],
        group_instance_id: Option<&'a str> [3..] nullable [3..],
        topics: Vec<TxnOffsetCommitRequestTopic<'a>> [0..],
    }

    /// The offsets of one topic: by name up to version 5, by id from 6 on.
    pub struct TxnOffsetCommitRequestTopic<'a> {
        name: &'a str [0..=5; ignorable],
        topic_id: TopicId [6..; ignorable],
        partitions: Vec<TxnOffsetCommitRequestPartition<'a>> [0..],
    }

    /// The next offset that the group will read in a partition.
    pub struct TxnOffsetCommitRequestPartition<'a> {
        partition_index: i32 [0..],
        committed_offset: i64 [0..],
        committed_leader_epoch: i32 [2..; ignorable] = -1,
        /// Null is stored as empty.
        committed_metadata: Option<&'a str> [0..] nullable [0..],
    }

    /// One result for each partition committed.
    pub struct TxnOffsetCommitResponse<'a>: response of TxnOffsetCommit {
        throttle_time_ms: i32 [0..],
        topics: Vec<TxnOffsetCommitResponseTopic<'a>> [0..],
    }

    /// The results of one topic.
    pub struct TxnOffsetCommitResponseTopic<'a> {
        name: &'a str [0..=5; ignorable],
        topic_id: TopicId [6..; ignorable],
        partitions: Vec<TxnOffsetCommitResponsePartition> [0..],
    }

    /// The outcome for one partition.
    pub struct TxnOffsetCommitResponsePartition {
        partition_index: i32 [0..],
        error_code: ErrorCode [0..],
    }
}
