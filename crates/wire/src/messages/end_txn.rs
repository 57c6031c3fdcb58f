//! EndTxn (26): a producer commits or aborts its transaction.

use crate::error_code::ErrorCode;

messages! {
    /// How the transaction ends.
    pub struct EndTxnRequest<'a>: request of EndTxn {
        transactional_id: &'a str [0..],
        producer_id: i64 [0..],
        producer_epoch: i16 [0..],
        /// False aborts.
        committed: bool [0..],
    }

    /// The outcome, and from version 5 on the producer for what follows.
    pub struct EndTxnResponse: response of EndTxn {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [0..],
        producer_id: i64 [5..; ignorable] = -1,
        producer_epoch: i16 [5..; ignorable] = -1,
    }
}
