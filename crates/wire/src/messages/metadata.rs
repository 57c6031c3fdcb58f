//! Metadata (3): brokers, topics and the leaders of partitions.

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// Asks for topics; `None` means all of them, and so does an empty list in version 0.
    pub struct MetadataRequest<'a>: request of Metadata {
        topics: Option<Vec<MetadataRequestTopic<'a>>> [0..] nullable [1..],
        allow_auto_topic_creation: bool [4..] = true,
        include_cluster_authorized_operations: bool [8..=10],
        include_topic_authorized_operations: bool [8..],
    }

    /// A topic, by name or, from version 12 on, by id.
    pub struct MetadataRequestTopic<'a> {
        topic_id: TopicId [10..; ignorable],
        name: Option<&'a str> [0..] nullable [10..],
    }

    /// The cluster as this broker sees it.
    pub struct MetadataResponse<'a>: response of Metadata {
        throttle_time_ms: i32 [3..; ignorable],
        brokers: Vec<MetadataResponseBroker<'a>> [0..],
        cluster_id: Option<&'a str> [2..; ignorable] nullable [2..],
        controller_id: i32 [1..; ignorable] = -1,
        topics: Vec<MetadataResponseTopic<'a>> [0..],
        /// A bit for each operation; `i32::MIN` when not asked for.
        cluster_authorized_operations: i32 [8..=10] = i32::MIN,
        error_code: ErrorCode [13..; ignorable],
    }

    /// A broker and where it listens.
    pub struct MetadataResponseBroker<'a> {
        node_id: i32 [0..],
        host: &'a str [0..],
        port: i32 [0..],
        rack: Option<&'a str> [1..; ignorable] nullable [1..],
    }

    /// A topic, or why it cannot be had.
    pub struct MetadataResponseTopic<'a> {
        error_code: ErrorCode [0..],
        name: Option<&'a str> [0..] nullable [12..],
        topic_id: TopicId [10..; ignorable],
        is_internal: bool [1..; ignorable],
        partitions: Vec<MetadataResponsePartition> [0..],
        /// A bit for each operation; `i32::MIN` when not asked for.
        topic_authorized_operations: i32 [8..] = i32::MIN,
    }

    /// A partition and its replicas.
    pub struct MetadataResponsePartition {
        error_code: ErrorCode [0..],
        partition_index: i32 [0..],
        leader_id: i32 [0..],
        leader_epoch: i32 [7..; ignorable] = -1,
        replica_nodes: Vec<i32> [0..],
        isr_nodes: Vec<i32> [0..],
        offline_replicas: Vec<i32> [5..; ignorable],
    }
}
