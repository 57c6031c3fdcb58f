//! ElectLeaders (43).

use crate::error_code::ErrorCode;

messages! {
    /// Partitions that shall get another leader; null means all.
    pub struct ElectLeadersRequest<'a>: request of ElectLeaders {
        /// 0 the preferred one, 1 any, even one that lacks records.
        election_type: i8 [1..],
        topic_partitions: Option<Vec<TopicPartitions<'a>>> [0..] nullable [0..],
        timeout_ms: i32 [0..] = 60000,
    }

    /// The partitions of one topic.
    pub struct TopicPartitions<'a> {
        topic: &'a str [0..],
        partitions: Vec<i32> [0..],
    }

    /// What became of the elections.
    pub struct ElectLeadersResponse<'a>: response of ElectLeaders {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [1..; ignorable],
        replica_election_results: Vec<ReplicaElectionResult<'a>> [0..],
    }

    /// The partitions of one topic.
    pub struct ReplicaElectionResult<'a> {
        topic: &'a str [0..],
        partition_result: Vec<PartitionResult<'a>> [0..],
    }

    /// One partition.
    pub struct PartitionResult<'a> {
        partition_id: i32 [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
    }
}
