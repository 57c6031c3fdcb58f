//! CreateTopics (19).

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// Topics to create, each on its own.
    pub struct CreateTopicsRequest<'a>: request of CreateTopics {
        topics: Vec<CreatableTopic<'a>> [0..],
        timeout_ms: i32 [0..] = 60000,
        validate_only: bool [1..],
    }

    /// A topic to create; −1 partitions or replicas ask for the default.
    pub struct CreatableTopic<'a> {
        name: &'a str [0..],
        num_partitions: i32 [0..],
        replication_factor: i16 [0..],
        assignments: Vec<CreatableReplicaAssignment> [0..],
        configs: Vec<CreatableTopicConfig<'a>> [0..],
    }

    /// The replicas of one partition, placed by hand.
    pub struct CreatableReplicaAssignment {
        partition_index: i32 [0..],
        broker_ids: Vec<i32> [0..],
    }

    /// A setting of the topic.
    pub struct CreatableTopicConfig<'a> {
        name: &'a str [0..],
        value: Option<&'a str> [0..] nullable [0..],
    }

    /// One result for each topic asked for.
    pub struct CreateTopicsResponse<'a>: response of CreateTopics {
        throttle_time_ms: i32 [2..; ignorable],
        topics: Vec<CreatableTopicResult<'a>> [0..],
    }

    /// The created topic, or the error.
    pub struct CreatableTopicResult<'a> {
        name: &'a str [0..],
        topic_id: TopicId [7..; ignorable],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [1..; ignorable] nullable [0..],
        num_partitions: i32 [5..; ignorable] = -1,
        replication_factor: i16 [5..; ignorable] = -1,
        configs: Option<Vec<CreatableTopicConfigs<'a>>> [5..; ignorable] nullable [5..],
        topic_config_error_code: ErrorCode [5..; ignorable] tag 0,
    }

    /// An effective setting of the created topic.
    pub struct CreatableTopicConfigs<'a> {
        name: &'a str [5..],
        value: Option<&'a str> [5..] nullable [5..],
        read_only: bool [5..],
        config_source: i8 [5..; ignorable] = -1,
        is_sensitive: bool [5..],
    }
}
