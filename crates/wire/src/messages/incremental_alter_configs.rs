//! IncrementalAlterConfigs (44).

use crate::error_code::ErrorCode;

messages! {
    /// Resources and what shall change in their settings; what is not named stays.
    pub struct IncrementalAlterConfigsRequest<'a>: request of IncrementalAlterConfigs {
        resources: Vec<AlterConfigsResource<'a>> [0..],
        validate_only: bool [0..],
    }

    /// A resource with the changes to it.
    pub struct AlterConfigsResource<'a> {
        /// 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group.
        resource_type: i8 [0..],
        resource_name: &'a str [0..],
        configs: Vec<AlterableConfig<'a>> [0..],
    }

    /// One change.
    pub struct AlterableConfig<'a> {
        name: &'a str [0..],
        /// 0 sets, 1 deletes, 2 appends to a list, 3 subtracts from one.
        config_operation: i8 [0..],
        value: Option<&'a str> [0..] nullable [0..],
    }

    /// One result for each resource.
    pub struct IncrementalAlterConfigsResponse<'a>: response of IncrementalAlterConfigs {
        throttle_time_ms: i32 [0..],
        responses: Vec<AlterConfigsResourceResponse<'a>> [0..],
    }

    /// What became of one resource.
    pub struct AlterConfigsResourceResponse<'a> {
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        resource_type: i8 [0..],
        resource_name: &'a str [0..],
    }
}
