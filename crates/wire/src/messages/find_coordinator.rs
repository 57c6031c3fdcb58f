//! FindCoordinator (10): the broker that holds a group or a transactional id.

use crate::error_code::ErrorCode;

messages! {
    /// Keys to find: one in `key` below version 4, any number in `coordinator_keys` from there on.
    pub struct FindCoordinatorRequest<'a>: request of FindCoordinator {
        key: &'a str [0..=3],
        /// 0 for a group, 1 for a transactional id, 2 for a share partition.
        key_type: i8 [1..],
        coordinator_keys: Vec<&'a str> [4..],
    }

    /// One answer in the fields below version 4, or `coordinators` from there on.
    pub struct FindCoordinatorResponse<'a>: response of FindCoordinator {
        throttle_time_ms: i32 [1..; ignorable],
        error_code: ErrorCode [0..=3],
        error_message: Option<&'a str> [1..=3; ignorable] nullable [1..=3],
        node_id: i32 [0..=3],
        host: &'a str [0..=3],
        port: i32 [0..=3],
        coordinators: Vec<Coordinator<'a>> [4..],
    }

    /// The broker of one key, or the error.
    pub struct Coordinator<'a> {
        key: &'a str [4..],
        node_id: i32 [4..],
        host: &'a str [4..],
        port: i32 [4..],
        error_code: ErrorCode [4..],
        error_message: Option<&'a str> [4..; ignorable] nullable [4..],
    }
}
