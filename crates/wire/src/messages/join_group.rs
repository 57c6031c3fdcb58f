//! JoinGroup (11): a member enters a classic group and waits for its generation.

use crate::error_code::ErrorCode;

messages! {
    /// A member and the protocols it can follow, the preferred first.
    pub struct JoinGroupRequest<'a>: request of JoinGroup {
        group_id: &'a str [0..],
        session_timeout_ms: i32 [0..],
        /// Version 0 has none; the session timeout stands for it.
        rebalance_timeout_ms: i32 [1..; ignorable] = -1,
        member_id: &'a str [0..],
        group_instance_id: Option<&'a str> [5..] nullable [5..],
        protocol_type: &'a str [0..],
        protocols: Vec<JoinGroupRequestProtocol<'a>> [0..],
        reason: Option<&'a str> [8..; ignorable] nullable [8..],
    }

    /// A protocol and what the member says about itself in it.
    pub struct JoinGroupRequestProtocol<'a> {
        name: &'a str [0..],
        metadata: &'a [u8] [0..],
    }

    /// The generation; for the leader, with all the members.
    pub struct JoinGroupResponse<'a>: response of JoinGroup {
        throttle_time_ms: i32 [2..; ignorable],
        error_code: ErrorCode [0..],
        generation_id: i32 [0..] = -1,
        protocol_type: Option<&'a str> [7..; ignorable] nullable [7..],
        protocol_name: Option<&'a str> [0..] nullable [7..],
        leader: &'a str [0..],
        skip_assignment: bool [9..],
        member_id: &'a str [0..],
        members: Vec<JoinGroupResponseMember<'a>> [0..],
    }

    /// A member as the leader must know it.
    pub struct JoinGroupResponseMember<'a> {
        member_id: &'a str [0..],
        group_instance_id: Option<&'a str> [5..; ignorable] nullable [5..],
        metadata: &'a [u8] [0..],
    }
}
