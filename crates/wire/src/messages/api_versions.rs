//! ApiVersions (18): what the server speaks. The one API whose responses are read before anything is agreed.

use crate::error_code::ErrorCode;

messages! {
    /// Asks which APIs and versions the server speaks.
    pub struct ApiVersionsRequest<'a>: request of ApiVersions {
        client_software_name: &'a str [3..; ignorable],
        client_software_version: &'a str [3..; ignorable],
        cluster_id: Option<&'a str> [5..; ignorable] nullable [5..],
        node_id: i32 [5..; ignorable] = -1,
    }

    /// The table of versions, and features from version 3 on.
    pub struct ApiVersionsResponse<'a>: response of ApiVersions {
        error_code: ErrorCode [0..],
        api_keys: Vec<ApiVersion> [0..],
        throttle_time_ms: i32 [1..; ignorable],
        supported_features: Vec<SupportedFeatureKey<'a>> [3..; ignorable] tag 0,
        finalized_features_epoch: i64 [3..; ignorable] tag 1 = -1,
        finalized_features: Vec<FinalizedFeatureKey<'a>> [3..; ignorable] tag 2,
        zk_migration_ready: bool [3..; ignorable] tag 3,
    }

    /// One API and its lowest and highest version.
    pub struct ApiVersion {
        api_key: i16 [0..],
        min_version: i16 [0..],
        max_version: i16 [0..],
    }

    /// A feature and the levels that the server could run at.
    pub struct SupportedFeatureKey<'a> {
        name: &'a str [3..],
        min_version: i16 [3..],
        max_version: i16 [3..],
    }

    /// A feature and the level that the cluster runs at.
    pub struct FinalizedFeatureKey<'a> {
        name: &'a str [3..],
        /// Stands before the lowest level, unlike in the other lists.
        max_version_level: i16 [3..],
        min_version_level: i16 [3..],
    }
}
