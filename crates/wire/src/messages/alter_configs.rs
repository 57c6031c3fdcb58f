//! AlterConfigs (33).

use crate::error_code::ErrorCode;

messages! {
    /// Resources and all that shall be set for them; what is not named goes back to its default.
    pub struct AlterConfigsRequest<'a>: request of AlterConfigs {
        resources: Vec<AlterConfigsResource<'a>> [0..],
        validate_only: bool [0..],
    }

    /// A resource with all its settings.
    pub struct AlterConfigsResource<'a> {
        /// 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group.
        resource_type: i8 [0..],
        resource_name: &'a str [0..],
        configs: Vec<AlterableConfig<'a>> [0..],
    }

    /// One setting.
    pub struct AlterableConfig<'a> {
        name: &'a str [0..],
        value: Option<&'a str> [0..] nullable [0..],
    }

    /// One result for each resource.
    pub struct AlterConfigsResponse<'a>: response of AlterConfigs {
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
