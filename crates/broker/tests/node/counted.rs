//! What the node counts, and what is said of a coordinator that cannot be loaded.

use milepost_groups::{GroupState, GroupType};
use milepost_storage::{Pace, Space};
use milepost_transactions::TransactionCounts;
use milepost_wire::ErrorCode;
use milepost_wire::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
};
use milepost_wire::messages::describe_groups::{DescribeGroupsRequest, DescribeGroupsResponse};
use milepost_wire::messages::find_coordinator::{FindCoordinatorRequest, FindCoordinatorResponse};
use milepost_wire::messages::heartbeat::{HeartbeatRequest, HeartbeatResponse};
use milepost_wire::messages::list_groups::{ListGroupsRequest, ListGroupsResponse};
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::messages::offset_delete::{
    OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use milepost_wire::messages::offset_fetch::{OffsetFetchRequest, OffsetFetchResponse};

use crate::harness::Broker;
use crate::members::{AT_ONCE, join_alone};
use crate::transacting::{end, init, produce, with_transactions};

const MINUTE_MS: u64 = 60_000;

fn request(group_id: &str, partitions: std::ops::Range<i32>) -> OffsetCommitRequest<'_> {
    let one = |partition_index| OffsetCommitRequestPartition {
        partition_index,
        committed_offset: 5,
        ..OffsetCommitRequestPartition::default()
    };
    let topics = vec![OffsetCommitRequestTopic {
        name: "t",
        partitions: partitions.map(one).collect(),
        ..OffsetCommitRequestTopic::default()
    }];
    OffsetCommitRequest { group_id, topics, ..OffsetCommitRequest::default() }
}

fn commit(broker: &mut Broker, request: &OffsetCommitRequest<'_>) -> ErrorCode {
    let frame = broker.ask(8, request);
    frame.read::<OffsetCommitResponse<'_>>().topics[0].partitions[0].error_code
}

#[test]
fn what_happens_in_groups_is_counted() {
    let mut broker = Broker::start(&[AT_ONCE, "offsets.retention.minutes=60"]);
    broker.create_topic("t", 10);
    assert_eq!(broker.counters().partitions.active, 3);
    assert_eq!(commit(&mut broker, &request("simple", 0..4)), ErrorCode::None);
    let member = join_alone(&mut broker, "live");
    let zombie =
        OffsetCommitRequest { member_id: &member, generation_id_or_member_epoch: 9, ..request("live", 0..1) };
    assert_eq!(commit(&mut broker, &zombie), ErrorCode::IllegalGeneration);
    let stranger = OffsetCommitRequest { generation_id_or_member_epoch: 1, ..request("live", 0..1) };
    assert_eq!(commit(&mut broker, &stranger), ErrorCode::UnknownMemberId);
    let joining = ConsumerGroupHeartbeatRequest {
        group_id: "modern",
        member_id: "m",
        rebalance_timeout_ms: 60_000,
        subscribed_topic_names: Some(vec!["t"]),
        topic_partitions: Some(Vec::new()),
        ..ConsumerGroupHeartbeatRequest::default()
    };
    broker.ask(1, &joining);
    let partitions = vec![OffsetDeleteRequestPartition { partition_index: 0 }];
    let topics = vec![OffsetDeleteRequestTopic { name: "t", partitions }];
    broker.ask(0, &OffsetDeleteRequest { group_id: "simple", topics });

    let counters = broker.counters();
    assert_eq!(counters.group_counts.offset_commits, 4);
    assert_eq!(counters.group_counts.fenced_commits, 2);
    assert_eq!(counters.group_counts.offset_deletions, 1);
    assert_eq!(counters.group_counts.group_completed_rebalances, 1);
    assert_eq!(counters.group_counts.consumer_group_rebalances, 1);
    assert_eq!(counters.census.offsets, 3);
    let groups = [
        ((GroupType::Classic, GroupState::Empty), 1),
        ((GroupType::Classic, GroupState::Stable), 1),
        ((GroupType::Consumer, GroupState::Stable), 1),
    ];
    assert_eq!(counters.census.groups, groups.into());

    for _ in 0..8 {
        broker.pass_ms(10 * MINUTE_MS);
    }
    let counters = broker.counters();
    assert_eq!(counters.group_counts.offset_expirations, 3);
    assert_eq!(counters.group_counts.offset_deletions, 1, "to expire is not to be deleted");
    assert_eq!(counters.census.offsets, 0);
}

#[test]
fn a_commit_that_could_not_be_written_is_not_counted() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    broker.set_space(Space::Full);
    assert_eq!(commit(&mut broker, &request("g", 0..1)), ErrorCode::CoordinatorNotAvailable);
    assert_eq!(broker.counters().group_counts.offset_commits, 0);
    broker.set_space(Space::Ready);
    assert_eq!(commit(&mut broker, &request("g", 0..1)), ErrorCode::None);
    assert_eq!(broker.counters().group_counts.offset_commits, 1);
}

#[test]
fn a_commit_takes_until_its_answer_is_sent() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    broker.send(client, 8, &request("g", 0..1));
    broker.pass_ms(30);
    assert_eq!(broker.counters().commit_latency.count(), 0);
    broker.disk.complete();
    broker.settle();
    broker.sent_after_ms(12);
    let latency = broker.counters().commit_latency;
    assert_eq!((latency.count(), latency.max_us()), (1, 42_000));
    // Other requests are not commits.
    broker.disk.set_pace(Pace::AtOnce);
    broker.ask(5, &OffsetFetchRequest { group_id: "g", topics: None, ..OffsetFetchRequest::default() });
    broker.sent_after_ms(1);
    assert_eq!(broker.counters().commit_latency.count(), 1);
}

#[test]
fn a_look_for_expired_offsets_that_a_set_clock_prevents_is_counted() {
    let mut broker = Broker::start(&["offsets.retention.minutes=60"]);
    broker.create_topic("t", 1);
    commit(&mut broker, &request("g", 0..1));
    broker.set_wall_clock_ahead_ms(30 * 86_400_000);
    broker.pass_ms(10 * MINUTE_MS);
    let counters = broker.counters();
    assert_eq!(counters.group_counts.skipped_sweeps, 3, "each of the coordinators looks at the clock");
    assert_eq!((counters.group_counts.offset_expirations, counters.census.offsets), (0, 1));
}

#[test]
fn what_becomes_of_transactions_is_counted() {
    let mut broker = with_transactions(&["transactional.id.expiration.ms=3600000"]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, producer, (0, 0), "x").expect("it is added");
    let producer = end(&mut broker, 5, producer, true).expect("it is committed");
    produce(&mut broker, 12, producer, (0, 0), "y").expect("it is added");
    let producer = end(&mut broker, 5, producer, false).expect("it is aborted");
    // No transaction was begun, so none is aborted.
    end(&mut broker, 5, producer, false).expect("there is nothing to abort");
    let producer = init(&mut broker, 5, "b").expect("a producer");
    produce(&mut broker, 12, producer, (1, 0), "z").expect("it is added");
    let (begun, committed) = (3, 1);
    let counted = TransactionCounts { begun, committed, aborted: 1, ..TransactionCounts::default() };
    assert_eq!(broker.counters().transaction_counts, counted);

    for _ in 0..3 {
        broker.pass_ms(MINUTE_MS);
    }
    let counted = TransactionCounts { aborted: 2, timed_out: 1, ..counted };
    assert_eq!(broker.counters().transaction_counts, counted);

    for _ in 0..3 {
        broker.pass_ms(60 * MINUTE_MS);
    }
    assert_eq!(broker.counters().transaction_counts, TransactionCounts { expired_ids: 2, ..counted });
}

#[test]
fn sweeps_of_transactions_that_a_set_clock_prevents_are_counted() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, producer, (0, 0), "x").expect("it is added");
    broker.set_wall_clock_ahead_ms(30 * 86_400_000);
    broker.pass_ms(10_000);
    let counted = TransactionCounts { begun: 1, skipped_sweeps: 3, ..TransactionCounts::default() };
    assert_eq!(broker.counters().transaction_counts, counted, "each of the coordinators looks at the clock");
}

#[test]
fn loads_are_counted() {
    let mut broker = Broker::start(&[]);
    assert_eq!(broker.counters().partition_load_time.count(), 3);
    broker.restart_unloaded();
    let counters = broker.counters();
    assert_eq!((counters.partitions.loading, counters.partition_load_time.count()), (3, 0));
    broker.settle();
    let counters = broker.counters();
    assert_eq!((counters.partitions.active, counters.partition_load_time.count()), (3, 3));
}

/// A group whose coordinator has this partition, of three.
fn group_of(broker: &mut Broker, partition: usize) -> String {
    let groups = (0..100).map(|number| format!("g{number}"));
    let is_there = |group: &String| {
        let count = u32::try_from(broker.counters().partitions.active).expect("a small number");
        milepost_groups::partition_for(group, count).0 == i32::try_from(partition).expect("a small number")
    };
    groups.into_iter().find(is_there).expect("one in three")
}

#[test]
fn a_coordinator_that_cannot_be_loaded_says_where_and_the_others_serve() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let [broken, whole] = [1, 2].map(|partition| group_of(&mut broker, partition));
    for group in [&broken, &whole] {
        assert_eq!(commit(&mut broker, &request(group, 0..1)), ErrorCode::None);
    }
    // An offset whose value has a version that nobody knows.
    broker.with_foreign_record(1, &[0, 1, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 0], Some(&[0, 99]));
    let counters = broker.counters();
    assert_eq!((counters.partitions.failed, counters.partitions.active), (1, 2));
    let [failure] = &counters.failures[..] else { panic!("{:?}", counters.failures) };
    assert!(failure.contains("__consumer_offsets-1 at offset 1"), "{failure}");

    // Clients are told what a Kafka broker tells them: that somebody else has the group, so that they go on asking.
    assert_eq!(commit(&mut broker, &request(&broken, 0..1)), ErrorCode::NotCoordinator);
    let fetch = |group_id| OffsetFetchRequest { group_id, topics: None, ..OffsetFetchRequest::default() };
    let frame = broker.ask(5, &fetch(&broken));
    assert_eq!(frame.read::<OffsetFetchResponse<'_>>().error_code, ErrorCode::NotCoordinator);
    let beat = HeartbeatRequest { group_id: &broken, member_id: "m", ..HeartbeatRequest::default() };
    assert_eq!(broker.ask(3, &beat).read::<HeartbeatResponse>().error_code, ErrorCode::NotCoordinator);
    let beat = ConsumerGroupHeartbeatRequest {
        group_id: &broken,
        member_id: "m",
        member_epoch: 1,
        ..ConsumerGroupHeartbeatRequest::default()
    };
    let frame = broker.ask(1, &beat);
    assert_eq!(frame.read::<ConsumerGroupHeartbeatResponse<'_>>().error_code, ErrorCode::NotCoordinator);
    let keys = vec![broken.as_str()];
    let frame = broker
        .ask(4, &FindCoordinatorRequest { coordinator_keys: keys, ..FindCoordinatorRequest::default() });
    assert_eq!(frame.read::<FindCoordinatorResponse<'_>>().coordinators[0].error_code, ErrorCode::None);
    // Who describes the group is told the place as well, where the version has room for it.
    for version in [5, 6] {
        let groups = vec![broken.as_str(), whole.as_str()];
        let frame = broker.ask(version, &DescribeGroupsRequest { groups, ..Default::default() });
        let described = frame.read::<DescribeGroupsResponse<'_>>().groups;
        assert_eq!(described[0].error_code, ErrorCode::NotCoordinator);
        let said = described[0].error_message.unwrap_or_default();
        assert_eq!(said.contains("__consumer_offsets-1 at offset 1"), version >= 6, "{said:?}");
        assert_eq!(described[1].error_code, ErrorCode::None);
    }
    // A listing leaves its groups out, as in Kafka.
    let frame = broker.ask(5, &ListGroupsRequest::default());
    let listed = frame.read::<ListGroupsResponse<'_>>();
    let names: Vec<_> = listed.groups.iter().map(|group| group.group_id).collect();
    assert_eq!((listed.error_code, names), (ErrorCode::None, vec![whole.as_str()]));
    assert_eq!(commit(&mut broker, &request(&whole, 0..1)), ErrorCode::None);
}

#[test]
fn a_record_of_an_unknown_type_stops_nothing() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    broker.with_foreign_record(1, &[0, 77, 1, 2, 3], Some(&[0, 99]));
    assert_eq!(broker.counters().partitions.active, 3);
}

#[test]
fn offsets_are_compressed_if_told_to_and_loaded_again() {
    let size = |settings: &[&str]| {
        let mut broker = Broker::start(settings);
        broker.create_topic("t", 100);
        assert_eq!(commit(&mut broker, &request("g", 0..100)), ErrorCode::None);
        broker.crash();
        assert_eq!(broker.counters().census.offsets, 100, "{settings:?}");
        broker.offsets_bytes()
    };
    let plain = size(&[]);
    for codec in ["1", "2", "3", "4"] {
        let compressed = size(&[&format!("offsets.topic.compression.codec={codec}")]);
        assert!(compressed * 2 < plain, "codec {codec}: {compressed} bytes, {plain} without");
    }
}

#[test]
fn without_their_protocol_there_are_no_consumer_groups() {
    let mut broker = Broker::start(&[AT_ONCE, "group.coordinator.rebalance.protocols=classic"]);
    broker.create_topic("t", 1);
    let joining = ConsumerGroupHeartbeatRequest {
        group_id: "g",
        member_id: "m",
        rebalance_timeout_ms: 60_000,
        subscribed_topic_names: Some(vec!["t"]),
        topic_partitions: Some(Vec::new()),
        ..ConsumerGroupHeartbeatRequest::default()
    };
    let frame = broker.ask(1, &joining);
    let code = frame.read::<ConsumerGroupHeartbeatResponse<'_>>().error_code;
    assert_eq!(code, ErrorCode::UnsupportedVersion);
    join_alone(&mut broker, "classic");
    let groups = [((GroupType::Classic, GroupState::Stable), 1)];
    assert_eq!(broker.counters().census.groups, groups.into());
}
