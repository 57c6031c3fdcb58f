//! DeleteTopics (20).

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// Topics to delete: `topics` from version 6 on, `topic_names` below.
    pub struct DeleteTopicsRequest<'a>: request of DeleteTopics {
        topics: Vec<DeleteTopicState<'a>> [6..],
        topic_names: Vec<&'a str> [0..=5; ignorable],
        timeout_ms: i32 [0..],
    }

    /// A topic, by name or by id but not both.
    pub struct DeleteTopicState<'a> {
        name: Option<&'a str> [6..] nullable [6..],
        topic_id: TopicId [6..],
    }

    /// One result for each topic asked for.
    pub struct DeleteTopicsResponse<'a>: response of DeleteTopics {
        throttle_time_ms: i32 [1..; ignorable],
        responses: Vec<DeletableTopicResult<'a>> [0..],
    }

    /// A deleted topic, or the error.
    pub struct DeletableTopicResult<'a> {
        name: Option<&'a str> [0..] nullable [6..],
        topic_id: TopicId [6..; ignorable],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [5..; ignorable] nullable [5..],
    }
}
