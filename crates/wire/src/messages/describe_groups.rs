//! DescribeGroups (15): classic groups and their members.

use crate::error_code::ErrorCode;

messages! {
    /// The groups asked about.
    pub struct DescribeGroupsRequest<'a>: request of DescribeGroups {
        groups: Vec<&'a str> [0..],
        include_authorized_operations: bool [3..],
    }

    /// One description for each group.
    pub struct DescribeGroupsResponse<'a>: response of DescribeGroups {
        throttle_time_ms: i32 [1..; ignorable],
        groups: Vec<DescribedGroup<'a>> [0..],
    }

    /// A group, or why it cannot be described.
    pub struct DescribedGroup<'a> {
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [6..] nullable [6..],
        group_id: &'a str [0..],
        group_state: &'a str [0..],
        protocol_type: &'a str [0..],
        protocol_data: &'a str [0..],
        members: Vec<DescribedGroupMember<'a>> [0..],
        /// A bit for each operation; `i32::MIN` when not asked for.
        authorized_operations: i32 [3..] = i32::MIN,
    }

    /// A member and its assignment.
    pub struct DescribedGroupMember<'a> {
        member_id: &'a str [0..],
        group_instance_id: Option<&'a str> [4..; ignorable] nullable [4..],
        client_id: &'a str [0..],
        client_host: &'a str [0..],
        member_metadata: &'a [u8] [0..],
        member_assignment: &'a [u8] [0..],
    }
}
