//! DescribeConfigs (32).

use crate::error_code::ErrorCode;

messages! {
    /// Resources whose settings are asked for.
    pub struct DescribeConfigsRequest<'a>: request of DescribeConfigs {
        resources: Vec<DescribeConfigsResource<'a>> [0..],
        include_synonyms: bool [1..],
        include_documentation: bool [3..],
    }

    /// A resource; without keys, or with an empty list of them, all its settings.
    pub struct DescribeConfigsResource<'a> {
        /// 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group.
        resource_type: i8 [0..],
        resource_name: &'a str [0..],
        configuration_keys: Option<Vec<&'a str>> [0..] nullable [0..],
    }

    /// One result for each resource asked for.
    pub struct DescribeConfigsResponse<'a>: response of DescribeConfigs {
        throttle_time_ms: i32 [0..],
        results: Vec<DescribeConfigsResult<'a>> [0..],
    }

    /// The settings of one resource, or the error.
    pub struct DescribeConfigsResult<'a> {
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        resource_type: i8 [0..],
        resource_name: &'a str [0..],
        configs: Vec<DescribeConfigsResourceResult<'a>> [0..],
    }

    /// One setting: its value and where it comes from.
    pub struct DescribeConfigsResourceResult<'a> {
        name: &'a str [0..],
        value: Option<&'a str> [0..] nullable [0..],
        read_only: bool [0..],
        /// 1 topic, 2 broker, 3 all brokers, 4 the broker's file, 5 default, 6 logger, 7 client metrics, 8
        /// group.
        config_source: i8 [1..; ignorable] = -1,
        is_sensitive: bool [0..],
        synonyms: Vec<DescribeConfigsSynonym<'a>> [1..; ignorable],
        /// 1 boolean, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8 class, 9 password.
        config_type: i8 [3..; ignorable],
        documentation: Option<&'a str> [3..; ignorable] nullable [0..],
    }

    /// A value that would hold if the ones before it were not set.
    pub struct DescribeConfigsSynonym<'a> {
        name: &'a str [1..],
        value: Option<&'a str> [1..] nullable [0..],
        source: i8 [1..],
    }
}
