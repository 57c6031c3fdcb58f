//! Produce (0): record batches to append. Below version 3 it is advertised but not served.

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// Batches for any number of partitions. With `acks` 0 there is no response.
    pub struct ProduceRequest<'a>: request of Produce {
        transactional_id: Option<&'a str> [3..] nullable [3..],
        /// 0 for no response, 1 for the leader, −1 for all in-sync replicas.
        acks: i16 [0..],
        timeout_ms: i32 [0..],
        topic_data: Vec<TopicProduceData<'a>> [0..],
    }

    /// The batches for one topic.
    pub struct TopicProduceData<'a> {
        name: &'a str [0..=12; ignorable],
        topic_id: TopicId [13..; ignorable],
        partition_data: Vec<PartitionProduceData<'a>> [0..],
    }

    /// The batch for one partition.
    pub struct PartitionProduceData<'a> {
        index: i32 [0..],
        records: Option<&'a [u8]> [0..] nullable [0..],
    }

    /// One result for each partition written to. The throttle time stands at the end.
    pub struct ProduceResponse<'a>: response of Produce {
        responses: Vec<TopicProduceResponse<'a>> [0..],
        throttle_time_ms: i32 [1..; ignorable],
        node_endpoints: Vec<NodeEndpoint<'a>> [10..] tag 0,
    }

    /// The results of one topic.
    pub struct TopicProduceResponse<'a> {
        name: &'a str [0..=12; ignorable],
        topic_id: TopicId [13..; ignorable],
        partition_responses: Vec<PartitionProduceResponse<'a>> [0..],
    }

    /// Where a batch landed, or the error.
    pub struct PartitionProduceResponse<'a> {
        index: i32 [0..],
        error_code: ErrorCode [0..],
        base_offset: i64 [0..],
        /// −1 where the topic keeps the time that the producer gave.
        log_append_time_ms: i64 [2..; ignorable] = -1,
        log_start_offset: i64 [5..; ignorable] = -1,
        record_errors: Vec<BatchIndexAndErrorMessage<'a>> [8..; ignorable],
        error_message: Option<&'a str> [8..; ignorable] nullable [8..],
        current_leader: LeaderIdAndEpoch [10..] tag 0,
    }

    /// A record for which the whole batch was refused.
    pub struct BatchIndexAndErrorMessage<'a> {
        batch_index: i32 [8..],
        batch_index_error_message: Option<&'a str> [8..] nullable [8..],
    }

    /// The leader to turn to instead.
    pub struct LeaderIdAndEpoch {
        leader_id: i32 [10..] = -1,
        leader_epoch: i32 [10..] = -1,
    }

    /// Where a leader that is named in this response listens.
    pub struct NodeEndpoint<'a> {
        node_id: i32 [10..],
        host: &'a str [10..],
        port: i32 [10..],
        rack: Option<&'a str> [10..] nullable [10..],
    }
}
