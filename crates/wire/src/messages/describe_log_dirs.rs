//! DescribeLogDirs (35).

use crate::error_code::ErrorCode;

messages! {
    /// The partitions whose sizes are asked for; null asks for all.
    pub struct DescribeLogDirsRequest<'a>: request of DescribeLogDirs {
        topics: Option<Vec<DescribableLogDirTopic<'a>>> [0..] nullable [0..],
    }

    /// The partitions of one topic.
    pub struct DescribableLogDirTopic<'a> {
        topic: &'a str [0..],
        partitions: Vec<i32> [0..],
    }

    /// The folders where logs lie.
    pub struct DescribeLogDirsResponse<'a>: response of DescribeLogDirs {
        throttle_time_ms: i32 [0..; ignorable],
        error_code: ErrorCode [3..; ignorable],
        results: Vec<DescribeLogDirsResult<'a>> [0..],
    }

    /// One folder, its logs, and the room on its device.
    pub struct DescribeLogDirsResult<'a> {
        error_code: ErrorCode [0..],
        log_dir: &'a str [0..],
        topics: Vec<DescribeLogDirsTopic<'a>> [0..],
        /// −1 when it is not known.
        total_bytes: i64 [4..; ignorable] = -1,
        /// −1 when it is not known.
        usable_bytes: i64 [4..; ignorable] = -1,
        is_cordoned: bool [5..; ignorable],
    }

    /// The logs of one topic.
    pub struct DescribeLogDirsTopic<'a> {
        name: &'a str [0..],
        partitions: Vec<DescribeLogDirsPartition> [0..],
    }

    /// One log.
    pub struct DescribeLogDirsPartition {
        partition_index: i32 [0..],
        partition_size: i64 [0..],
        offset_lag: i64 [0..],
        is_future_key: bool [0..],
    }
}
