//! SyncGroup (14): the leader hands out assignments and every member fetches its own.

use crate::error_code::ErrorCode;

messages! {
    /// A member of a generation; the leader sends the assignments of all.
    pub struct SyncGroupRequest<'a>: request of SyncGroup {
        group_id: &'a str [0..],
        generation_id: i32 [0..],
        member_id: &'a str [0..],
        group_instance_id: Option<&'a str> [3..] nullable [3..],
        protocol_type: Option<&'a str> [5..; ignorable] nullable [5..],
        protocol_name: Option<&'a str> [5..; ignorable] nullable [5..],
        assignments: Vec<SyncGroupRequestAssignment<'a>> [0..],
    }

    /// The assignment of one member.
    pub struct SyncGroupRequestAssignment<'a> {
        member_id: &'a str [0..],
        assignment: &'a [u8] [0..],
    }

    /// The assignment of the member that asked.
    pub struct SyncGroupResponse<'a>: response of SyncGroup {
        throttle_time_ms: i32 [1..; ignorable],
        error_code: ErrorCode [0..],
        protocol_type: Option<&'a str> [5..; ignorable] nullable [5..],
        protocol_name: Option<&'a str> [5..; ignorable] nullable [5..],
        assignment: &'a [u8] [0..],
    }
}
