//! ConsumerGroupHeartbeat, ConsumerGroupDescribe, and offsets and listings of consumer groups (KIP-848).

use milepost_model::TopicId;
use milepost_wire::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use milepost_wire::messages::consumer_group_describe::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse,
};
use milepost_wire::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, ConsumerGroupHeartbeatTopicPartitions,
};
use milepost_wire::messages::list_groups::{ListGroupsRequest, ListGroupsResponse};
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics, OffsetFetchResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, all_versions};

fn joining<'a>(group_id: &'a str, member_id: &'a str, topic: &'a str) -> ConsumerGroupHeartbeatRequest<'a> {
    ConsumerGroupHeartbeatRequest {
        group_id,
        member_id,
        rebalance_timeout_ms: 60_000,
        subscribed_topic_names: Some(vec![topic]),
        topic_partitions: Some(Vec::new()),
        ..ConsumerGroupHeartbeatRequest::default()
    }
}

fn staying<'a>(
    group_id: &'a str,
    member_id: &'a str,
    member_epoch: i32,
) -> ConsumerGroupHeartbeatRequest<'a> {
    ConsumerGroupHeartbeatRequest {
        group_id,
        member_id,
        member_epoch,
        ..ConsumerGroupHeartbeatRequest::default()
    }
}

/// The code, the epoch, and the number of partitions of the answer's assignment.
fn beat(
    broker: &mut Broker,
    version: i16,
    request: &ConsumerGroupHeartbeatRequest<'_>,
) -> (ErrorCode, i32, Option<usize>) {
    let frame = broker.ask(version, request);
    let response: ConsumerGroupHeartbeatResponse<'_> = frame.read();
    assert_eq!(response.error_message.is_some(), response.error_code.is_error());
    let count = |topics: &[ConsumerGroupHeartbeatTopicPartitions]| -> usize {
        topics.iter().map(|topic| topic.partitions.len()).sum()
    };
    let partitions = response.assignment.as_ref().map(|assignment| count(&assignment.topic_partitions));
    (response.error_code, response.member_epoch, partitions)
}

fn commit(broker: &mut Broker, version: i16, topic: (&str, TopicId), member: &str, epoch: i32) -> ErrorCode {
    let partitions = vec![OffsetCommitRequestPartition {
        partition_index: 0,
        committed_offset: 5,
        committed_metadata: Some(""),
        ..OffsetCommitRequestPartition::default()
    }];
    let (name, topic_id) = topic;
    let topic = if version >= 10 {
        OffsetCommitRequestTopic { topic_id, partitions, ..OffsetCommitRequestTopic::default() }
    } else {
        OffsetCommitRequestTopic { name, partitions, ..OffsetCommitRequestTopic::default() }
    };
    let request = OffsetCommitRequest {
        group_id: "g",
        member_id: member,
        generation_id_or_member_epoch: epoch,
        topics: vec![topic],
        ..OffsetCommitRequest::default()
    };
    let frame = broker.ask(version, &request);
    frame.read::<OffsetCommitResponse<'_>>().topics[0].partitions[0].error_code
}

fn fetch(broker: &mut Broker, topic: &str, member_id: Option<&str>, member_epoch: i32) -> (ErrorCode, i64) {
    let topics = vec![OffsetFetchRequestTopics {
        name: topic,
        partition_indexes: vec![0],
        ..OffsetFetchRequestTopics::default()
    }];
    let group = OffsetFetchRequestGroup { group_id: "g", member_id, member_epoch, topics: Some(topics) };
    let frame = broker.ask(9, &OffsetFetchRequest { groups: vec![group], ..OffsetFetchRequest::default() });
    let response: OffsetFetchResponse<'_> = frame.read();
    let group = &response.groups[0];
    (group.error_code, group.topics.first().map_or(-2, |topic| topic.partitions[0].committed_offset))
}

#[test]
fn a_member_lives_through_every_version() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("orders", 4);
    for version in all_versions(ApiKey::ConsumerGroupHeartbeat) {
        let group = format!("group-{version}");
        let frame = broker.ask(version, &joining(&group, if version == 0 { "" } else { "me" }, "orders"));
        let response: ConsumerGroupHeartbeatResponse<'_> = frame.read();
        let member = response.member_id.expect("a member id").to_owned();
        assert!(version > 0 || member.len() == 22, "{member}");
        assert_eq!((response.error_code, response.member_epoch), (ErrorCode::None, 2));
        assert_eq!(response.heartbeat_interval_ms, 5_000);
        let topics = response.assignment.expect("an assignment").topic_partitions;
        assert_eq!(topics[0].partitions, [0, 1, 2, 3]);

        assert_eq!(beat(&mut broker, version, &staying(&group, &member, 2)), (ErrorCode::None, 2, None));
        let stranger = beat(&mut broker, version, &staying(&group, &member, 3));
        assert_eq!(stranger, (ErrorCode::FencedMemberEpoch, 0, None));
        assert_eq!(beat(&mut broker, version, &staying(&group, &member, -1)), (ErrorCode::None, -1, None));
        let gone = beat(&mut broker, version, &staying(&group, &member, 2));
        assert_eq!(gone, (ErrorCode::UnknownMemberId, 0, None));
    }
}

#[test]
fn what_a_heartbeat_lacks_is_an_invalid_request() {
    let mut broker = Broker::start(&[]);
    let id = joining("g", "", "orders");
    assert_eq!(beat(&mut broker, 1, &id).0, ErrorCode::InvalidRequest);
    assert_eq!(beat(&mut broker, 1, &staying("g", "m", -3)).0, ErrorCode::InvalidRequest);
    assert_eq!(beat(&mut broker, 1, &staying("g", "m", -2)).0, ErrorCode::InvalidRequest);
    let bad =
        ConsumerGroupHeartbeatRequest { server_assignor: Some("sticky"), ..joining("g", "m", "orders") };
    assert_eq!(beat(&mut broker, 1, &bad).0, ErrorCode::UnsupportedAssignor);
    let bad =
        ConsumerGroupHeartbeatRequest { subscribed_topic_regex: Some("("), ..joining("g", "m", "orders") };
    assert_eq!(beat(&mut broker, 1, &bad).0, ErrorCode::InvalidRegularExpression);
    assert_eq!(beat(&mut broker, 1, &staying("g", "m", 1)).0, ErrorCode::GroupIdNotFound);
}

#[test]
fn offsets_are_committed_and_fetched_in_the_epoch_of_the_member() {
    let mut broker = Broker::start(&[]);
    let topic = ("orders", broker.create_topic("orders", 1));
    assert_eq!(beat(&mut broker, 1, &joining("g", "m", "orders")), (ErrorCode::None, 2, Some(1)));
    assert_eq!(commit(&mut broker, 8, topic, "m", 2), ErrorCode::UnsupportedVersion);
    for version in [9, 10] {
        assert_eq!(commit(&mut broker, version, topic, "m", 3), ErrorCode::StaleMemberEpoch);
        assert_eq!(commit(&mut broker, version, topic, "m", 1), ErrorCode::StaleMemberEpoch);
        assert_eq!(commit(&mut broker, version, topic, "x", 2), ErrorCode::UnknownMemberId);
        assert_eq!(commit(&mut broker, version, topic, "m", 2), ErrorCode::None);
    }
    assert_eq!(fetch(&mut broker, "orders", Some("m"), 2), (ErrorCode::None, 5));
    assert_eq!(fetch(&mut broker, "orders", None, -1), (ErrorCode::None, 5));
    assert_eq!(fetch(&mut broker, "orders", Some("m"), 1), (ErrorCode::StaleMemberEpoch, -2));
    assert_eq!(fetch(&mut broker, "orders", Some("x"), 2), (ErrorCode::UnknownMemberId, -2));

    // All of it survives a crash, the member too.
    broker.crash();
    assert_eq!(fetch(&mut broker, "orders", Some("m"), 2), (ErrorCode::None, 5));
    assert_eq!(beat(&mut broker, 1, &staying("g", "m", 2)), (ErrorCode::None, 2, None));
}

#[test]
fn groups_are_described_with_the_names_of_their_topics() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("orders", 2);
    let pattern = ConsumerGroupHeartbeatRequest {
        subscribed_topic_names: None,
        subscribed_topic_regex: Some("ord.*"),
        instance_id: Some("one"),
        ..joining("g", "m", "")
    };
    assert_eq!(beat(&mut broker, 1, &pattern), (ErrorCode::None, 1, Some(0)));
    // The expression has been looked up by now.
    assert_eq!(
        beat(
            &mut broker,
            1,
            &ConsumerGroupHeartbeatRequest { instance_id: Some("one"), ..staying("g", "m", 1) }
        ),
        (ErrorCode::None, 2, Some(2))
    );
    for version in all_versions(ApiKey::ConsumerGroupDescribe) {
        let request = ConsumerGroupDescribeRequest {
            group_ids: vec!["g", "missing", "", "g"],
            include_authorized_operations: true,
        };
        let frame = broker.ask(version, &request);
        let response: ConsumerGroupDescribeResponse<'_> = frame.read();
        let [group, missing, empty] = &response.groups[..] else { panic!("{response:?}") };
        assert_eq!(
            (missing.error_code, empty.error_code),
            (ErrorCode::GroupIdNotFound, ErrorCode::InvalidGroupId)
        );
        assert_eq!((group.group_state, group.group_epoch, group.assignment_epoch), ("Stable", 2, 2));
        assert_eq!(group.assignor_name, "uniform");
        assert_ne!(group.authorized_operations, i32::MIN);
        let member = &group.members[0];
        assert_eq!((member.member_id, member.instance_id, member.member_epoch), ("m", Some("one"), 2));
        assert_eq!(member.subscribed_topic_regex, Some("ord.*"));
        assert_eq!(member.member_type, if version >= 1 { 1 } else { -1 });
        for assignment in [&member.assignment, &member.target_assignment] {
            assert_eq!(assignment.topic_partitions[0].topic_name, "orders");
            assert_eq!(assignment.topic_partitions[0].partitions, [0, 1]);
        }
    }
    let request = ListGroupsRequest { types_filter: vec!["Consumer"], ..ListGroupsRequest::default() };
    let frame = broker.ask(5, &request);
    let response: ListGroupsResponse<'_> = frame.read();
    let listed = response.groups.iter().map(|group| (group.group_id, group.group_type, group.protocol_type));
    assert_eq!(listed.collect::<Vec<_>>(), [("g", "consumer", "consumer")]);
}

#[test]
fn a_new_topic_is_assigned_at_the_next_heartbeat() {
    let mut broker = Broker::start(&["group.consumer.assignment.interval.ms=0"]);
    assert_eq!(beat(&mut broker, 1, &joining("g", "m", "later")), (ErrorCode::None, 2, Some(0)));
    broker.create_topic("later", 3);
    assert_eq!(beat(&mut broker, 1, &staying("g", "m", 2)), (ErrorCode::None, 3, Some(3)));
}

#[test]
fn features_are_told_as_kafka_tells_them() {
    let mut broker = Broker::start(&[]);
    for version in 3..=5 {
        let request = ApiVersionsRequest {
            client_software_name: "test",
            client_software_version: "1",
            ..ApiVersionsRequest::default()
        };
        let frame = broker.ask(version, &request);
        let response: ApiVersionsResponse<'_> = frame.read();
        let finalized: Vec<_> = response
            .finalized_features
            .iter()
            .map(|f| (f.name, f.min_version_level, f.max_version_level))
            .collect();
        assert_eq!(finalized, [("group.version", 1, 1), ("transaction.version", 2, 2)]);
        // KAFKA-17492: older clients cannot read a level 0.
        let supported: Vec<_> =
            response.supported_features.iter().map(|f| (f.name, f.min_version, f.max_version)).collect();
        let all = [("group.version", 0, 1), ("transaction.version", 0, 2)];
        assert_eq!(supported, if version >= 4 { &all[..] } else { &[] });
    }
}
