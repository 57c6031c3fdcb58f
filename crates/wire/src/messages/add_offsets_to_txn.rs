//! AddOffsetsToTxn (25): the offsets of a group join a transaction.

use crate::error_code::ErrorCode;

messages! {
    /// The group whose offsets will be committed by the transaction.
    pub struct AddOffsetsToTxnRequest<'a>: request of AddOffsetsToTxn {
        transactional_id: &'a str [0..],
        producer_id: i64 [0..],
        producer_epoch: i16 [0..],
        group_id: &'a str [0..],
    }

    /// The outcome.
    pub struct AddOffsetsToTxnResponse: response of AddOffsetsToTxn {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [0..],
    }
}
