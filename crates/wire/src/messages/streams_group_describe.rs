//! StreamsGroupDescribe (89): streams groups (KIP-1071), their topology, their members and the tasks of each.

use crate::error_code::ErrorCode;

messages! {
    /// The groups asked about.
    pub struct StreamsGroupDescribeRequest<'a>: request of StreamsGroupDescribe {
        group_ids: Vec<&'a str> [0..],
        include_authorized_operations: bool [0..],
        include_topology_description: bool [1..],
    }

    /// One description for each group.
    pub struct StreamsGroupDescribeResponse<'a>: response of StreamsGroupDescribe {
        throttle_time_ms: i32 [0..],
        groups: Vec<DescribedStreamsGroup<'a>> [0..],
    }

    /// A group, or why it cannot be described.
    pub struct DescribedStreamsGroup<'a> {
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        group_id: &'a str [0..],
        group_state: &'a str [0..],
        group_epoch: i32 [0..],
        assignment_epoch: i32 [0..],
        topology: Option<StreamsTopology<'a>> [0..] nullable [0..],
        members: Vec<DescribedStreamsGroupMember<'a>> [0..],
        /// A bit for each operation; `i32::MIN` when not asked for.
        authorized_operations: i32 [0..] = i32::MIN,
        topology_description: Option<TopologyDescription<'a>> [1..] nullable [1..],
        /// 0: not asked for, 1: there is none, 2: it cannot be had, 3: it is there.
        topology_description_status: i8 [1..],
        /// That of the next assignment.
        assignor_name: Option<&'a str> [1..; ignorable] nullable [1..],
    }

    /// What the group works on.
    pub struct StreamsTopology<'a> {
        epoch: i32 [0..],
        /// Null while the topics it reads are not there or do not fit together.
        subtopologies: Option<Vec<StreamsSubtopology<'a>>> [0..] nullable [0..],
    }

    /// A part of the topology that is worked on by itself.
    pub struct StreamsSubtopology<'a> {
        subtopology_id: &'a str [0..],
        source_topics: Vec<&'a str> [0..],
        repartition_sink_topics: Vec<&'a str> [0..],
        state_changelog_topics: Vec<StreamsTopicInfo<'a>> [0..],
        repartition_source_topics: Vec<StreamsTopicInfo<'a>> [0..],
    }

    /// A topic that belongs to the application.
    pub struct StreamsTopicInfo<'a> {
        name: &'a str [0..],
        /// 0: as many as it takes.
        partitions: i32 [0..],
        /// 0: the broker's default.
        replication_factor: i16 [0..],
        topic_configs: Vec<StreamsKeyValue<'a>> [0..],
    }

    /// A pair.
    pub struct StreamsKeyValue<'a> {
        key: &'a str [0..],
        value: &'a str [0..],
    }

    /// A member.
    pub struct DescribedStreamsGroupMember<'a> {
        member_id: &'a str [0..],
        member_epoch: i32 [0..],
        instance_id: Option<&'a str> [0..] nullable [0..],
        rack_id: Option<&'a str> [0..] nullable [0..],
        client_id: &'a str [0..],
        client_host: &'a str [0..],
        topology_epoch: i32 [0..],
        /// The instance of the application, which may have many members.
        process_id: &'a str [0..],
        user_endpoint: Option<StreamsEndpoint<'a>> [0..] nullable [0..],
        client_tags: Vec<StreamsKeyValue<'a>> [0..],
        task_offsets: Vec<StreamsTaskOffset<'a>> [0..],
        task_end_offsets: Vec<StreamsTaskOffset<'a>> [0..],
        assignment: StreamsAssignment<'a> [0..],
        target_assignment: StreamsAssignment<'a> [0..],
        /// Whether it still speaks the classic protocol.
        is_classic: bool [0..],
    }

    /// Where a member answers interactive queries.
    pub struct StreamsEndpoint<'a> {
        host: &'a str [0..],
        port: u16 [0..],
    }

    /// How far a task has come in its changelogs.
    pub struct StreamsTaskOffset<'a> {
        subtopology_id: &'a str [0..],
        partition: i32 [0..],
        offset: i64 [0..],
    }

    /// The tasks of a member.
    pub struct StreamsAssignment<'a> {
        active_tasks: Vec<StreamsTaskIds<'a>> [0..],
        standby_tasks: Vec<StreamsTaskIds<'a>> [0..],
        warmup_tasks: Vec<StreamsTaskIds<'a>> [0..],
    }

    /// Some tasks of a subtopology.
    pub struct StreamsTaskIds<'a> {
        subtopology_id: &'a str [0..],
        partitions: Vec<i32> [0..],
    }

    /// The whole topology, where the broker keeps it.
    pub struct TopologyDescription<'a> {
        subtopologies: Vec<TopologyDescriptionSubtopology<'a>> [1..],
        global_stores: Vec<TopologyDescriptionGlobalStore<'a>> [1..],
    }

    /// The nodes of a subtopology.
    pub struct TopologyDescriptionSubtopology<'a> {
        subtopology_id: &'a str [1..],
        nodes: Vec<TopologyDescriptionNode<'a>> [1..],
    }

    /// A node.
    pub struct TopologyDescriptionNode<'a> {
        name: &'a str [1..],
        /// 1: a source, 2: a processor, 3: a sink.
        node_type: i8 [1..],
        source_topics: Vec<&'a str> [1..],
        sink_topic: Option<&'a str> [1..] nullable [1..],
        stores: Vec<&'a str> [1..],
        successors: Vec<&'a str> [1..],
    }

    /// A store that every instance has whole.
    pub struct TopologyDescriptionGlobalStore<'a> {
        source: TopologyDescriptionNode<'a> [1..],
        processor: TopologyDescriptionNode<'a> [1..],
    }
}
