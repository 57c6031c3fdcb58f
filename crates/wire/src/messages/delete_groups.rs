//! DeleteGroups (42).

use crate::error_code::ErrorCode;

messages! {
    /// Groups to delete, with their offsets.
    pub struct DeleteGroupsRequest<'a>: request of DeleteGroups {
        groups_names: Vec<&'a str> [0..],
    }

    /// One result for each group.
    pub struct DeleteGroupsResponse<'a>: response of DeleteGroups {
        throttle_time_ms: i32 [0..],
        results: Vec<DeletableGroupResult<'a>> [0..],
    }

    /// The outcome for one group.
    pub struct DeletableGroupResult<'a> {
        group_id: &'a str [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [3..; ignorable] nullable [3..],
    }
}
