//! What outlives a crash, how a stop goes, and what a full disk changes.

use milepost_broker::node::Phase;
use milepost_storage::{Pace, Space};
use milepost_wire::ErrorCode;
use milepost_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest, CreateTopicsResponse};
use milepost_wire::messages::delete_topics::{DeleteTopicsRequest, DeleteTopicsResponse};
use milepost_wire::messages::fetch::{FetchPartition, FetchRequest, FetchResponse, FetchTopic};
use milepost_wire::messages::join_group::JoinGroupResponse;
use milepost_wire::messages::metadata::{MetadataRequest, MetadataResponse};
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestTopic, OffsetFetchResponse,
};
use milepost_wire::messages::produce::ProduceResponse;

use crate::harness::{Broker, batch, produce_request};
use crate::members::{AT_ONCE, heartbeat, join, join_alone};

fn commit_request(position: i64) -> OffsetCommitRequest<'static> {
    let partitions = vec![OffsetCommitRequestPartition { committed_offset: position, ..Default::default() }];
    let topics = vec![OffsetCommitRequestTopic { name: "t", partitions, ..Default::default() }];
    OffsetCommitRequest { group_id: "g", topics, ..OffsetCommitRequest::default() }
}

fn commit(broker: &mut Broker, position: i64) -> ErrorCode {
    let frame = broker.ask(8, &commit_request(position));
    frame.read::<OffsetCommitResponse<'_>>().topics[0].partitions[0].error_code
}

fn committed(broker: &mut Broker) -> i64 {
    let topics = vec![OffsetFetchRequestTopic { name: "t", partition_indexes: vec![0] }];
    let request = OffsetFetchRequest { group_id: "g", topics: Some(topics), ..OffsetFetchRequest::default() };
    let frame = broker.ask(5, &request);
    frame.read::<OffsetFetchResponse<'_>>().topics[0].partitions[0].committed_offset
}

fn fetch_request(offset: i64, max_wait_ms: i32) -> FetchRequest<'static> {
    let partition =
        FetchPartition { fetch_offset: offset, partition_max_bytes: 1 << 20, ..FetchPartition::default() };
    FetchRequest {
        max_wait_ms,
        min_bytes: 1,
        topics: vec![FetchTopic { topic: "t", partitions: vec![partition], ..FetchTopic::default() }],
        ..FetchRequest::default()
    }
}

/// High watermark and bytes that a fetch from the beginning finds.
fn fetched(broker: &mut Broker) -> (i64, usize) {
    let frame = broker.ask(12, &fetch_request(0, 0));
    let response: FetchResponse<'_> = frame.read();
    let data = &response.responses[0].partitions[0];
    (data.high_watermark, data.records.expect("never null").len())
}

#[test]
fn a_crash_keeps_everything_acknowledged_and_nothing_else() {
    let mut broker = Broker::start(&[AT_ONCE]);
    let id = broker.create_topic("t", 1);
    let bytes = batch(&["a"]);
    for round in 0..10 {
        assert_eq!(broker.produce("t", 0, &bytes), Ok(round));
        assert_eq!(commit(&mut broker, round + 1), ErrorCode::None);
        // These are in flight when the power goes, and nobody is told that they landed.
        broker.disk.set_pace(Pace::Held);
        let client = broker.main();
        broker.send(client, 9, &produce_request("t", 0, &bytes));
        broker.send(client, 8, &commit_request(1000));
        broker.settle();
        assert!(broker.answer(client).is_none());
        broker.disk.set_pace(Pace::AtOnce);
        broker.crash();
        assert_eq!(fetched(&mut broker).0, round + 1);
        assert_eq!(committed(&mut broker), round + 1);
    }
    let frame = broker.ask(12, &MetadataRequest { topics: None, ..MetadataRequest::default() });
    let topics = frame.read::<MetadataResponse<'_>>().topics;
    assert_eq!((topics[1].name, topics[1].topic_id), (Some("t"), id));
}

#[test]
fn a_kill_keeps_everything_acknowledged() {
    let mut broker = Broker::start(&[AT_ONCE]);
    broker.create_topic("t", 1);
    let member = join_alone(&mut broker, "live");
    assert_eq!(broker.produce("t", 0, &batch(&["a"])), Ok(0));
    assert_eq!(commit(&mut broker, 1), ErrorCode::None);
    let before = fetched(&mut broker);
    broker.kill();
    assert_eq!(fetched(&mut broker), before);
    assert_eq!(committed(&mut broker), 1);
    assert_eq!(heartbeat(&mut broker, "live", &member, 1), ErrorCode::None, "members stay");
}

#[test]
fn a_stop_answers_everyone_who_waits() {
    let mut broker = Broker::start(&["group.initial.rebalance.delay.ms=3000"]);
    broker.create_topic("t", 1);
    let [joiner, consumer, producer, committer] = [(); 4].map(|()| broker.connect());
    broker.send(joiner, 3, &join("live", ""));
    broker.send(consumer, 12, &fetch_request(0, 30_000));
    broker.settle();
    broker.disk.set_pace(Pace::Held);
    let bytes = batch(&["a"]);
    broker.send(producer, 9, &produce_request("t", 0, &bytes));
    broker.send(committer, 8, &commit_request(7));
    broker.settle();
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.stop();
    let frame = broker.answer(joiner).expect("an answer");
    assert_eq!(frame.read::<JoinGroupResponse<'_>>().error_code, ErrorCode::NotCoordinator);
    let frame = broker.answer(consumer).expect("an answer");
    let response: FetchResponse<'_> = frame.read();
    assert_eq!(response.responses[0].partitions[0].error_code, ErrorCode::None);
    let frame = broker.answer(producer).expect("an answer");
    let response: ProduceResponse<'_> = frame.read();
    assert_eq!(response.responses[0].partition_responses[0].error_code, ErrorCode::None);
    let frame = broker.answer(committer).expect("an answer");
    assert_eq!(frame.read::<OffsetCommitResponse<'_>>().topics[0].partitions[0].error_code, ErrorCode::None);
    assert!(!broker.accepts_more(joiner), "nothing is admitted any more");
    broker.start_again();
    assert_eq!((fetched(&mut broker).0, committed(&mut broker)), (1, 7));
}

#[test]
fn a_stop_waits_for_the_disk_without_spinning() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    let bytes = batch(&["a"]);
    broker.send(client, 9, &produce_request("t", 0, &bytes));
    broker.settle();
    broker.begin_stop();
    assert!(!broker.step(), "there is nothing to do until the disk is done");
    assert_eq!(broker.phase(), Phase::Stopping);
    assert!(broker.answer(client).is_none());
    broker.disk.complete();
    broker.step();
    assert!(broker.answer(client).is_some());
}

#[test]
fn a_poisoned_disk_ends_the_node_and_acknowledges_nothing() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    let bytes = batch(&["a"]);
    broker.send(client, 9, &produce_request("t", 0, &bytes));
    broker.settle();
    broker.disk.poison("the device is gone");
    broker.step();
    assert!(matches!(broker.phase(), Phase::Failed(_)));
    assert!(broker.answer(client).is_none());
    assert!(!broker.accepts_more(client));
}

#[test]
fn a_full_disk_refuses_writes_serves_the_rest_and_heals() {
    let mut broker = Broker::start(&[AT_ONCE]);
    broker.create_topic("t", 1);
    let member = join_alone(&mut broker, "live");
    let bytes = batch(&["a"]);
    assert_eq!(broker.produce("t", 0, &bytes), Ok(0));
    assert_eq!(commit(&mut broker, 1), ErrorCode::None);
    let before = fetched(&mut broker);

    broker.set_space(Space::Full);
    assert_eq!(broker.produce("t", 0, &bytes), Err(ErrorCode::KafkaStorageError));
    assert_eq!(commit(&mut broker, 2), ErrorCode::CoordinatorNotAvailable);
    let topics = vec![CreatableTopic {
        name: "u",
        num_partitions: 1,
        replication_factor: 1,
        ..CreatableTopic::default()
    }];
    let frame = broker.ask(7, &CreateTopicsRequest { topics, ..CreateTopicsRequest::default() });
    assert_eq!(frame.read::<CreateTopicsResponse<'_>>().topics[0].error_code, ErrorCode::KafkaStorageError);
    assert_eq!(fetched(&mut broker), before);
    assert_eq!(committed(&mut broker), 1, "nothing is stored that was refused");
    assert_eq!(heartbeat(&mut broker, "live", &member, 1), ErrorCode::None);

    broker.set_space(Space::Ready);
    assert_eq!(broker.produce("t", 0, &bytes), Ok(1));
    assert_eq!(commit(&mut broker, 2), ErrorCode::None);
    broker.crash();
    assert_eq!((fetched(&mut broker).0, committed(&mut broker)), (2, 2));
}

#[test]
fn work_that_waits_for_room_waits_quietly() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let client = broker.main();
    let bytes = batch(&["a"]);
    // The node does not know yet that the disk is full, so it takes this.
    broker.disk.set_space(Space::Full);
    broker.send(client, 9, &produce_request("t", 0, &bytes));
    assert!(!broker.step(), "a step would find the disk as full as this one did");
    let next = broker.next_deadline().expect("it looks again");
    assert!(next.ms_since(broker.now().monotonic) <= 500);
    assert!(broker.answer(client).is_none());
    broker.set_space(Space::Ready);
    let frame = broker.answer(client).expect("there is room again");
    let code = frame.read::<ProduceResponse<'_>>().responses[0].partition_responses[0].error_code;
    assert_eq!(code, ErrorCode::None);
}

#[test]
fn a_crash_between_a_topics_deletion_and_its_offsets_leaves_nothing_to_inherit() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    assert_eq!(commit(&mut broker, 7), ErrorCode::None);
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    broker.send(client, 1, &DeleteTopicsRequest { topic_names: vec!["t"], ..Default::default() });
    broker.settle();
    broker.disk.complete();
    // The deletion is durable and answered; the tombstones of its offsets are in flight when the power goes.
    broker.settle();
    let frame = broker.answer(client).expect("the deletion is durable");
    assert_eq!(frame.read::<DeleteTopicsResponse<'_>>().responses[0].error_code, ErrorCode::None);
    broker.disk.set_pace(Pace::AtOnce);
    broker.crash();
    assert_eq!(broker.counters().census.offsets, 0, "they were written again");
    broker.create_topic("t", 1);
    assert_eq!(committed(&mut broker), -1, "the new topic begins without a position");
}

#[test]
fn a_node_stops_on_a_full_disk_and_says_what_it_could_not_keep() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    assert_eq!(broker.produce("t", 0, &batch(&["kept"])), Ok(0));
    let client = broker.main();
    let bytes = batch(&["a"]);
    broker.disk.set_space(Space::Full);
    broker.send(client, 9, &produce_request("t", 0, &bytes));
    broker.settle();
    broker.stop();
    let frame = broker.answer(client).expect("an answer");
    let code = frame.read::<ProduceResponse<'_>>().responses[0].partition_responses[0].error_code;
    assert_eq!(code, ErrorCode::KafkaStorageError);
    broker.disk.set_space(Space::Ready);
    broker.start_again();
    assert_eq!(fetched(&mut broker).0, 1);
}

#[test]
fn a_folder_remembers_how_many_coordinators_it_has() {
    let mut broker = Broker::start(&[]);
    let frame = broker.ask(12, &MetadataRequest { topics: None, ..MetadataRequest::default() });
    assert_eq!(frame.read::<MetadataResponse<'_>>().topics[0].partitions.len(), 3);
    broker.stop();
    let refused = broker.restart_with("offsets.topic.num.partitions=4").unwrap_err();
    assert!(refused.contains("never changes"), "{refused}");
}
