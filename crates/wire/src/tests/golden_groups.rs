//! Frames about share and streams groups in the versions that no other implementation at hand knows, made by Kafka 4.4's
//! own classes.

use milepost_model::TopicId;

use super::golden::{assert_body, bytes};
use crate::messages::describe_share_group_offsets::*;
use crate::messages::streams_group_describe::*;

const TOPIC: TopicId = TopicId([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

#[test]
fn describe_share_group_offsets_1() {
    let group = DescribeShareGroupOffsetsRequestGroup { group_id: "g", topics: None };
    let request = DescribeShareGroupOffsetsRequest { groups: vec![group] };
    assert_body(&request, 1, &bytes("02 | 02 67 | 00 | 00 | 00"));

    let partition = DescribeShareGroupOffsetsResponsePartition {
        partition_index: 3,
        start_offset: 42,
        leader_epoch: 7,
        lag: 5,
        ..Default::default()
    };
    let topic = DescribeShareGroupOffsetsResponseTopic {
        topic_name: "t",
        topic_id: TOPIC,
        partitions: vec![partition],
    };
    let group =
        DescribeShareGroupOffsetsResponseGroup { group_id: "g", topics: vec![topic], ..Default::default() };
    let response = DescribeShareGroupOffsetsResponse { groups: vec![group], ..Default::default() };
    let body = bytes(
        "00 00 00 00 | 02 02 67 | 02 02 74 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f
         02 00 00 00 03 00 00 00 00 00 00 00 2a 00 00 00 07 00 00 00 00 00 00 00 05 00 00 00 00 | 00 | 00 00 00 00 00",
    );
    assert_body(&response, 1, &body);
}

#[test]
fn streams_group_describe_1() {
    let request = StreamsGroupDescribeRequest {
        group_ids: vec!["g"],
        include_topology_description: true,
        ..Default::default()
    };
    assert_body(&request, 1, &bytes("02 | 02 67 | 00 | 01 | 00"));

    let request = StreamsGroupDescribeRequest { group_ids: vec!["g"], ..Default::default() };
    assert_body(&request, 0, &bytes("02 | 02 67 | 00 | 00"));

    let group = DescribedStreamsGroup {
        group_id: "g",
        group_state: "Stable",
        group_epoch: 4,
        assignment_epoch: 3,
        topology: Some(topology()),
        members: vec![member()],
        topology_description: Some(description()),
        topology_description_status: 3,
        assignor_name: Some("sticky"),
        ..Default::default()
    };
    let response = StreamsGroupDescribeResponse { groups: vec![group], ..Default::default() };
    let body = bytes(
        "00 00 00 00 | 02 | 00 00 | 00 | 02 67 | 07 53 74 61 62 6c 65 | 00 00 00 04 | 00 00 00 03
         01 00 00 00 00 | 02 02 30 | 02 02 74 | 01 | 02 02 63 00 00 00 00 00 01 02 02 6b 02 76 00 00 | 01 | 00 | 00
         02 | 02 6d | 00 00 00 04 | 00 | 00 | 02 63 | 03 2f 68 | 00 00 00 00 | 02 70 | 01 02 75 9c 40 00 | 01
         02 02 30 00 00 00 01 00 00 00 00 00 00 00 09 00 | 01 | 02 02 30 03 00 00 00 00 00 00 00 01 00 01 01 00
         01 01 01 00 | 00 | 00 | 80 00 00 00 | 01 02 02 30 02 02 6e 03 01 02 6f 02 02 73 02 02 78 00 00
         02 02 6d 01 02 02 74 00 01 01 00 02 6e 03 01 02 6f 02 02 73 02 02 78 00 00 00 | 03 | 07 73 74 69 63 6b 79 | 00 | 00",
    );
    assert_body(&response, 1, &body);
}

fn topology() -> StreamsTopology<'static> {
    let changelog = StreamsTopicInfo {
        name: "c",
        replication_factor: 1,
        topic_configs: vec![StreamsKeyValue { key: "k", value: "v" }],
        ..Default::default()
    };
    let subtopology = StreamsSubtopology {
        subtopology_id: "0",
        source_topics: vec!["t"],
        state_changelog_topics: vec![changelog],
        ..Default::default()
    };
    StreamsTopology { epoch: 0, subtopologies: Some(vec![subtopology]) }
}

fn member() -> DescribedStreamsGroupMember<'static> {
    let tasks = StreamsTaskIds { subtopology_id: "0", partitions: vec![0, 1] };
    DescribedStreamsGroupMember {
        member_id: "m",
        member_epoch: 4,
        client_id: "c",
        client_host: "/h",
        process_id: "p",
        user_endpoint: Some(StreamsEndpoint { host: "u", port: 40_000 }),
        task_offsets: vec![StreamsTaskOffset { subtopology_id: "0", partition: 1, offset: 9 }],
        assignment: StreamsAssignment { active_tasks: vec![tasks], ..Default::default() },
        ..Default::default()
    }
}

fn description() -> TopologyDescription<'static> {
    let sink = TopologyDescriptionNode {
        name: "n",
        node_type: 3,
        sink_topic: Some("o"),
        stores: vec!["s"],
        successors: vec!["x"],
        ..Default::default()
    };
    let source =
        TopologyDescriptionNode { name: "m", node_type: 1, source_topics: vec!["t"], ..Default::default() };
    TopologyDescription {
        subtopologies: vec![TopologyDescriptionSubtopology {
            subtopology_id: "0",
            nodes: vec![sink.clone()],
        }],
        global_stores: vec![TopologyDescriptionGlobalStore { source, processor: sink }],
    }
}
