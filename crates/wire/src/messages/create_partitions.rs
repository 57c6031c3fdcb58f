//! CreatePartitions (37).

use crate::error_code::ErrorCode;

messages! {
    /// Topics that are to have more partitions.
    pub struct CreatePartitionsRequest<'a>: request of CreatePartitions {
        topics: Vec<CreatePartitionsTopic<'a>> [0..],
        timeout_ms: i32 [0..],
        validate_only: bool [0..],
    }

    /// A topic and its new number of partitions in total.
    pub struct CreatePartitionsTopic<'a> {
        name: &'a str [0..],
        count: i32 [0..],
        assignments: Option<Vec<CreatePartitionsAssignment>> [0..] nullable [0..],
    }

    /// The replicas of one new partition, placed by hand.
    pub struct CreatePartitionsAssignment {
        broker_ids: Vec<i32> [0..],
    }

    /// One result for each topic asked for.
    pub struct CreatePartitionsResponse<'a>: response of CreatePartitions {
        throttle_time_ms: i32 [0..],
        results: Vec<CreatePartitionsTopicResult<'a>> [0..],
    }

    /// The outcome for one topic.
    pub struct CreatePartitionsTopicResult<'a> {
        name: &'a str [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
    }
}
