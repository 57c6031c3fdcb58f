//! ConsumerGroupDescribe (69): consumer groups (KIP-848), their members and assignments.

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// The groups asked about.
    pub struct ConsumerGroupDescribeRequest<'a>: request of ConsumerGroupDescribe {
        group_ids: Vec<&'a str> [0..],
        include_authorized_operations: bool [0..],
    }

    /// One description for each group.
    pub struct ConsumerGroupDescribeResponse<'a>: response of ConsumerGroupDescribe {
        throttle_time_ms: i32 [0..],
        groups: Vec<DescribedConsumerGroup<'a>> [0..],
    }

    /// A group, or why it cannot be described.
    pub struct DescribedConsumerGroup<'a> {
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        group_id: &'a str [0..],
        group_state: &'a str [0..],
        group_epoch: i32 [0..],
        assignment_epoch: i32 [0..],
        assignor_name: &'a str [0..],
        members: Vec<DescribedConsumerGroupMember<'a>> [0..],
        /// A bit for each operation; `i32::MIN` when not asked for.
        authorized_operations: i32 [0..] = i32::MIN,
    }

    /// A member.
    pub struct DescribedConsumerGroupMember<'a> {
        member_id: &'a str [0..],
        instance_id: Option<&'a str> [0..] nullable [0..],
        rack_id: Option<&'a str> [0..] nullable [0..],
        member_epoch: i32 [0..],
        client_id: &'a str [0..],
        client_host: &'a str [0..],
        subscribed_topic_names: Vec<&'a str> [0..],
        subscribed_topic_regex: Option<&'a str> [0..] nullable [0..],
        assignment: DescribedAssignment<'a> [0..],
        target_assignment: DescribedAssignment<'a> [0..],
        /// −1: unknown, 0: it speaks the classic protocol, 1: it speaks this one.
        member_type: i8 [1..; ignorable] = -1,
    }

    /// The partitions of a member.
    pub struct DescribedAssignment<'a> {
        topic_partitions: Vec<DescribedTopicPartitions<'a>> [0..],
    }

    /// Some partitions of a topic.
    pub struct DescribedTopicPartitions<'a> {
        topic_id: TopicId [0..],
        topic_name: &'a str [0..],
        partitions: Vec<i32> [0..],
    }
}
