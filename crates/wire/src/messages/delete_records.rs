//! DeleteRecords (21).

use crate::error_code::ErrorCode;

messages! {
    /// Partitions whose beginning is to go.
    pub struct DeleteRecordsRequest<'a>: request of DeleteRecords {
        topics: Vec<DeleteRecordsTopic<'a>> [0..],
        timeout_ms: i32 [0..],
    }

    /// The partitions of one topic.
    pub struct DeleteRecordsTopic<'a> {
        name: &'a str [0..],
        partitions: Vec<DeleteRecordsPartition> [0..],
    }

    /// One partition: every record below the offset goes; −1 means all that are durable.
    pub struct DeleteRecordsPartition {
        partition_index: i32 [0..],
        offset: i64 [0..],
    }

    /// Where the partitions begin now.
    pub struct DeleteRecordsResponse<'a>: response of DeleteRecords {
        throttle_time_ms: i32 [0..],
        topics: Vec<DeleteRecordsTopicResult<'a>> [0..],
    }

    /// The partitions of one topic.
    pub struct DeleteRecordsTopicResult<'a> {
        name: &'a str [0..],
        partitions: Vec<DeleteRecordsPartitionResult> [0..],
    }

    /// The first offset of one partition, or the error.
    pub struct DeleteRecordsPartitionResult {
        partition_index: i32 [0..],
        low_watermark: i64 [0..],
        error_code: ErrorCode [0..],
    }
}
