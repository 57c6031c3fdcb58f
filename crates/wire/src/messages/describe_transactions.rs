//! DescribeTransactions (65): all about some transactional ids.

use crate::error_code::ErrorCode;

messages! {
    /// The transactional ids that are asked for.
    pub struct DescribeTransactionsRequest<'a>: request of DescribeTransactions {
        transactional_ids: Vec<&'a str> [0..],
    }

    /// What is known about them.
    pub struct DescribeTransactionsResponse<'a>: response of DescribeTransactions {
        throttle_time_ms: i32 [0..],
        transaction_states: Vec<TransactionState<'a>> [0..],
    }

    /// One transactional id, or the error.
    pub struct TransactionState<'a> {
        error_code: ErrorCode [0..],
        transactional_id: &'a str [0..],
        transaction_state: &'a str [0..],
        transaction_timeout_ms: i32 [0..],
        transaction_start_time_ms: i64 [0..],
        producer_id: i64 [0..],
        producer_epoch: i16 [0..],
        topics: Vec<TopicData<'a>> [0..],
    }

    /// The partitions of one topic in the transaction.
    pub struct TopicData<'a> {
        topic: &'a str [0..],
        partitions: Vec<i32> [0..],
    }
}
