//! ShareGroupDescribe (77): share groups (KIP-932), their members and assignments.

use crate::error_code::ErrorCode;
use crate::messages::consumer_group_describe::DescribedAssignment;

messages! {
    /// The groups asked about.
    pub struct ShareGroupDescribeRequest<'a>: request of ShareGroupDescribe {
        group_ids: Vec<&'a str> [0..],
        include_authorized_operations: bool [0..],
    }

    /// One description for each group.
    pub struct ShareGroupDescribeResponse<'a>: response of ShareGroupDescribe {
        throttle_time_ms: i32 [0..],
        groups: Vec<DescribedShareGroup<'a>> [0..],
    }

    /// A group, or why it cannot be described.
    pub struct DescribedShareGroup<'a> {
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        group_id: &'a str [0..],
        group_state: &'a str [0..],
        group_epoch: i32 [0..],
        assignment_epoch: i32 [0..],
        assignor_name: &'a str [0..],
        members: Vec<DescribedShareGroupMember<'a>> [0..],
        /// A bit for each operation; `i32::MIN` when not asked for.
        authorized_operations: i32 [0..] = i32::MIN,
    }

    /// A member.
    pub struct DescribedShareGroupMember<'a> {
        member_id: &'a str [0..],
        rack_id: Option<&'a str> [0..] nullable [0..],
        member_epoch: i32 [0..],
        client_id: &'a str [0..],
        client_host: &'a str [0..],
        subscribed_topic_names: Vec<&'a str> [0..],
        assignment: DescribedAssignment<'a> [0..],
    }
}
