//! Fetch (1): record batches to read, with a wait for more.

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// Positions to read from, and how long to wait for how much.
    pub struct FetchRequest<'a>: request of Fetch {
        /// −1 for consumers.
        replica_id: i32 [0..=14] = -1,
        max_wait_ms: i32 [0..],
        min_bytes: i32 [0..],
        max_bytes: i32 [3..; ignorable] = i32::MAX,
        /// 0 reads everything, 1 only what is committed.
        isolation_level: i8 [4..; ignorable],
        session_id: i32 [7..; ignorable],
        session_epoch: i32 [7..; ignorable] = -1,
        topics: Vec<FetchTopic<'a>> [0..],
        forgotten_topics_data: Vec<ForgottenTopic<'a>> [7..],
        rack_id: &'a str [11..; ignorable],
        cluster_id: Option<&'a str> [12..; ignorable] nullable [12..] tag 0,
        replica_state: ReplicaState [15..] tag 1,
    }

    /// The partitions of one topic.
    pub struct FetchTopic<'a> {
        topic: &'a str [0..=12; ignorable],
        topic_id: TopicId [13..; ignorable],
        partitions: Vec<FetchPartition> [0..],
    }

    /// A position in one partition.
    pub struct FetchPartition {
        partition: i32 [0..],
        current_leader_epoch: i32 [9..; ignorable] = -1,
        fetch_offset: i64 [0..],
        last_fetched_epoch: i32 [12..] = -1,
        log_start_offset: i64 [5..; ignorable] = -1,
        partition_max_bytes: i32 [0..],
        replica_directory_id: TopicId [17..; ignorable] tag 0,
        high_watermark: i64 [18..; ignorable] tag 1 = i64::MAX,
    }

    /// Partitions that leave the fetch session.
    pub struct ForgottenTopic<'a> {
        topic: &'a str [7..=12; ignorable],
        topic_id: TopicId [13..; ignorable],
        partitions: Vec<i32> [7..],
    }

    /// Who fetches, when it is a replica.
    pub struct ReplicaState {
        replica_id: i32 [15..] = -1,
        replica_epoch: i64 [15..] = -1,
    }

    /// Batches for the partitions asked for.
    pub struct FetchResponse<'a>: response of Fetch {
        throttle_time_ms: i32 [1..; ignorable],
        error_code: ErrorCode [7..; ignorable],
        session_id: i32 [7..],
        responses: Vec<FetchableTopicResponse<'a>> [0..],
        node_endpoints: Vec<NodeEndpoint<'a>> [16..] tag 0,
    }

    /// The partitions of one topic.
    pub struct FetchableTopicResponse<'a> {
        topic: &'a str [0..=12; ignorable],
        topic_id: TopicId [13..; ignorable],
        partitions: Vec<PartitionData<'a>> [0..],
    }

    /// Batches of one partition and its offsets, or the error.
    pub struct PartitionData<'a> {
        partition_index: i32 [0..],
        error_code: ErrorCode [0..],
        high_watermark: i64 [0..],
        last_stable_offset: i64 [4..; ignorable] = -1,
        log_start_offset: i64 [5..; ignorable] = -1,
        /// `None` for readers of uncommitted data.
        aborted_transactions: Option<Vec<AbortedTransaction>> [4..; ignorable] nullable [4..],
        preferred_read_replica: i32 [11..] = -1,
        /// Never null in what a server sends: librdkafka refuses a null here (KAFKA-18646).
        records: Option<&'a [u8]> [0..] nullable [0..] = Some(&[]),
        diverging_epoch: EpochEndOffset [12..] tag 0,
        current_leader: LeaderIdAndEpoch [12..] tag 1,
        snapshot_id: SnapshotId [12..] tag 2,
    }

    /// An aborted transaction whose records a reader of committed data drops.
    pub struct AbortedTransaction {
        producer_id: i64 [4..],
        first_offset: i64 [4..],
    }

    /// Where the log of the reader and that of the leader part.
    pub struct EpochEndOffset {
        epoch: i32 [12..] = -1,
        end_offset: i64 [12..] = -1,
    }

    /// The leader to turn to instead.
    pub struct LeaderIdAndEpoch {
        leader_id: i32 [12..] = -1,
        leader_epoch: i32 [12..] = -1,
    }

    /// A snapshot to fetch instead; only controllers name one.
    pub struct SnapshotId {
        end_offset: i64 [0..] = -1,
        epoch: i32 [0..] = -1,
    }

    /// Where a leader that is named in this response listens.
    pub struct NodeEndpoint<'a> {
        node_id: i32 [16..],
        host: &'a str [16..],
        port: i32 [16..],
        rack: Option<&'a str> [16..] nullable [16..],
    }
}
