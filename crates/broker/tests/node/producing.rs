//! Produce.

use milepost_batch::{BatchBuilder, BatchOptions, Codec};
use milepost_broker::node::Admission;
use milepost_model::{Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TopicId};
use milepost_storage::Pace;
use milepost_wire::messages::create_topics::{CreatableTopic, CreatableTopicConfig, CreateTopicsRequest};
use milepost_wire::messages::produce::{
    PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, START_MS, all_versions, batch, batch_with, numbered_batch, produce_request};

fn create_with(broker: &mut Broker, name: &str, key: &str, value: &str) {
    let configs = vec![CreatableTopicConfig { name: key, value: Some(value) }];
    let topic = CreatableTopic {
        name,
        num_partitions: 1,
        replication_factor: 1,
        configs,
        ..CreatableTopic::default()
    };
    broker.ask(7, &CreateTopicsRequest { topics: vec![topic], ..CreateTopicsRequest::default() });
}

#[test]
fn a_batch_is_appended_in_every_version() {
    let mut broker = Broker::start(&[]);
    let id = broker.create_topic("t", 1);
    for (at, version) in all_versions(ApiKey::Produce).enumerate() {
        let bytes = batch(&["a", "b"]);
        let mut request = produce_request("t", 0, &bytes);
        request.topic_data[0].topic_id = id;
        let frame = broker.ask(version, &request);
        let response: ProduceResponse<'_> = frame.read();
        let topic = &response.responses[0];
        assert_eq!(topic.name, if version < 13 { "t" } else { "" });
        assert_eq!(topic.topic_id, if version < 13 { TopicId::ZERO } else { id });
        let partition = &topic.partition_responses[0];
        assert_eq!((partition.index, partition.error_code), (0, ErrorCode::None));
        assert_eq!((partition.base_offset, partition.log_append_time_ms), (2 * at as i64, -1));
        assert_eq!(partition.log_start_offset, if version < 5 { -1 } else { 0 });
    }
}

#[test]
fn both_kinds_of_acknowledgement_wait_for_the_disk() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    for acks in [1, -1] {
        let bytes = batch(&["a"]);
        broker.send(client, 9, &ProduceRequest { acks, ..produce_request("t", 0, &bytes) });
        broker.settle();
        assert!(broker.answer(client).is_none(), "acks={acks} was answered before the disk had it");
        broker.disk.complete();
        broker.settle();
        assert!(broker.answer(client).is_some());
    }
}

#[test]
fn without_acknowledgement_there_is_no_answer_and_an_error_closes_the_connection() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let client = broker.connect();
    let bytes = batch(&["a"]);
    let silent = ProduceRequest { acks: 0, ..produce_request("t", 0, &bytes) };
    assert_eq!(broker.send_unanswered(client, 9, &silent), Admission::Admitted);
    // What comes behind is answered.
    let frame = broker.ask_on(client, 9, &produce_request("t", 0, &bytes));
    assert_eq!(frame.read::<ProduceResponse<'_>>().responses[0].partition_responses[0].base_offset, 1);
    let wrong = ProduceRequest { acks: 0, ..produce_request("none", 0, &bytes) };
    assert!(matches!(broker.send_unanswered(client, 9, &wrong), Admission::Close(_)));
    broker.settle();
    assert!(broker.is_closing(client));
    assert!(broker.answer(client).is_none());
}

#[test]
fn unknown_topics_ids_and_partitions() {
    let mut broker = Broker::start(&[]);
    let id = broker.create_topic("t", 1);
    let bytes = batch(&["a"]);
    assert_eq!(broker.produce("none", 0, &bytes), Err(ErrorCode::UnknownTopicOrPartition));
    assert_eq!(broker.produce("t", 1, &bytes), Err(ErrorCode::UnknownTopicOrPartition));
    assert_eq!(broker.produce("t", -1, &bytes), Err(ErrorCode::UnknownTopicOrPartition));
    let mut by_id = |topic_id, partition| {
        let mut request = produce_request("", partition, &bytes);
        request.topic_data[0].topic_id = topic_id;
        let frame = broker.ask(13, &request);
        let response: ProduceResponse<'_> = frame.read();
        assert_eq!(response.responses[0].topic_id, topic_id);
        let answer = &response.responses[0].partition_responses[0];
        (answer.error_code, answer.base_offset)
    };
    assert_eq!(by_id(TopicId([5; 16]), 0), (ErrorCode::UnknownTopicId, -1));
    assert_eq!(by_id(TopicId::ZERO, 0), (ErrorCode::UnknownTopicId, -1));
    assert_eq!(by_id(id, 3), (ErrorCode::UnknownTopicOrPartition, -1));
    assert_eq!(by_id(id, 0), (ErrorCode::None, 0));
}

#[test]
fn a_bad_partition_does_not_stop_the_others() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 2);
    let bytes = batch(&["a"]);
    let data = |index| PartitionProduceData { index, records: Some(&bytes) };
    let mut request = produce_request("t", 0, &bytes);
    request.topic_data[0].partition_data = vec![data(0), data(7), data(1)];
    request.topic_data.push(TopicProduceData {
        name: "none",
        partition_data: vec![data(0)],
        ..TopicProduceData::default()
    });
    let frame = broker.ask(9, &request);
    let response: ProduceResponse<'_> = frame.read();
    let codes: Vec<Vec<_>> = response
        .responses
        .iter()
        .map(|topic| topic.partition_responses.iter().map(|p| (p.index, p.error_code)).collect())
        .collect();
    let unknown = ErrorCode::UnknownTopicOrPartition;
    assert_eq!(codes, [vec![(0, ErrorCode::None), (7, unknown), (1, ErrorCode::None)], vec![(0, unknown)]]);
}

#[test]
fn what_is_no_single_good_batch_is_refused() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let good = batch(&["a"]);
    let mut wrong_crc = good.clone();
    *wrong_crc.last_mut().unwrap() ^= 1;
    let mut old_format = good.clone();
    old_format[16] = 1;
    let mut from_offset_5 = good.clone();
    from_offset_5[7] = 5;
    let two = [good.clone(), good.clone()].concat();
    let cut = &good[..good.len() - 1];
    let cases: [(&[u8], ErrorCode); 6] = [
        (&wrong_crc, ErrorCode::CorruptMessage),
        (&old_format, ErrorCode::InvalidRecord),
        (&from_offset_5, ErrorCode::InvalidRecord),
        (&two, ErrorCode::InvalidRecord),
        (cut, ErrorCode::InvalidRecord),
        (&[], ErrorCode::InvalidRecord),
    ];
    for (bytes, expected) in cases {
        assert_eq!(broker.produce("t", 0, bytes), Err(expected), "{bytes:02x?}");
    }
    let mut null = produce_request("t", 0, &good);
    null.topic_data[0].partition_data[0].records = None;
    let frame = broker.ask(9, &null);
    let code = frame.read::<ProduceResponse<'_>>().responses[0].partition_responses[0].error_code;
    assert_eq!(code, ErrorCode::InvalidRecord);
    assert_eq!(broker.produce("t", 0, &good), Ok(0), "nothing of all that was kept");
}

#[test]
fn acknowledgements_are_all_one_or_none() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let bytes = batch(&["a"]);
    for acks in [2, -2] {
        let frame = broker.ask(9, &ProduceRequest { acks, ..produce_request("t", 0, &bytes) });
        let code = frame.read::<ProduceResponse<'_>>().responses[0].partition_responses[0].error_code;
        assert_eq!(code, ErrorCode::InvalidRequiredAcks);
    }
    assert_eq!(broker.produce("t", 0, &bytes), Ok(0));
}

#[test]
fn the_topic_of_offsets_is_written_by_admin_clients_only() {
    let mut broker = Broker::start(&[]);
    let mut builder = BatchBuilder::new(BatchOptions::default());
    builder.append(Timestamp(START_MS), Some(b"\x00\x63"), Some(b"v"), &[]).unwrap();
    let bytes = builder.build(Offset(0));
    assert_eq!(broker.produce("__consumer_offsets", 0, &bytes), Err(ErrorCode::InvalidTopicException));
    let client = broker.main();
    broker.send_as(client, "__admin_client", 9, &produce_request("__consumer_offsets", 0, &bytes));
    broker.settle();
    let frame = broker.answer(client).expect("an answer");
    let code = frame.read::<ProduceResponse<'_>>().responses[0].partition_responses[0].error_code;
    assert_eq!(code, ErrorCode::None);
}

#[test]
fn zstd_needs_version_7() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let bytes = batch_with(BatchOptions { codec: Codec::Zstd, ..BatchOptions::default() }, &["a"]);
    for (version, expected) in [(6, ErrorCode::UnsupportedCompressionType), (7, ErrorCode::None)] {
        let frame = broker.ask(version, &produce_request("t", 0, &bytes));
        let code = frame.read::<ProduceResponse<'_>>().responses[0].partition_responses[0].error_code;
        assert_eq!(code, expected);
    }
}

#[test]
fn too_large_and_too_old_and_keyless_batches() {
    let mut broker = Broker::start(&[]);
    create_with(&mut broker, "small", "max.message.bytes", "100");
    assert_eq!(broker.produce("small", 0, &batch(&[&"x".repeat(100)])), Err(ErrorCode::MessageTooLarge));
    create_with(&mut broker, "fresh", "message.timestamp.before.max.ms", "1000");
    broker.pass_ms(2000);
    let old = batch(&["a", "b"]);
    let frame = broker.ask(9, &produce_request("fresh", 0, &old));
    let response: ProduceResponse<'_> = frame.read();
    let answer = &response.responses[0].partition_responses[0];
    assert_eq!(answer.error_code, ErrorCode::InvalidTimestamp);
    assert_eq!(answer.record_errors.iter().map(|e| e.batch_index).collect::<Vec<_>>(), [0, 1]);
    create_with(&mut broker, "compacted", "cleanup.policy", "compact");
    assert_eq!(broker.produce("compacted", 0, &batch(&["no key"])), Err(ErrorCode::InvalidRecord));
}

#[test]
fn a_topic_with_the_brokers_time_says_it() {
    let mut broker = Broker::start(&[]);
    create_with(&mut broker, "stamped", "message.timestamp.type", "LogAppendTime");
    broker.pass_ms(5000);
    let bytes = batch(&["a"]);
    let frame = broker.ask(9, &produce_request("stamped", 0, &bytes));
    let response: ProduceResponse<'_> = frame.read();
    assert_eq!(response.responses[0].partition_responses[0].log_append_time_ms, broker.now().wall.0);
}

#[test]
fn a_duplicate_is_acknowledged_once_more_with_the_first_offset() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let bytes = numbered_batch(4, 0, 0, &["a", "b"]);
    assert_eq!(broker.produce("t", 0, &bytes), Ok(0));
    assert_eq!(broker.produce("t", 0, &batch(&["between"])), Ok(2));
    let frame = broker.ask(9, &produce_request("t", 0, &bytes));
    let response: ProduceResponse<'_> = frame.read();
    let answer = &response.responses[0].partition_responses[0];
    assert_eq!((answer.error_code, answer.base_offset), (ErrorCode::None, 0));
    assert_eq!(answer.log_append_time_ms, START_MS, "the original's largest timestamp, as in Kafka");
    assert_eq!(broker.produce("t", 0, &batch(&["after"])), Ok(3), "nothing was written");
    broker.crash();
    assert_eq!(broker.produce("t", 0, &bytes), Ok(0), "the memory of producers survives");
}

#[test]
fn a_duplicate_of_a_batch_in_flight_waits_for_it() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    broker.disk.set_pace(Pace::Held);
    let (first, second) = (broker.connect(), broker.connect());
    let bytes = numbered_batch(4, 0, 0, &["a"]);
    broker.send(first, 9, &produce_request("t", 0, &bytes));
    broker.settle();
    broker.send(second, 9, &produce_request("t", 0, &bytes));
    broker.settle();
    assert!(broker.answer(second).is_none());
    broker.disk.complete();
    broker.settle();
    for client in [first, second] {
        let frame = broker.answer(client).expect("an answer");
        assert_eq!(frame.read::<ProduceResponse<'_>>().responses[0].partition_responses[0].base_offset, 0);
    }
}

#[test]
fn gaps_and_old_epochs() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    assert_eq!(broker.produce("t", 0, &numbered_batch(4, 1, 0, &["a"])), Ok(0));
    let gap = numbered_batch(4, 1, 2, &["c"]);
    assert_eq!(broker.produce("t", 0, &gap), Err(ErrorCode::OutOfOrderSequenceNumber));
    let old = numbered_batch(4, 0, 1, &["b"]);
    assert_eq!(broker.produce("t", 0, &old), Err(ErrorCode::InvalidProducerEpoch));
    let late_start = numbered_batch(4, 2, 1, &["b"]);
    assert_eq!(broker.produce("t", 0, &late_start), Err(ErrorCode::OutOfOrderSequenceNumber));
    assert_eq!(broker.produce("t", 0, &numbered_batch(4, 1, 1, &["b"])), Ok(1));
    assert_eq!(
        broker.produce("t", 0, &numbered_batch(9, 0, 70, &["x"])),
        Ok(2),
        "nothing is known of this one"
    );
}

#[test]
fn five_batches_in_flight_land_in_order() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let client = broker.main();
    for sequence in 0..5 {
        let bytes = numbered_batch(4, 0, sequence, &["v"]);
        broker.send(client, 9, &produce_request("t", 0, &bytes));
    }
    broker.settle();
    for expected in 0..5 {
        let frame = broker.answer(client).expect("an answer");
        let response: ProduceResponse<'_> = frame.read();
        let answer = &response.responses[0].partition_responses[0];
        assert_eq!((answer.error_code, answer.base_offset), (ErrorCode::None, expected));
    }
}

#[test]
fn a_transactional_batch_needs_a_coordinator() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 2);
    let producer = ProducerIdentity { id: ProducerId(1), epoch: ProducerEpoch(0) };
    let options = BatchOptions {
        producer: Some(producer),
        base_sequence: Some(0),
        transactional: true,
        ..BatchOptions::default()
    };
    let (open, plain) = (batch_with(options, &["a"]), batch(&["b"]));
    let mut request = produce_request("t", 0, &open);
    request.topic_data[0].partition_data.push(PartitionProduceData { index: 1, records: Some(&plain) });
    let mut codes = |request: &ProduceRequest<'_>| -> Vec<ErrorCode> {
        let frame = broker.ask(9, request);
        let response: ProduceResponse<'_> = frame.read();
        response.responses[0].partition_responses.iter().map(|p| p.error_code).collect()
    };
    assert_eq!(codes(&request), [ErrorCode::TransactionalIdAuthorizationFailed; 2], "the plain one too");
    request.transactional_id = Some("mine");
    assert_eq!(codes(&request), [ErrorCode::NotEnoughReplicas, ErrorCode::None], "there is none yet");
}

#[test]
fn a_produce_that_waits_too_long_is_told_so_and_may_still_land() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    let bytes = numbered_batch(4, 0, 0, &["a"]);
    broker.send(client, 9, &ProduceRequest { timeout_ms: 2000, ..produce_request("t", 0, &bytes) });
    broker.pass_ms(1999);
    assert!(broker.answer(client).is_none());
    broker.pass_ms(1);
    let frame = broker.answer(client).expect("an answer");
    let code = frame.read::<ProduceResponse<'_>>().responses[0].partition_responses[0].error_code;
    assert_eq!(code, ErrorCode::RequestTimedOut);
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.settle();
    assert_eq!(broker.produce("t", 0, &bytes), Ok(0), "it landed, and the second try is its duplicate");
}

#[test]
fn a_produce_without_a_timeout_waits_for_the_disk_all_the_same() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let bytes = batch(&["a"]);
    let frame = broker.ask(9, &ProduceRequest { timeout_ms: 0, ..produce_request("t", 0, &bytes) });
    assert_eq!(
        frame.read::<ProduceResponse<'_>>().responses[0].partition_responses[0].error_code,
        ErrorCode::None
    );
}
