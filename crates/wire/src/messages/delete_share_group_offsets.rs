//! DeleteShareGroupOffsets (92): share groups without members forget whole topics (KIP-932).

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// Which topics.
    pub struct DeleteShareGroupOffsetsRequest<'a>: request of DeleteShareGroupOffsets {
        group_id: &'a str [0..],
        topics: Vec<DeleteShareGroupOffsetsRequestTopic<'a>> [0..],
    }

    /// A topic.
    pub struct DeleteShareGroupOffsetsRequestTopic<'a> {
        topic_name: &'a str [0..],
    }

    /// What came of it.
    pub struct DeleteShareGroupOffsetsResponse<'a>: response of DeleteShareGroupOffsets {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        responses: Vec<DeleteShareGroupOffsetsResponseTopic<'a>> [0..],
    }

    /// A topic.
    pub struct DeleteShareGroupOffsetsResponseTopic<'a> {
        topic_name: &'a str [0..],
        topic_id: TopicId [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
    }
}
