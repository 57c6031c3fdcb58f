//! Fetch.

use milepost_batch::BatchView;
use milepost_model::TopicId;
use milepost_storage::Pace;
use milepost_wire::messages::delete_topics::DeleteTopicsRequest;
use milepost_wire::messages::fetch::{
    FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, all_versions, batch, produce_request};

const LARGE: i32 = 1 << 20;

fn partition(index: i32, offset: i64) -> FetchPartition {
    FetchPartition {
        partition: index,
        fetch_offset: offset,
        partition_max_bytes: LARGE,
        ..FetchPartition::default()
    }
}

fn fetch(topic: &str, partitions: Vec<FetchPartition>) -> FetchRequest<'_> {
    FetchRequest {
        max_bytes: LARGE,
        topics: vec![FetchTopic { topic, partitions, ..FetchTopic::default() }],
        ..FetchRequest::default()
    }
}

/// A fetch that waits for one byte, half a second at most.
fn patient(topic: &str, partitions: Vec<FetchPartition>) -> FetchRequest<'_> {
    FetchRequest { max_wait_ms: 500, min_bytes: 1, ..fetch(topic, partitions) }
}

fn first<'a, 'b>(response: &'b FetchResponse<'a>) -> &'b PartitionData<'a> {
    &response.responses[0].partitions[0]
}

fn base_offsets(data: &PartitionData<'_>) -> Vec<i64> {
    let mut bytes = data.records.expect("never null");
    let mut offsets = Vec::new();
    while !bytes.is_empty() {
        let (batch, rest) = BatchView::parse(bytes).expect("whole batches");
        assert!(batch.crc_matches());
        offsets.push(batch.base_offset().0);
        bytes = rest;
    }
    offsets
}

/// A broker with batches at 0, 2 and 4 of t-0, each of two records and 100 bytes of values.
fn with_batches() -> Broker {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 2);
    for _ in 0..3 {
        broker.produce("t", 0, &batch(&[&"x".repeat(50), &"y".repeat(50)])).expect("a good batch");
    }
    broker
}

#[test]
fn what_was_produced_is_fetched_in_every_version() {
    let mut broker = Broker::start(&[]);
    let id = broker.create_topic("t", 1);
    broker.produce("t", 0, &batch(&["a", "b"])).expect("a good batch");
    broker.produce("t", 0, &batch(&["c"])).expect("a good batch");
    for version in all_versions(ApiKey::Fetch) {
        let mut request = fetch("t", vec![partition(0, 1)]);
        request.topics[0].topic_id = id;
        let frame = broker.ask(version, &request);
        let response: FetchResponse<'_> = frame.read();
        assert_eq!((response.error_code, response.session_id), (ErrorCode::None, 0));
        assert_eq!(response.responses[0].topic, if version < 13 { "t" } else { "" });
        assert_eq!(response.responses[0].topic_id, if version < 13 { TopicId::ZERO } else { id });
        let data = first(&response);
        assert_eq!((data.error_code, data.high_watermark, data.last_stable_offset), (ErrorCode::None, 3, 3));
        assert_eq!(data.log_start_offset, if version < 5 { -1 } else { 0 });
        assert_eq!(base_offsets(data), [0, 2], "the batch that holds offset 1 comes whole");
        assert_eq!(data.aborted_transactions, None);
        assert_eq!(data.preferred_read_replica, -1);
    }
}

#[test]
fn the_leader_epoch_of_this_start_is_in_every_batch() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    broker.produce("t", 0, &batch(&["a"])).expect("a good batch");
    broker.crash();
    broker.produce("t", 0, &batch(&["b"])).expect("a good batch");
    let frame = broker.ask(12, &fetch("t", vec![partition(0, 0)]));
    let response: FetchResponse<'_> = frame.read();
    let (before, rest) = BatchView::parse(first(&response).records.unwrap()).unwrap();
    let (after, _) = BatchView::parse(rest).unwrap();
    assert!(before.leader_epoch() < after.leader_epoch());
    let ask = |broker: &mut Broker, epoch: i32| {
        let asked = FetchPartition { current_leader_epoch: epoch, ..partition(0, 0) };
        let frame = broker.ask(12, &fetch("t", vec![asked]));
        let response: FetchResponse<'_> = frame.read();
        (first(&response).error_code, first(&response).high_watermark)
    };
    assert_eq!(ask(&mut broker, before.leader_epoch().0), (ErrorCode::FencedLeaderEpoch, -1));
    assert_eq!(ask(&mut broker, after.leader_epoch().0), (ErrorCode::None, 2));
    assert_eq!(ask(&mut broker, after.leader_epoch().0 + 1), (ErrorCode::UnknownLeaderEpoch, -1));
    // From version 16 on the answer says who leads.
    let asked = FetchPartition { current_leader_epoch: 0, ..partition(0, 0) };
    let mut request = fetch("", vec![asked]);
    let frame = broker
        .ask(12, &milepost_wire::messages::metadata::MetadataRequest { topics: None, ..Default::default() });
    let metadata: milepost_wire::messages::metadata::MetadataResponse<'_> = frame.read();
    request.topics[0].topic_id = metadata.topics[1].topic_id;
    let frame = broker.ask(16, &request);
    let response: FetchResponse<'_> = frame.read();
    assert_eq!(first(&response).error_code, ErrorCode::FencedLeaderEpoch);
    assert_eq!(first(&response).current_leader.leader_epoch, after.leader_epoch().0);
    assert_eq!((response.node_endpoints[0].node_id, response.node_endpoints[0].port), (1, 9092));
}

#[test]
fn what_cannot_be_fetched() {
    let mut broker = with_batches();
    let mut code = |request: &FetchRequest<'_>, version| {
        let frame = broker.ask(version, request);
        let response: FetchResponse<'_> = frame.read();
        let data = first(&response);
        assert_eq!(data.records, Some(&[][..]));
        (data.error_code, data.high_watermark, data.last_stable_offset)
    };
    let unknown = ErrorCode::UnknownTopicOrPartition;
    assert_eq!(code(&patient("none", vec![partition(0, 0)]), 12), (unknown, -1, -1));
    assert_eq!(code(&patient("t", vec![partition(9, 0)]), 12), (unknown, -1, -1));
    assert_eq!(code(&patient("t", vec![partition(0, 7)]), 12), (ErrorCode::OffsetOutOfRange, -1, -1));
    assert_eq!(code(&patient("t", vec![partition(0, -1)]), 12), (ErrorCode::OffsetOutOfRange, -1, -1));
    assert_eq!(code(&fetch("t", vec![partition(0, 6)]), 12), (ErrorCode::None, 6, 6), "the end is no error");
    let mut by_id = patient("", vec![partition(0, 0)]);
    by_id.topics[0].topic_id = TopicId([3; 16]);
    assert_eq!(code(&by_id, 13), (ErrorCode::UnknownTopicId, -1, -1));
}

#[test]
fn an_empty_answer_has_zero_length_records_and_watermarks() {
    let mut broker = with_batches();
    for version in all_versions(ApiKey::Fetch).filter(|version| *version < 13) {
        let frame = broker.ask(version, &fetch("t", vec![partition(1, 0)]));
        let response: FetchResponse<'_> = frame.read();
        assert_eq!((first(&response).records, first(&response).high_watermark), (Some(&[][..]), 0));
    }
}

#[test]
fn nothing_above_the_high_watermark_is_shown() {
    let mut broker = with_batches();
    broker.disk.set_pace(Pace::Held);
    let (producer, consumer) = (broker.connect(), broker.connect());
    let bytes = batch(&["unsafe"]);
    broker.send(producer, 9, &produce_request("t", 0, &bytes));
    broker.settle();
    for offset in [6, 7] {
        let frame = broker.ask_on(consumer, 12, &fetch("t", vec![partition(0, offset)]));
        let response: FetchResponse<'_> = frame.read();
        let data = first(&response);
        assert_eq!((data.error_code, data.high_watermark, data.records), (ErrorCode::None, 6, Some(&[][..])));
    }
    broker.disk.complete();
    broker.settle();
    let frame = broker.ask_on(consumer, 12, &fetch("t", vec![partition(0, 6)]));
    assert_eq!(base_offsets(first(&frame.read())), [6]);
}

#[test]
fn a_waiting_fetch_is_answered_by_a_produce() {
    let mut broker = with_batches();
    let consumer = broker.connect();
    broker.send(consumer, 12, &patient("t", vec![partition(0, 6), partition(1, 0)]));
    broker.settle();
    assert!(broker.answer(consumer).is_none());
    broker.produce("t", 1, &batch(&["new"])).expect("a good batch");
    let frame = broker.answer(consumer).expect("the produce woke it");
    let response: FetchResponse<'_> = frame.read();
    assert_eq!(base_offsets(first(&response)), Vec::<i64>::new());
    assert_eq!(base_offsets(&response.responses[0].partitions[1]), [0]);
}

#[test]
fn a_waiting_fetch_is_answered_at_its_deadline() {
    let mut broker = with_batches();
    let consumer = broker.connect();
    broker.send(consumer, 12, &patient("t", vec![partition(0, 6)]));
    broker.pass_ms(499);
    assert!(broker.answer(consumer).is_none());
    broker.pass_ms(1);
    let frame = broker.answer(consumer).expect("its time is up");
    assert_eq!(first(&frame.read::<FetchResponse<'_>>()).high_watermark, 6);
}

#[test]
fn a_fetch_waits_for_as_many_bytes_as_it_wants() {
    let mut broker = with_batches();
    let one = batch(&["0123456789"]);
    let consumer = broker.connect();
    let min_bytes = i32::try_from(2 * one.len()).unwrap();
    let request = FetchRequest { min_bytes, ..patient("t", vec![partition(1, 0)]) };
    broker.send(consumer, 12, &request);
    broker.produce("t", 1, &one).expect("a good batch");
    assert!(broker.answer(consumer).is_none(), "one batch is too little");
    broker.produce("t", 1, &one).expect("a good batch");
    let frame = broker.answer(consumer).expect("two are enough");
    assert_eq!(base_offsets(first(&frame.read())), [0, 1]);
    broker.send(consumer, 12, &FetchRequest { min_bytes: LARGE, ..request });
    broker.pass_ms(500);
    let frame = broker.answer(consumer).expect("its time is up");
    assert_eq!(base_offsets(first(&frame.read())), [0, 1], "then it gets what there is");
}

#[test]
fn a_fetch_of_nothing_and_one_without_patience_are_answered_at_once() {
    let mut broker = with_batches();
    let nothing = FetchRequest { topics: Vec::new(), ..patient("", Vec::new()) };
    assert!(broker.ask(12, &nothing).read::<FetchResponse<'_>>().responses.is_empty());
    for max_wait_ms in [0, -1] {
        let hurried = FetchRequest { max_wait_ms, ..patient("t", vec![partition(1, 0)]) };
        broker.ask(12, &hurried);
    }
    broker.ask(12, &FetchRequest { min_bytes: 0, ..patient("t", vec![partition(1, 0)]) });
}

#[test]
fn the_first_batch_is_whole_and_then_the_budget_holds() {
    let mut broker = with_batches();
    for _ in 0..2 {
        broker.produce("t", 1, &batch(&[&"z".repeat(100)])).expect("a good batch");
    }
    let mut found = |max_bytes, partition_max_bytes| -> Vec<Vec<i64>> {
        let limited = |index, offset| FetchPartition { partition_max_bytes, ..partition(index, offset) };
        // The first partition has nothing left to read, so the second one's batch is the first.
        let partitions = vec![limited(0, 6), limited(1, 0), limited(0, 0)];
        let frame = broker.ask(12, &FetchRequest { max_bytes, ..fetch("t", partitions) });
        let response: FetchResponse<'_> = frame.read();
        response.responses[0].partitions.iter().map(base_offsets).collect()
    };
    assert_eq!(found(1, LARGE), [vec![], vec![0], vec![]]);
    assert_eq!(found(LARGE, 1), [vec![], vec![0], vec![]]);
    assert_eq!(found(0, 0), [vec![], vec![0], vec![]]);
    assert_eq!(found(LARGE, LARGE), [vec![], vec![0, 1], vec![0, 2, 4]]);
    // Room for two batches of t-1, and for no more.
    assert_eq!(found(2 * 175, LARGE), [vec![], vec![0, 1], vec![]]);
}

#[test]
fn read_committed_gets_an_empty_list_of_aborted_transactions() {
    let mut broker = with_batches();
    let frame = broker.ask(12, &FetchRequest { isolation_level: 1, ..fetch("t", vec![partition(0, 0)]) });
    let response: FetchResponse<'_> = frame.read();
    assert_eq!(first(&response).aborted_transactions, Some(Vec::new()));
    assert_eq!(base_offsets(first(&response)), [0, 2, 4]);
}

#[test]
fn a_topic_deleted_under_a_waiting_fetch_answers_it() {
    for (version, expected) in [(12, ErrorCode::UnknownTopicOrPartition), (13, ErrorCode::UnknownTopicId)] {
        let mut broker = Broker::start(&[]);
        let id = broker.create_topic("t", 1);
        let consumer = broker.connect();
        let mut request = patient("t", vec![partition(0, 0)]);
        request.topics[0].topic_id = id;
        broker.send(consumer, version, &request);
        broker.settle();
        broker.ask(5, &DeleteTopicsRequest { topic_names: vec!["t"], ..DeleteTopicsRequest::default() });
        let frame = broker.answer(consumer).expect("there is nothing left to wait for");
        assert_eq!(first(&frame.read::<FetchResponse<'_>>()).error_code, expected);
    }
}

#[test]
fn a_client_that_takes_no_answers_gets_them_smaller() {
    let mut broker = Broker::start(&["fetch.max.bytes=57671680"]);
    broker.create_topic("t", 1);
    let value = "x".repeat(1_000_000);
    for _ in 0..12 {
        broker.produce("t", 0, &batch(&[&value])).expect("a good batch");
    }
    let client = broker.connect();
    let all = FetchPartition { partition_max_bytes: i32::MAX, ..partition(0, 0) };
    let request = FetchRequest { max_bytes: i32::MAX, ..fetch("t", vec![all]) };
    broker.send(client, 12, &request);
    assert!(!broker.accepts_more(client), "one answer is more than is held for a client that does not read");
    broker.send(client, 12, &request);
    broker.settle();
    let count = |frame: crate::harness::Frame| base_offsets(first(&frame.read())).len();
    let frames: Vec<_> = std::iter::from_fn(|| broker.answer(client)).map(count).collect();
    assert_eq!(frames, [12, 1]);
}
