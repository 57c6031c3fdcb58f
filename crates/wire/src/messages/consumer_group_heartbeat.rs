//! ConsumerGroupHeartbeat (68): a member of a consumer group says what it is and has, and is told what it shall have
//! (KIP-848).

use milepost_model::TopicId;

use crate::error_code::ErrorCode;

messages! {
    /// What the member is and has; what it leaves out is as before.
    pub struct ConsumerGroupHeartbeatRequest<'a>: request of ConsumerGroupHeartbeat {
        group_id: &'a str [0..],
        member_id: &'a str [0..],
        /// 0 to join, −1 to leave, −2 of a static member that will be back.
        member_epoch: i32 [0..],
        instance_id: Option<&'a str> [0..] nullable [0..],
        rack_id: Option<&'a str> [0..] nullable [0..],
        rebalance_timeout_ms: i32 [0..] = -1,
        subscribed_topic_names: Option<Vec<&'a str>> [0..] nullable [0..],
        subscribed_topic_regex: Option<&'a str> [1..] nullable [1..],
        server_assignor: Option<&'a str> [0..] nullable [0..],
        topic_partitions: Option<Vec<ConsumerGroupHeartbeatTopicPartitions>> [0..] nullable [0..],
    }

    /// Partitions of a topic, owned or assigned.
    pub struct ConsumerGroupHeartbeatTopicPartitions {
        topic_id: TopicId [0..],
        partitions: Vec<i32> [0..],
    }

    /// The epoch the member is in, and what it has if that changed.
    pub struct ConsumerGroupHeartbeatResponse<'a>: response of ConsumerGroupHeartbeat {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        member_id: Option<&'a str> [0..] nullable [0..],
        member_epoch: i32 [0..],
        heartbeat_interval_ms: i32 [0..],
        assignment: Option<ConsumerGroupHeartbeatAssignment> [0..] nullable [0..],
    }

    /// The partitions of a member.
    pub struct ConsumerGroupHeartbeatAssignment {
        topic_partitions: Vec<ConsumerGroupHeartbeatTopicPartitions> [0..],
    }
}
