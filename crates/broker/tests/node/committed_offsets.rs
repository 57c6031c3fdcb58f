//! OffsetCommit, OffsetFetch, OffsetDelete.

use milepost_model::TopicId;
use milepost_storage::Pace;
use milepost_wire::messages::delete_topics::DeleteTopicsRequest;
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::messages::offset_delete::{
    OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic, OffsetDeleteResponse,
};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
    OffsetFetchResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, all_versions};
use crate::members::{AT_ONCE, heartbeat, join, join_alone};

fn offset<'a>(partition_index: i32, committed_offset: i64) -> OffsetCommitRequestPartition<'a> {
    OffsetCommitRequestPartition {
        partition_index,
        committed_offset,
        committed_metadata: Some(""),
        ..OffsetCommitRequestPartition::default()
    }
}

fn commit<'a>(
    group_id: &'a str,
    topic: &'a str,
    partitions: Vec<OffsetCommitRequestPartition<'a>>,
) -> OffsetCommitRequest<'a> {
    let topics =
        vec![OffsetCommitRequestTopic { name: topic, partitions, ..OffsetCommitRequestTopic::default() }];
    OffsetCommitRequest { group_id, topics, ..OffsetCommitRequest::default() }
}

fn by_member<'a>(
    request: OffsetCommitRequest<'a>,
    member_id: &'a str,
    generation: i32,
) -> OffsetCommitRequest<'a> {
    OffsetCommitRequest { member_id, generation_id_or_member_epoch: generation, ..request }
}

/// The codes of a commit, partition by partition.
fn codes(broker: &mut Broker, version: i16, request: &OffsetCommitRequest<'_>) -> Vec<ErrorCode> {
    let frame = broker.ask(version, request);
    let response: OffsetCommitResponse<'_> = frame.read();
    response.topics.iter().flat_map(|topic| &topic.partitions).map(|p| p.error_code).collect()
}

/// What a group has committed for the first partitions of a topic; −1 is what the wire says for nothing.
fn committed(broker: &mut Broker, group_id: &str, topic: &str, partitions: i32) -> Vec<i64> {
    let topics = vec![OffsetFetchRequestTopic { name: topic, partition_indexes: (0..partitions).collect() }];
    let request = OffsetFetchRequest { group_id, topics: Some(topics), ..OffsetFetchRequest::default() };
    let frame = broker.ask(5, &request);
    let response: OffsetFetchResponse<'_> = frame.read();
    assert_eq!(response.error_code, ErrorCode::None);
    let found = &response.topics[0].partitions;
    found
        .iter()
        .map(|p| {
            assert_eq!(p.error_code, ErrorCode::None);
            p.committed_offset
        })
        .collect()
}

fn with_topic() -> (Broker, TopicId) {
    let mut broker = Broker::start(&[AT_ONCE]);
    let id = broker.create_topic("t", 3);
    (broker, id)
}

#[test]
fn an_offset_is_committed_and_fetched_in_every_version() {
    let (mut broker, id) = with_topic();
    for version in all_versions(ApiKey::OffsetCommit) {
        let group = format!("group-{version}");
        let mut request = commit(&group, "t", vec![offset(0, 100 + i64::from(version)), offset(2, 0)]);
        request.topics[0].topic_id = id;
        request.topics[0].partitions[0].committed_leader_epoch = 3;
        request.topics[0].partitions[0].committed_metadata = Some("why");
        let frame = broker.ask(version, &request);
        let response: OffsetCommitResponse<'_> = frame.read();
        assert_eq!(response.topics[0].name, if version < 10 { "t" } else { "" });
        assert_eq!(response.topics[0].topic_id, if version < 10 { TopicId::ZERO } else { id });
        let codes: Vec<_> =
            response.topics[0].partitions.iter().map(|p| (p.partition_index, p.error_code)).collect();
        assert_eq!(codes, [(0, ErrorCode::None), (2, ErrorCode::None)]);
        // Never committed, committed 0 and committed something else are three different answers.
        assert_eq!(committed(&mut broker, &group, "t", 3), [100 + i64::from(version), -1, 0]);
    }
    for version in all_versions(ApiKey::OffsetFetch) {
        let partition_indexes = vec![0, 1];
        let request = if version < 8 {
            let topics = vec![OffsetFetchRequestTopic { name: "t", partition_indexes }];
            OffsetFetchRequest { group_id: "group-6", topics: Some(topics), ..OffsetFetchRequest::default() }
        } else {
            let topics = vec![OffsetFetchRequestTopics { name: "t", topic_id: id, partition_indexes }];
            let group = OffsetFetchRequestGroup {
                group_id: "group-6",
                topics: Some(topics),
                ..OffsetFetchRequestGroup::default()
            };
            OffsetFetchRequest { groups: vec![group], ..OffsetFetchRequest::default() }
        };
        let frame = broker.ask(version, &request);
        let response: OffsetFetchResponse<'_> = frame.read();
        let found: Vec<_> = if version < 8 {
            let partitions = &response.topics[0].partitions;
            partitions.iter().map(|p| (p.committed_offset, p.committed_leader_epoch, p.metadata)).collect()
        } else {
            assert_eq!(response.groups[0].error_code, ErrorCode::None);
            let partitions = &response.groups[0].topics[0].partitions;
            partitions.iter().map(|p| (p.committed_offset, p.committed_leader_epoch, p.metadata)).collect()
        };
        let epoch = if version < 5 { -1 } else { 3 };
        assert_eq!(found, [(106, epoch, Some("why")), (-1, -1, Some(""))], "version {version}");
    }
}

#[test]
fn a_commit_is_answered_when_the_disk_has_it_and_not_seen_before() {
    let (mut broker, _) = with_topic();
    codes(&mut broker, 8, &commit("g", "t", vec![offset(0, 1)]));
    broker.disk.set_pace(Pace::Held);
    let (writer, reader) = (broker.connect(), broker.connect());
    broker.send(writer, 8, &commit("g", "t", vec![offset(0, 2)]));
    broker.settle();
    assert!(broker.answer(writer).is_none());
    let topics = vec![OffsetFetchRequestTopic { name: "t", partition_indexes: vec![0] }];
    let fetch = OffsetFetchRequest { group_id: "g", topics: Some(topics), ..OffsetFetchRequest::default() };
    broker.send(reader, 5, &fetch);
    broker.settle();
    assert!(broker.answer(reader).is_none(), "what it would say is not durable yet");
    broker.disk.complete();
    broker.settle();
    assert!(broker.answer(writer).is_some());
    let frame = broker.answer(reader).expect("now it is");
    assert_eq!(frame.read::<OffsetFetchResponse<'_>>().topics[0].partitions[0].committed_offset, 2);
}

#[test]
fn the_later_of_two_commits_in_flight_stands() {
    let (mut broker, _) = with_topic();
    let client = broker.main();
    for position in [100, 110] {
        broker.send(client, 8, &commit("g", "t", vec![offset(0, position)]));
    }
    broker.settle();
    assert!(broker.answer(client).is_some() && broker.answer(client).is_some());
    assert_eq!(committed(&mut broker, "g", "t", 1), [110]);
}

#[test]
fn unknown_topics_and_partitions_are_refused_one_by_one() {
    let (mut broker, id) = with_topic();
    let unknown = ErrorCode::UnknownTopicOrPartition;
    let mut request = commit("g", "t", vec![offset(0, 1), offset(3, 1), offset(1, 2), offset(-1, 1)]);
    let none = commit("g", "none", vec![offset(0, 1)]);
    request.topics.insert(0, none.topics[0].clone());
    let found = codes(&mut broker, 8, &request);
    assert_eq!(found, [unknown, ErrorCode::None, unknown, ErrorCode::None, unknown]);
    assert_eq!(committed(&mut broker, "g", "t", 3), [1, 2, -1]);
    assert_eq!(committed(&mut broker, "g", "none", 1), [-1]);
    // If nothing is left the coordinator is not asked, so nobody says that there is no such generation.
    assert_eq!(codes(&mut broker, 8, &by_member(none, "m", 7)), [unknown]);
    let mut by_id = commit("g", "", vec![offset(0, 5)]);
    by_id.topics[0].topic_id = TopicId([8; 16]);
    assert_eq!(codes(&mut broker, 10, &by_id), [ErrorCode::UnknownTopicId]);
    by_id.topics[0].topic_id = id;
    assert_eq!(codes(&mut broker, 10, &by_id), [ErrorCode::None]);
}

#[test]
fn metadata_has_a_bound_in_utf_16_units() {
    let (mut broker, _) = with_topic();
    let (long, fits, wide) = ("x".repeat(5000), "x".repeat(4096), "é".repeat(4096));
    let with = |partition, metadata| OffsetCommitRequestPartition {
        committed_metadata: Some(metadata),
        ..offset(partition, 9)
    };
    let request = commit("g", "t", vec![with(0, &long), with(1, &fits), with(2, &wide)]);
    let found = codes(&mut broker, 8, &request);
    assert_eq!(found, [ErrorCode::OffsetMetadataTooLarge, ErrorCode::None, ErrorCode::None]);
    assert_eq!(committed(&mut broker, "g", "t", 3), [-1, 9, 9]);
    let null = OffsetCommitRequestPartition { committed_metadata: None, ..offset(0, 4) };
    assert_eq!(codes(&mut broker, 8, &commit("g", "t", vec![null])), [ErrorCode::None]);
}

#[test]
fn who_may_commit_in_a_live_group() {
    let (mut broker, _) = with_topic();
    let member = join_alone(&mut broker, "g");
    let request = || commit("g", "t", vec![offset(0, 1), offset(1, 1)]);
    let refused = [
        (request(), ErrorCode::UnknownMemberId),
        (by_member(request(), &member, -1), ErrorCode::IllegalGeneration),
        (by_member(request(), &member, 0), ErrorCode::IllegalGeneration),
        (by_member(request(), &member, 2), ErrorCode::IllegalGeneration),
        (by_member(request(), "nobody", 1), ErrorCode::UnknownMemberId),
        (by_member(request(), "", 1), ErrorCode::UnknownMemberId),
        (
            OffsetCommitRequest { group_instance_id: Some("i"), ..by_member(request(), &member, 1) },
            ErrorCode::UnknownMemberId,
        ),
    ];
    for (request, expected) in refused {
        assert_eq!(codes(&mut broker, 8, &request), [expected; 2], "{request:?}");
        assert_eq!(committed(&mut broker, "g", "t", 3), [-1, -1, -1], "nothing is stored");
    }
    assert_eq!(codes(&mut broker, 8, &by_member(request(), &member, 1)), [ErrorCode::None; 2]);
    assert_eq!(committed(&mut broker, "g", "t", 3), [1, 1, -1]);
}

#[test]
fn a_commit_between_join_and_sync_is_refused() {
    let (mut broker, _) = with_topic();
    let member = join_alone(&mut broker, "g");
    // The leader joins again: generation 2, not synced yet.
    broker.ask(5, &join("g", &member));
    let request = by_member(commit("g", "t", vec![offset(0, 1)]), &member, 2);
    assert_eq!(codes(&mut broker, 8, &request), [ErrorCode::RebalanceInProgress]);
    let former = by_member(commit("g", "t", vec![offset(0, 1)]), &member, 1);
    assert_eq!(codes(&mut broker, 8, &former), [ErrorCode::IllegalGeneration]);
    assert_eq!(committed(&mut broker, "g", "t", 1), [-1]);
}

#[test]
fn a_group_that_does_not_exist_is_made_by_an_outsider_only() {
    let (mut broker, _) = with_topic();
    let request = || by_member(commit("new", "t", vec![offset(0, 1)]), "m", 0);
    assert_eq!(codes(&mut broker, 8, &request()), [ErrorCode::IllegalGeneration]);
    assert_eq!(codes(&mut broker, 9, &request()), [ErrorCode::GroupIdNotFound]);
    assert_eq!(committed(&mut broker, "new", "t", 1), [-1]);
    assert_eq!(codes(&mut broker, 9, &by_member(request(), "m", -1)), [ErrorCode::None]);
    assert_eq!(
        codes(&mut broker, 9, &commit("", "t", vec![offset(0, 3)])),
        [ErrorCode::None],
        "\"\" is a name"
    );
    assert_eq!(committed(&mut broker, "", "t", 1), [3]);
}

#[test]
fn a_commit_keeps_a_session_alive() {
    let (mut broker, _) = with_topic();
    let member = join_alone(&mut broker, "g");
    broker.pass_ms(9_000);
    codes(&mut broker, 8, &by_member(commit("g", "t", vec![offset(0, 1)]), &member, 1));
    broker.pass_ms(9_000);
    assert_eq!(heartbeat(&mut broker, "g", &member, 1), ErrorCode::None);
}

#[test]
fn several_groups_and_everything_of_a_group() {
    let (mut broker, id) = with_topic();
    broker.create_topic("u", 1);
    codes(&mut broker, 8, &commit("a", "t", vec![offset(2, 5), offset(0, 4)]));
    codes(&mut broker, 8, &commit("a", "u", vec![offset(0, 6)]));
    codes(&mut broker, 8, &commit("b", "t", vec![offset(1, 7)]));
    let all =
        |group_id| OffsetFetchRequestGroup { group_id, topics: None, ..OffsetFetchRequestGroup::default() };
    let named = OffsetFetchRequestGroup {
        group_id: "b",
        topics: Some(vec![OffsetFetchRequestTopics {
            name: "t",
            topic_id: id,
            partition_indexes: vec![0, 1],
        }]),
        ..OffsetFetchRequestGroup::default()
    };
    for version in 8..=10 {
        let groups = vec![all("a"), named.clone(), all("missing")];
        let frame = broker.ask(version, &OffsetFetchRequest { groups, ..OffsetFetchRequest::default() });
        let response: OffsetFetchResponse<'_> = frame.read();
        let found: Vec<_> = response
            .groups
            .iter()
            .map(|group| {
                assert_eq!(group.error_code, ErrorCode::None);
                let offsets = group.topics.iter().flat_map(|topic| &topic.partitions);
                let offsets: Vec<_> = offsets.map(|p| (p.partition_index, p.committed_offset)).collect();
                (group.group_id, offsets)
            })
            .collect();
        let expected =
            [("a", vec![(0, 4), (2, 5), (0, 6)]), ("b", vec![(0, -1), (1, 7)]), ("missing", vec![])];
        assert_eq!(found, expected, "version {version}");
    }
    // One group and all topics, as versions 2 to 7 ask for it.
    let everything = OffsetFetchRequest { group_id: "a", topics: None, ..OffsetFetchRequest::default() };
    for version in 2..=7 {
        let frame = broker.ask(version, &everything);
        let response: OffsetFetchResponse<'_> = frame.read();
        assert_eq!(response.topics.iter().map(|topic| topic.name).collect::<Vec<_>>(), ["t", "u"]);
    }
}

#[test]
fn an_unknown_id_is_an_error_and_an_unknown_name_is_not() {
    let (mut broker, _) = with_topic();
    codes(&mut broker, 8, &commit("g", "t", vec![offset(0, 5)]));
    let ask = |name, topic_id| {
        let topics = vec![OffsetFetchRequestTopics { name, topic_id, partition_indexes: vec![0] }];
        let group = OffsetFetchRequestGroup {
            group_id: "g",
            topics: Some(topics),
            ..OffsetFetchRequestGroup::default()
        };
        OffsetFetchRequest { groups: vec![group], ..OffsetFetchRequest::default() }
    };
    for (version, request, expected) in [
        (10, ask("", TopicId([4; 16])), ErrorCode::UnknownTopicId),
        (9, ask("none", TopicId::ZERO), ErrorCode::None),
    ] {
        let frame = broker.ask(version, &request);
        let response: OffsetFetchResponse<'_> = frame.read();
        let partition = &response.groups[0].topics[0].partitions[0];
        assert_eq!((partition.error_code, partition.committed_offset), (expected, -1));
    }
}

#[test]
fn offsets_of_a_deleted_topic_are_gone() {
    let (mut broker, _) = with_topic();
    broker.create_topic("kept", 1);
    codes(&mut broker, 8, &commit("g", "t", vec![offset(0, 5)]));
    codes(&mut broker, 8, &commit("g", "kept", vec![offset(0, 6)]));
    broker.ask(5, &DeleteTopicsRequest { topic_names: vec!["t"], ..DeleteTopicsRequest::default() });
    assert_eq!(committed(&mut broker, "g", "t", 1), [-1]);
    broker.create_topic("t", 1);
    broker.crash();
    assert_eq!(committed(&mut broker, "g", "t", 1), [-1]);
    assert_eq!(committed(&mut broker, "g", "kept", 1), [6]);
}

fn delete<'a>(group_id: &'a str, topic: &'a str, partitions: &[i32]) -> OffsetDeleteRequest<'a> {
    let partitions =
        partitions.iter().map(|index| OffsetDeleteRequestPartition { partition_index: *index }).collect();
    let topics = vec![OffsetDeleteRequestTopic { name: topic, partitions }];
    OffsetDeleteRequest { group_id, topics }
}

#[test]
fn offsets_are_deleted_one_by_one() {
    let (mut broker, _) = with_topic();
    codes(&mut broker, 8, &commit("g", "t", vec![offset(0, 5), offset(1, 6)]));
    let mut ask = |request: &OffsetDeleteRequest<'_>| -> (ErrorCode, Vec<ErrorCode>) {
        let frame = broker.ask(0, request);
        let response: OffsetDeleteResponse<'_> = frame.read();
        let codes = response.topics.iter().flat_map(|topic| &topic.partitions).map(|p| p.error_code);
        (response.error_code, codes.collect())
    };
    let (good, unknown) = (ErrorCode::None, ErrorCode::UnknownTopicOrPartition);
    // Partition 2 has no offset: deleting it is no error.
    assert_eq!(ask(&delete("g", "t", &[0, 2, 9])), (good, vec![good, good, unknown]));
    assert_eq!(ask(&delete("g", "none", &[0])), (good, vec![unknown]));
    assert_eq!(ask(&delete("missing", "t", &[0])), (ErrorCode::GroupIdNotFound, vec![]));
    // Nothing is left to ask the coordinator about, so nobody says that there is no such group.
    assert_eq!(ask(&delete("missing", "none", &[0])), (good, vec![unknown]));
    assert_eq!(ask(&delete("", "t", &[0])), (ErrorCode::InvalidGroupId, vec![]));
    assert_eq!(committed(&mut broker, "g", "t", 3), [-1, 6, -1]);
    broker.crash();
    assert_eq!(committed(&mut broker, "g", "t", 3), [-1, 6, -1]);
}

#[test]
fn offsets_of_a_topic_that_members_read_are_not_deleted() {
    let (mut broker, _) = with_topic();
    let member = join_alone(&mut broker, "g");
    codes(&mut broker, 8, &by_member(commit("g", "t", vec![offset(0, 5)]), &member, 1));
    let frame = broker.ask(0, &delete("g", "t", &[0]));
    let response: OffsetDeleteResponse<'_> = frame.read();
    // Its subscription cannot be read, so it may be to any topic.
    assert_eq!(response.topics[0].partitions[0].error_code, ErrorCode::GroupSubscribedToTopic);
    assert_eq!(committed(&mut broker, "g", "t", 1), [5]);
}
