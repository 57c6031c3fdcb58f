//! DescribeProducers (61).

use crate::error_code::ErrorCode;

messages! {
    /// Partitions whose producers are asked for.
    pub struct DescribeProducersRequest<'a>: request of DescribeProducers {
        topics: Vec<TopicRequest<'a>> [0..],
    }

    /// The partitions of one topic.
    pub struct TopicRequest<'a> {
        name: &'a str [0..],
        partition_indexes: Vec<i32> [0..],
    }

    /// The producers that are remembered.
    pub struct DescribeProducersResponse<'a>: response of DescribeProducers {
        throttle_time_ms: i32 [0..; ignorable],
        topics: Vec<TopicResponse<'a>> [0..],
    }

    /// The partitions of one topic.
    pub struct TopicResponse<'a> {
        name: &'a str [0..],
        partitions: Vec<PartitionResponse<'a>> [0..],
    }

    /// The producers of one partition, or the error.
    pub struct PartitionResponse<'a> {
        partition_index: i32 [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        active_producers: Vec<ProducerState> [0..],
    }

    /// What is remembered of one producer.
    pub struct ProducerState {
        producer_id: i64 [0..],
        producer_epoch: i32 [0..],
        last_sequence: i32 [0..] = -1,
        last_timestamp: i64 [0..] = -1,
        coordinator_epoch: i32 [0..],
        current_txn_start_offset: i64 [0..] = -1,
    }
}
