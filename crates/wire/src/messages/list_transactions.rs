//! ListTransactions (66): the transactional ids of a broker.

use crate::error_code::ErrorCode;

messages! {
    /// Filters; an empty one lets everything through.
    pub struct ListTransactionsRequest<'a>: request of ListTransactions {
        state_filters: Vec<&'a str> [0..],
        producer_id_filters: Vec<i64> [0..],
        /// Milliseconds; below 0 for no filter.
        duration_filter: i64 [1..] = -1,
        /// A regular expression for the whole transactional id.
        transactional_id_pattern: Option<&'a str> [2..] nullable [2..],
    }

    /// The transactional ids, or the error.
    pub struct ListTransactionsResponse<'a>: response of ListTransactions {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [0..],
        unknown_state_filters: Vec<&'a str> [0..],
        transaction_states: Vec<TransactionState<'a>> [0..],
    }

    /// One transactional id.
    pub struct TransactionState<'a> {
        transactional_id: &'a str [0..],
        producer_id: i64 [0..],
        transaction_state: &'a str [0..],
    }
}
