//! OffsetFetch (9): where a group goes on reading. Up to version 7 for one group, from 8 on for any number.

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// The groups asked about.
    pub struct OffsetFetchRequest<'a>: request of OffsetFetch {
        group_id: &'a str [0..=7],
        topics: Option<Vec<OffsetFetchRequestTopic<'a>>> [0..=7] nullable [2..=7],
        groups: Vec<OffsetFetchRequestGroup<'a>> [8..],
        require_stable: bool [7..],
    }

    /// The partitions of one topic, up to version 7.
    pub struct OffsetFetchRequestTopic<'a> {
        name: &'a str [0..=7],
        partition_indexes: Vec<i32> [0..=7],
    }

    /// A group and its topics; `None` means all of them.
    pub struct OffsetFetchRequestGroup<'a> {
        group_id: &'a str [8..],
        member_id: Option<&'a str> [9..; ignorable] nullable [9..],
        member_epoch: i32 [9..; ignorable] = -1,
        topics: Option<Vec<OffsetFetchRequestTopics<'a>>> [8..] nullable [8..],
    }

    /// The partitions of one topic: by name up to version 9, by id from 10 on.
    pub struct OffsetFetchRequestTopics<'a> {
        name: &'a str [8..=9; ignorable],
        topic_id: TopicId [10..; ignorable],
        partition_indexes: Vec<i32> [8..],
    }

    /// The committed offsets. Version 1 has no error of the whole: errors stand on each partition.
    pub struct OffsetFetchResponse<'a>: response of OffsetFetch {
        throttle_time_ms: i32 [3..; ignorable],
        topics: Vec<OffsetFetchResponseTopic<'a>> [0..=7],
        error_code: ErrorCode [2..=7; ignorable],
        groups: Vec<OffsetFetchResponseGroup<'a>> [8..],
    }

    /// The offsets of one topic, up to version 7.
    pub struct OffsetFetchResponseTopic<'a> {
        name: &'a str [0..=7],
        partitions: Vec<OffsetFetchResponsePartition<'a>> [0..=7],
    }

    /// The offset of one partition, up to version 7; −1 when there is none.
    pub struct OffsetFetchResponsePartition<'a> {
        partition_index: i32 [0..=7],
        committed_offset: i64 [0..=7],
        committed_leader_epoch: i32 [5..=7; ignorable] = -1,
        metadata: Option<&'a str> [0..=7] nullable [0..=7],
        error_code: ErrorCode [0..=7],
    }

    /// The offsets of one group.
    pub struct OffsetFetchResponseGroup<'a> {
        group_id: &'a str [8..],
        topics: Vec<OffsetFetchResponseTopics<'a>> [8..],
        error_code: ErrorCode [8..],
    }

    /// The offsets of one topic.
    pub struct OffsetFetchResponseTopics<'a> {
        name: &'a str [8..=9; ignorable],
        topic_id: TopicId [10..; ignorable],
        partitions: Vec<OffsetFetchResponsePartitions<'a>> [8..],
    }

    /// The offset of one partition; −1 when there is none.
    pub struct OffsetFetchResponsePartitions<'a> {
        partition_index: i32 [8..],
        committed_offset: i64 [8..],
        committed_leader_epoch: i32 [8..; ignorable] = -1,
        metadata: Option<&'a str> [8..] nullable [8..],
        error_code: ErrorCode [8..],
    }
}
