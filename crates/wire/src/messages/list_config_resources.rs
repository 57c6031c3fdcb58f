//! ListConfigResources (74).

use crate::error_code::ErrorCode;

messages! {
    /// Kinds of resources that have settings of their own; none asks for all. Version 0 asks for client metrics.
    pub struct ListConfigResourcesRequest: request of ListConfigResources {
        resource_types: Vec<i8> [1..],
    }

    /// The resources.
    pub struct ListConfigResourcesResponse<'a>: response of ListConfigResources {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [0..],
        config_resources: Vec<ConfigResource<'a>> [0..],
    }

    /// One resource.
    pub struct ConfigResource<'a> {
        resource_name: &'a str [0..],
        /// 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group.
        resource_type: i8 [1..; ignorable] = 16,
    }
}
