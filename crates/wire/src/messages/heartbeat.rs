//! Heartbeat (12): a member of a classic group is alive.

use crate::error_code::ErrorCode;

messages! {
    /// The member and the generation it believes in.
    pub struct HeartbeatRequest<'a>: request of Heartbeat {
        group_id: &'a str [0..],
        generation_id: i32 [0..],
        member_id: &'a str [0..],
        group_instance_id: Option<&'a str> [3..] nullable [3..],
    }

    /// Whether that generation still holds.
    pub struct HeartbeatResponse: response of Heartbeat {
        throttle_time_ms: i32 [1..; ignorable],
        error_code: ErrorCode [0..],
    }
}
