//! AddPartitionsToTxn (24): partitions join a transaction. Clients send versions up to 3, for one transaction;
//! later ones are between brokers, for many.

use crate::error_code::ErrorCode;

messages! {
    /// The partitions to add, or to verify.
    pub struct AddPartitionsToTxnRequest<'a>: request of AddPartitionsToTxn {
        transactions: Vec<AddPartitionsToTxnTransaction<'a>> [4..],
        v3_and_below_transactional_id: &'a str [0..=3],
        v3_and_below_producer_id: i64 [0..=3],
        v3_and_below_producer_epoch: i16 [0..=3],
        v3_and_below_topics: Vec<AddPartitionsToTxnTopic<'a>> [0..=3],
    }

    /// The partitions of one transaction.
    pub struct AddPartitionsToTxnTransaction<'a> {
        transactional_id: &'a str [4..],
        producer_id: i64 [4..],
        producer_epoch: i16 [4..],
        /// Only ask whether the partitions are part of the transaction.
        verify_only: bool [4..],
        topics: Vec<AddPartitionsToTxnTopic<'a>> [4..],
    }

    /// The partitions of one topic.
    pub struct AddPartitionsToTxnTopic<'a> {
        name: &'a str [0..],
        partitions: Vec<i32> [0..],
    }

    /// One result for each partition.
    pub struct AddPartitionsToTxnResponse<'a>: response of AddPartitionsToTxn {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [4..; ignorable],
        results_by_transaction: Vec<AddPartitionsToTxnResult<'a>> [4..],
        results_by_topic_v3_and_below: Vec<AddPartitionsToTxnTopicResult<'a>> [0..=3],
    }

    /// The results of one transaction.
    pub struct AddPartitionsToTxnResult<'a> {
        transactional_id: &'a str [4..],
        topic_results: Vec<AddPartitionsToTxnTopicResult<'a>> [4..],
    }

    /// The results of one topic.
    pub struct AddPartitionsToTxnTopicResult<'a> {
        name: &'a str [0..],
        results_by_partition: Vec<AddPartitionsToTxnPartitionResult> [0..],
    }

    /// The outcome for one partition.
    pub struct AddPartitionsToTxnPartitionResult {
        partition_index: i32 [0..],
        partition_error_code: ErrorCode [0..],
    }
}
