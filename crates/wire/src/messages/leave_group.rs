//! LeaveGroup (13): members leave a classic group.

use crate::error_code::ErrorCode;

messages! {
    /// Who leaves: `member_id` below version 3, `members` from there on.
    pub struct LeaveGroupRequest<'a>: request of LeaveGroup {
        group_id: &'a str [0..],
        member_id: &'a str [0..=2],
        members: Vec<MemberIdentity<'a>> [3..],
    }

    /// A member, by its id, its instance id or both.
    pub struct MemberIdentity<'a> {
        member_id: &'a str [3..],
        group_instance_id: Option<&'a str> [3..] nullable [3..],
        reason: Option<&'a str> [5..; ignorable] nullable [5..],
    }

    /// Below version 3 the error of the one member is the error of the whole.
    pub struct LeaveGroupResponse<'a>: response of LeaveGroup {
        throttle_time_ms: i32 [1..; ignorable],
        error_code: ErrorCode [0..],
        members: Vec<MemberResponse<'a>> [3..],
    }

    /// The outcome for one member.
    pub struct MemberResponse<'a> {
        member_id: &'a str [3..],
        group_instance_id: Option<&'a str> [3..] nullable [3..],
        error_code: ErrorCode [3..],
    }
}
