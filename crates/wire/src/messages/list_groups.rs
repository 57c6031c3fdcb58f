//! ListGroups (16).

use crate::error_code::ErrorCode;

messages! {
    /// Asks for the groups that this broker coordinates; empty filters let all pass.
    pub struct ListGroupsRequest<'a>: request of ListGroups {
        states_filter: Vec<&'a str> [4..],
        types_filter: Vec<&'a str> [5..],
    }

    /// The groups found.
    pub struct ListGroupsResponse<'a>: response of ListGroups {
        throttle_time_ms: i32 [1..; ignorable],
        error_code: ErrorCode [0..],
        groups: Vec<ListedGroup<'a>> [0..],
    }

    /// A group; its protocol type is empty when it only stores offsets.
    pub struct ListedGroup<'a> {
        group_id: &'a str [0..],
        protocol_type: &'a str [0..],
        group_state: &'a str [4..; ignorable],
        group_type: &'a str [5..; ignorable],
    }
}
