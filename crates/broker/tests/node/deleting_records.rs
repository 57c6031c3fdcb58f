//! DeleteRecords.

use milepost_storage::Pace;
use milepost_wire::messages::create_topics::{CreatableTopic, CreatableTopicConfig, CreateTopicsRequest};
use milepost_wire::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsResponse, DeleteRecordsTopic,
};
use milepost_wire::messages::delete_topics::DeleteTopicsRequest;
use milepost_wire::messages::fetch::{FetchPartition, FetchRequest, FetchResponse, FetchTopic};
use milepost_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, Frame, all_versions, batch};

fn delete(topic: &str, partition: i32, offset: i64) -> DeleteRecordsRequest<'_> {
    let partitions = vec![DeleteRecordsPartition { partition_index: partition, offset }];
    DeleteRecordsRequest { topics: vec![DeleteRecordsTopic { name: topic, partitions }], timeout_ms: 30_000 }
}

fn outcome(frame: &Frame) -> (ErrorCode, i64) {
    let response: DeleteRecordsResponse<'_> = frame.read();
    let partition = &response.topics[0].partitions[0];
    (partition.error_code, partition.low_watermark)
}

fn ask(broker: &mut Broker, topic: &str, partition: i32, offset: i64) -> (ErrorCode, i64) {
    outcome(&broker.ask(2, &delete(topic, partition, offset)))
}

/// A broker with ten records in t-0.
fn with_records() -> Broker {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    for _ in 0..5 {
        broker.produce("t", 0, &batch(&["a", "b"])).expect("a good batch");
    }
    broker
}

fn earliest(broker: &mut Broker) -> i64 {
    let partitions = vec![ListOffsetsPartition { timestamp: -2, ..ListOffsetsPartition::default() }];
    let topics = vec![ListOffsetsTopic { name: "t", partitions }];
    let frame =
        broker.ask(5, &ListOffsetsRequest { replica_id: -1, topics, ..ListOffsetsRequest::default() });
    frame.read::<ListOffsetsResponse<'_>>().topics[0].partitions[0].offset
}

#[test]
fn the_beginning_goes_in_every_version_and_stays_gone() {
    let mut broker = with_records();
    for (version, offset) in all_versions(ApiKey::DeleteRecords).zip(3..) {
        assert_eq!(outcome(&broker.ask(version, &delete("t", 0, offset))), (ErrorCode::None, offset));
    }
    assert_eq!(earliest(&mut broker), 5);
    assert_eq!(fetch_code(&mut broker, 4), ErrorCode::OffsetOutOfRange);
    assert_eq!(fetch_code(&mut broker, 5), ErrorCode::None, "also in the middle of a batch");
    assert_eq!(ask(&mut broker, "t", 0, 2), (ErrorCode::None, 5), "it never moves back");
    broker.crash();
    assert_eq!(earliest(&mut broker), 5);
    assert_eq!(ask(&mut broker, "t", 0, -1), (ErrorCode::None, 10), "all that there is");
    assert_eq!(broker.produce("t", 0, &batch(&["c"])), Ok(10), "offsets go on");
    broker.crash();
    assert_eq!(earliest(&mut broker), 10);
}

#[test]
fn the_answer_waits_for_the_disk_and_says_so_when_it_takes_too_long() {
    let mut broker = with_records();
    let client = broker.main();
    broker.disk.set_pace(Pace::Held);
    broker.send(client, 2, &delete("t", 0, 4));
    broker.send(client, 2, &DeleteRecordsRequest { timeout_ms: 2_000, ..delete("t", 0, 6) });
    broker.settle();
    assert!(broker.answer(client).is_none(), "nothing is durable yet");
    assert_eq!(fetch_code(&mut broker, 0), ErrorCode::None, "and nothing is gone yet");
    release(&mut broker);
    assert_eq!(outcome(&broker.answer(client).expect("durable now")).0, ErrorCode::None);
    assert_eq!(outcome(&broker.answer(client).expect("durable now")), (ErrorCode::None, 6));
    broker.disk.set_pace(Pace::Held);
    broker.send(client, 2, &DeleteRecordsRequest { timeout_ms: 2_000, ..delete("t", 0, 8) });
    broker.settle();
    broker.pass_ms(2_000);
    assert_eq!(outcome(&broker.answer(client).expect("late")), (ErrorCode::RequestTimedOut, -1));
    release(&mut broker);
    assert_eq!(earliest(&mut broker), 8, "it happened all the same");
}

/// The disk takes what it held back, and what comes after.
fn release(broker: &mut Broker) {
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.settle();
}

fn fetch_code(broker: &mut Broker, offset: i64) -> ErrorCode {
    let other = broker.connect();
    let partition =
        FetchPartition { fetch_offset: offset, partition_max_bytes: 1 << 20, ..FetchPartition::default() };
    let topics = vec![FetchTopic { topic: "t", partitions: vec![partition], ..FetchTopic::default() }];
    let request = FetchRequest { max_bytes: 1 << 20, topics, ..FetchRequest::default() };
    let frame = broker.ask_on(other, 12, &request);
    frame.read::<FetchResponse<'_>>().responses[0].partitions[0].error_code
}

#[test]
fn a_topic_that_goes_meanwhile_is_said() {
    let mut broker = with_records();
    let client = broker.main();
    broker.disk.set_pace(Pace::Held);
    let topic_names = vec!["t"];
    broker.send(client, 5, &DeleteTopicsRequest { topic_names, ..DeleteTopicsRequest::default() });
    broker.send(client, 2, &delete("t", 0, 4));
    broker.settle();
    release(&mut broker);
    assert!(broker.answer(client).is_some());
    let (code, start) = outcome(&broker.answer(client).expect("an answer in any case"));
    assert!(matches!((code, start), (ErrorCode::None, 4) | (ErrorCode::NotLeaderOrFollower, -1)), "{code}");
}

#[test]
fn what_delete_records_refuses() {
    let mut broker = with_records();
    for (name, policy) in [("compacted", "compact"), ("both", "compact,delete")] {
        let configs = vec![CreatableTopicConfig { name: "cleanup.policy", value: Some(policy) }];
        let topic = CreatableTopic {
            name,
            num_partitions: 1,
            replication_factor: 1,
            configs,
            ..CreatableTopic::default()
        };
        broker.ask(7, &CreateTopicsRequest { topics: vec![topic], ..CreateTopicsRequest::default() });
    }
    assert_eq!(ask(&mut broker, "t", 0, 11), (ErrorCode::OffsetOutOfRange, -1));
    assert_eq!(ask(&mut broker, "t", 0, -2), (ErrorCode::OffsetOutOfRange, -1));
    assert_eq!(ask(&mut broker, "t", 1, 0), (ErrorCode::UnknownTopicOrPartition, -1));
    assert_eq!(ask(&mut broker, "none", 0, 0), (ErrorCode::UnknownTopicOrPartition, -1));
    assert_eq!(ask(&mut broker, "__consumer_offsets", 0, 0), (ErrorCode::InvalidTopicException, -1));
    assert_eq!(ask(&mut broker, "compacted", 0, 0), (ErrorCode::PolicyViolation, -1));
    assert_eq!(ask(&mut broker, "both", 0, 0), (ErrorCode::None, 0));
    assert_eq!(earliest(&mut broker), 0);
}
