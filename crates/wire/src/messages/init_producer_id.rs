//! InitProducerId (22): an identity for a producer that numbers its batches. Version 6 is not stable in Kafka
//! 4.4, and not served.

use crate::error_code::ErrorCode;

messages! {
    /// Asks for an identity, fresh or for a transactional id.
    pub struct InitProducerIdRequest<'a>: request of InitProducerId {
        transactional_id: Option<&'a str> [0..] nullable [0..],
        transaction_timeout_ms: i32 [0..],
        producer_id: i64 [3..] = -1,
        producer_epoch: i16 [3..] = -1,
    }

    /// The identity, or the error.
    pub struct InitProducerIdResponse: response of InitProducerId {
        throttle_time_ms: i32 [0..; ignorable],
        error_code: ErrorCode [0..],
        producer_id: i64 [0..] = -1,
        producer_epoch: i16 [0..],
    }
}
