//! What the group APIs answer while coordinators load, while the disk keeps them waiting, and when it is full.

use milepost_storage::{Pace, Space};
use milepost_wire::ErrorCode;
use milepost_wire::messages::consumer_group_describe::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse,
};
use milepost_wire::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
};
use milepost_wire::messages::delete_groups::{DeleteGroupsRequest, DeleteGroupsResponse};
use milepost_wire::messages::describe_groups::{DescribeGroupsRequest, DescribeGroupsResponse};
use milepost_wire::messages::heartbeat::{HeartbeatRequest, HeartbeatResponse};
use milepost_wire::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use milepost_wire::messages::join_group::JoinGroupResponse;
use milepost_wire::messages::leave_group::{LeaveGroupRequest, LeaveGroupResponse, MemberIdentity};
use milepost_wire::messages::list_groups::{ListGroupsRequest, ListGroupsResponse};
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
use milepost_wire::messages::sync_group::SyncGroupResponse;

use crate::harness::Broker;
use crate::members::{AT_ONCE, join, join_alone, sync};

const LOADING: ErrorCode = ErrorCode::CoordinatorLoadInProgress;

fn commit(position: i64) -> OffsetCommitRequest<'static> {
    let partitions = vec![OffsetCommitRequestPartition { committed_offset: position, ..Default::default() }];
    let topics = vec![OffsetCommitRequestTopic { name: "t", partitions, ..Default::default() }];
    OffsetCommitRequest { group_id: "g", topics, ..OffsetCommitRequest::default() }
}

fn commit_code(broker: &mut Broker) -> ErrorCode {
    let client = broker.main();
    let frame = broker.answer(client).expect("an answer");
    frame.read::<OffsetCommitResponse<'_>>().topics[0].partitions[0].error_code
}

fn fetch() -> OffsetFetchRequest<'static> {
    let topics = vec![OffsetFetchRequestTopic { name: "t", partition_indexes: vec![0] }];
    OffsetFetchRequest { group_id: "g", topics: Some(topics), ..OffsetFetchRequest::default() }
}

fn fetch_in_groups() -> OffsetFetchRequest<'static> {
    let topics =
        vec![OffsetFetchRequestTopics { name: "t", partition_indexes: vec![0], ..Default::default() }];
    let group = OffsetFetchRequestGroup { group_id: "g", topics: Some(topics), ..Default::default() };
    OffsetFetchRequest { groups: vec![group], ..OffsetFetchRequest::default() }
}

/// A broker that was just started on a disk with a group of one member and an offset, its shards not loaded yet.
fn loading() -> (Broker, String) {
    let mut broker = Broker::start(&[AT_ONCE]);
    broker.create_topic("t", 1);
    broker.ask(8, &commit(5));
    let member = join_alone(&mut broker, "live");
    broker.restart_unloaded();
    (broker, member)
}

#[test]
fn members_are_told_to_try_again_while_their_coordinator_loads() {
    let (mut broker, member) = loading();
    let client = broker.main();
    let beat =
        HeartbeatRequest { group_id: "live", member_id: &member, generation_id: 1, ..Default::default() };
    broker.send(client, 3, &beat);
    broker.send(client, 5, &join("live", &member));
    broker.send(client, 5, &sync("live", &member, 1));
    let members = vec![MemberIdentity { member_id: &member, ..MemberIdentity::default() }];
    broker.send(client, 4, &LeaveGroupRequest { group_id: "live", members, ..Default::default() });
    broker.settle();
    let mut next = || broker.answer(client).expect("an answer");
    assert_eq!(next().read::<HeartbeatResponse>().error_code, ErrorCode::None, "nobody's session runs yet");
    assert_eq!(next().read::<JoinGroupResponse<'_>>().error_code, LOADING);
    assert_eq!(next().read::<SyncGroupResponse<'_>>().error_code, LOADING);
    assert_eq!(next().read::<LeaveGroupResponse<'_>>().error_code, LOADING);
    // Loaded, the group is as it was.
    assert_eq!(broker.ask(3, &beat).read::<HeartbeatResponse>().error_code, ErrorCode::None);
}

#[test]
fn members_of_consumer_groups_are_told_to_try_again_while_their_coordinator_loads() {
    let (mut broker, _) = loading();
    let client = broker.main();
    let beat = ConsumerGroupHeartbeatRequest {
        group_id: "modern",
        member_id: "m",
        member_epoch: 3,
        ..ConsumerGroupHeartbeatRequest::default()
    };
    for version in 0..=1 {
        broker.send(client, version, &beat);
        let group_ids = vec!["modern"];
        broker.send(client, version, &ConsumerGroupDescribeRequest { group_ids, ..Default::default() });
    }
    broker.settle();
    let mut next = || broker.answer(client).expect("an answer");
    for _ in 0..=1 {
        assert_eq!(next().read::<ConsumerGroupHeartbeatResponse<'_>>().error_code, LOADING);
        assert_eq!(next().read::<ConsumerGroupDescribeResponse<'_>>().groups[0].error_code, LOADING);
    }
    // Loaded, it is known that there is no such group.
    let frame = broker.ask(1, &beat);
    let code = frame.read::<ConsumerGroupHeartbeatResponse<'_>>().error_code;
    assert_eq!(code, ErrorCode::GroupIdNotFound);
}

#[test]
fn offsets_are_not_unknown_while_their_coordinator_loads() {
    let (mut broker, _) = loading();
    let client = broker.main();
    broker.send(client, 8, &commit(6));
    for version in [1, 2, 7] {
        broker.send(client, version, &fetch());
    }
    broker.send(client, 9, &fetch_in_groups());
    let partitions = vec![OffsetDeleteRequestPartition { partition_index: 0 }];
    let topics = vec![OffsetDeleteRequestTopic { name: "t", partitions }];
    broker.send(client, 0, &OffsetDeleteRequest { group_id: "g", topics });
    broker.settle();
    assert_eq!(commit_code(&mut broker), LOADING);
    let mut next = || broker.answer(client).expect("an answer");
    let frame = next();
    let oldest = frame.read::<OffsetFetchResponse<'_>>();
    let partition = &oldest.topics[0].partitions[0];
    assert_eq!(
        (partition.error_code, partition.committed_offset),
        (LOADING, -1),
        "version 1 has no other place"
    );
    for _ in [2, 7] {
        assert_eq!(next().read::<OffsetFetchResponse<'_>>().error_code, LOADING);
    }
    assert_eq!(next().read::<OffsetFetchResponse<'_>>().groups[0].error_code, LOADING);
    assert_eq!(next().read::<OffsetDeleteResponse<'_>>().error_code, LOADING);
    let frame = broker.ask(5, &fetch());
    let found = frame.read::<OffsetFetchResponse<'_>>().topics[0].partitions[0].committed_offset;
    assert_eq!(found, 5, "loaded, it is there, and what was refused was not stored");
}

#[test]
fn listings_are_whole_or_refused() {
    let (mut broker, _) = loading();
    let client = broker.main();
    broker.send(client, 5, &ListGroupsRequest::default());
    broker.send(client, 5, &DescribeGroupsRequest { groups: vec!["live"], ..Default::default() });
    broker.send(client, 2, &DeleteGroupsRequest { groups_names: vec!["g"] });
    broker.settle();
    let mut next = || broker.answer(client).expect("an answer");
    let frame = next();
    let listed = frame.read::<ListGroupsResponse<'_>>();
    assert_eq!((listed.error_code, listed.groups.len()), (LOADING, 0));
    let frame = next();
    let described = frame.read::<DescribeGroupsResponse<'_>>();
    assert_eq!((described.groups[0].error_code, described.groups[0].group_state), (LOADING, ""));
    assert_eq!(next().read::<DeleteGroupsResponse<'_>>().results[0].error_code, LOADING);
    let frame = broker.ask(5, &ListGroupsRequest::default());
    assert_eq!(frame.read::<ListGroupsResponse<'_>>().groups.len(), 2);
}

#[test]
fn who_waits_too_long_for_the_disk_is_told_to_try_again() {
    let mut broker = Broker::start(&["offsets.commit.timeout.ms=5000"]);
    broker.create_topic("t", 1);
    broker.ask(8, &commit(5));
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    broker.send(client, 8, &commit(6));
    broker.send(client, 5, &fetch());
    broker.pass_ms(4999);
    assert!(broker.answer(client).is_none());
    broker.pass_ms(1);
    assert_eq!(commit_code(&mut broker), ErrorCode::CoordinatorNotAvailable);
    let frame = broker.answer(client).expect("an answer");
    let code = frame.read::<OffsetFetchResponse<'_>>().error_code;
    assert_eq!(code, ErrorCode::NotCoordinator, "never a timeout, which old clients take for fatal");
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.settle();
    let frame = broker.ask(5, &fetch());
    let found = frame.read::<OffsetFetchResponse<'_>>().topics[0].partitions[0].committed_offset;
    assert_eq!(found, 6, "it landed all the same");
}

#[test]
fn a_full_disk_takes_no_new_members_and_no_producers() {
    let mut broker = Broker::start(&[AT_ONCE]);
    let member = join_alone(&mut broker, "live");
    broker.set_space(Space::Full);
    let frame = broker.ask(4, &InitProducerIdRequest::default());
    let code = frame.read::<InitProducerIdResponse>().error_code;
    assert_eq!(code, ErrorCode::CoordinatorNotAvailable);
    let frame = broker.ask(3, &join("new", ""));
    assert_eq!(frame.read::<JoinGroupResponse<'_>>().error_code, ErrorCode::CoordinatorNotAvailable);
    // A generation that cannot be written down ends in a refusal, and in the next one when there is room again.
    let frame = broker.ask(5, &join("live", &member));
    assert_eq!(frame.read::<JoinGroupResponse<'_>>().generation_id, 2);
    let frame = broker.ask(5, &sync("live", &member, 2));
    assert_eq!(frame.read::<SyncGroupResponse<'_>>().error_code, ErrorCode::CoordinatorNotAvailable);
    broker.set_space(Space::Ready);
    let frame = broker.ask(5, &join("live", &member));
    let generation = frame.read::<JoinGroupResponse<'_>>().generation_id;
    assert!(generation > 1);
    let frame = broker.ask(5, &sync("live", &member, generation));
    assert_eq!(frame.read::<SyncGroupResponse<'_>>().error_code, ErrorCode::None);
    let frame = broker.ask(4, &InitProducerIdRequest::default());
    assert_eq!(frame.read::<InitProducerIdResponse>().error_code, ErrorCode::None);
}
