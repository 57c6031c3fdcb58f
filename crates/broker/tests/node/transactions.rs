//! Transactions over records, by both protocols: from the first transactional id to the markers, through crashes and a full
//! disk.

use milepost_storage::{Pace, Space};
use milepost_wire::messages::delete_topics::DeleteTopicsRequest;
use milepost_wire::messages::fetch::{FetchRequest, FetchResponse};
use milepost_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic,
};
use milepost_wire::messages::produce::ProduceResponse;
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, all_versions, numbered_batch};
use crate::transacting::{
    Producer, add, committed_values, decide, end, end_request, fetch, find_coordinator, init, produce,
    produced, state, transactional_batch, transactional_produce, with_transactions,
};

#[test]
fn coordinators_come_with_the_first_transactional_id_and_their_number_stays() {
    let mut broker = Broker::start(&["transaction.state.log.num.partitions=3"]);
    assert_eq!(init(&mut broker, 4, "a"), Err(ErrorCode::NotCoordinator));
    assert_eq!(find_coordinator(&mut broker), ErrorCode::CoordinatorNotAvailable);
    assert_eq!(find_coordinator(&mut broker), ErrorCode::None);
    let first = init(&mut broker, 4, "a").expect("a producer");
    assert_eq!(first.epoch, 0);
    broker.crash();
    assert_eq!(find_coordinator(&mut broker), ErrorCode::None);
    assert_eq!(init(&mut broker, 4, "a"), Ok(Producer { epoch: 1, ..first }));
    let refused = broker.restart_with("transaction.state.log.num.partitions=4").unwrap_err();
    assert!(
        refused.contains("transaction.state.log.num.partitions is 4, but this data folder has 3"),
        "{refused}"
    );
}

#[test]
fn a_producer_starts_in_every_version_and_fences_the_one_before() {
    let mut broker = with_transactions(&[]);
    for (epoch, version) in all_versions(ApiKey::InitProducerId).enumerate() {
        let producer = init(&mut broker, version, "a").expect("a producer");
        assert_eq!(usize::try_from(producer.epoch), Ok(epoch));
        if version > 0 {
            let older = Producer { epoch: producer.epoch - 1, ..producer };
            assert_eq!(end(&mut broker, 1, older, true), Err(ErrorCode::InvalidProducerEpoch));
            assert_eq!(end(&mut broker, 2, older, true), Err(ErrorCode::ProducerFenced));
            assert_eq!(add(&mut broker, 1, older, "t", 0), ErrorCode::InvalidProducerEpoch);
            assert_eq!(add(&mut broker, 3, older, "t", 0), ErrorCode::ProducerFenced);
        }
    }
}

#[test]
fn a_transaction_of_the_first_protocol_is_seen_when_it_is_committed() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 4, "a").expect("a producer");
    let mut sequence = 0;
    let mut seen = Vec::new();
    for version in all_versions(ApiKey::EndTxn).filter(|version| *version < 5) {
        for (committed, add_version) in [(true, 0), (false, 3)] {
            assert_eq!(add(&mut broker, add_version, producer, "t", 0), ErrorCode::None);
            let value = format!("{version} {committed}");
            produce(&mut broker, 11, producer, (0, sequence), &value).expect("it was added");
            sequence += 1;
            assert_eq!(committed_values(&mut broker, 0), seen);
            assert_eq!(state(&mut broker, "a"), "Ongoing");
            assert_eq!(end(&mut broker, version, producer, committed), Ok(producer));
            if committed {
                seen.push(value);
            }
            assert_eq!(committed_values(&mut broker, 0), seen);
            assert_eq!(state(&mut broker, "a"), if committed { "CompleteCommit" } else { "CompleteAbort" });
        }
    }
}

#[test]
fn a_transaction_of_the_second_protocol_adds_partitions_by_itself_and_has_an_epoch_of_its_own() {
    let mut broker = with_transactions(&[]);
    let mut producer = init(&mut broker, 5, "a").expect("a producer");
    for round in 0..3 {
        for index in [0, 1] {
            produce(&mut broker, 12, producer, (index, 0), &format!("{round}a")).expect("it is added");
            produce(&mut broker, 12, producer, (index, 1), &format!("{round}b")).expect("it is open");
        }
        let next = end(&mut broker, 5, producer, round != 1).expect("it ends");
        assert_eq!(next, Producer { epoch: producer.epoch + 1, ..producer });
        let late = produce(&mut broker, 12, producer, (0, 2), "late");
        assert_eq!(late, Err(ErrorCode::InvalidProducerEpoch), "of an epoch that is over");
        producer = next;
    }
    for index in [0, 1] {
        assert_eq!(committed_values(&mut broker, index), ["0a", "0b", "2a", "2b"]);
    }
    // Who did not hear the answer asks again and is told the same.
    let before = Producer { epoch: producer.epoch - 1, ..producer };
    assert_eq!(end(&mut broker, 5, before, true), Ok(producer));
    assert_eq!(end(&mut broker, 5, before, false), Err(ErrorCode::InvalidTxnState));
}

#[test]
fn what_was_not_added_is_refused() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 4, "a").expect("a producer");
    assert_eq!(produce(&mut broker, 11, producer, (0, 0), "x"), Err(ErrorCode::TransactionAbortable));
    assert_eq!(produce(&mut broker, 10, producer, (0, 0), "x"), Err(ErrorCode::InvalidTxnState));
    let stranger = Producer { id: producer.id + 1, ..producer };
    assert_eq!(produce(&mut broker, 11, stranger, (0, 0), "x"), Err(ErrorCode::InvalidProducerIdMapping));
    let newer = Producer { epoch: 1, ..producer };
    assert_eq!(produce(&mut broker, 11, newer, (0, 0), "x"), Err(ErrorCode::InvalidProducerEpoch));
    // The second protocol begins with the number 0 where nothing is known.
    assert_eq!(produce(&mut broker, 12, producer, (0, 5), "x"), Err(ErrorCode::OutOfOrderSequenceNumber));
    assert_eq!(committed_values(&mut broker, 0), Vec::<String>::new());
    // What belongs to no transaction does not come between.
    produce(&mut broker, 12, producer, (0, 0), "x").expect("it is added");
    let plain = numbered_batch(producer.id, producer.epoch, 1, &["y"]);
    assert_eq!(broker.produce("t", 0, &plain), Err(ErrorCode::InvalidTxnState));
    assert_eq!(add(&mut broker, 3, producer, "__consumer_offsets", 0), ErrorCode::TopicAuthorizationFailed);
    assert_eq!(add(&mut broker, 3, producer, "none", 0), ErrorCode::UnknownTopicOrPartition);
}

#[test]
fn verification_can_be_switched_off_for_the_first_protocol() {
    let mut broker = with_transactions(&["transaction.partition.verification.enable=false"]);
    let producer = init(&mut broker, 4, "a").expect("a producer");
    assert_eq!(produce(&mut broker, 11, producer, (0, 0), "x"), Ok(0));
}

#[test]
fn a_request_names_its_transactional_id_and_one_producer() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 4, "a").expect("a producer");
    let (one, other) = (
        transactional_batch(producer, 0, &["x"]),
        transactional_batch(Producer { epoch: 1, ..producer }, 0, &["x"]),
    );
    let mut request = transactional_produce(producer, "t", 0, &one);
    request.topic_data.extend(transactional_produce(producer, "t", 1, &other).topic_data);
    let codes = |frame: &crate::harness::Frame| -> Vec<ErrorCode> {
        let response: ProduceResponse<'_> = frame.read();
        response.responses.iter().map(|topic| topic.partition_responses[0].error_code).collect()
    };
    assert_eq!(codes(&broker.ask(9, &request)), [ErrorCode::InvalidProducerIdMapping; 2]);
    request.transactional_id = None;
    assert_eq!(codes(&broker.ask(9, &request)), [ErrorCode::TransactionalIdAuthorizationFailed; 2]);
}

#[test]
fn what_comes_behind_an_unverified_produce_does_not_overtake_it() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    let (first, second) =
        (transactional_batch(producer, 0, &["x"]), transactional_batch(producer, 1, &["y"]));
    broker.send(client, 12, &transactional_produce(producer, "t", 0, &first));
    assert!(!broker.accepts_more(client), "it waits for its partition to be added");
    broker.settle();
    assert!(!broker.accepts_more(client));
    broker.disk.complete();
    broker.settle();
    assert!(broker.accepts_more(client), "it is appended");
    broker.send(client, 12, &transactional_produce(producer, "t", 0, &second));
    assert!(broker.accepts_more(client), "the transaction is open there");
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.settle();
    for offset in [0, 1] {
        let frame = broker.answer(client).expect("an answer");
        assert_eq!(produced(&frame.read()), Ok(offset));
    }
}

#[test]
fn a_produce_waits_for_the_markers_of_the_last_transaction_but_not_long() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, producer, (0, 0), "x").expect("it is added");
    let next = decide(&mut broker, producer, true);
    let client = broker.main();
    let bytes = transactional_batch(next, 0, &["y"]);
    let request = transactional_produce(next, "t", 0, &bytes);
    broker.send(client, 12, &request);
    broker.settle();
    assert!(broker.answer(client).is_none() && !broker.accepts_more(client));
    broker.pass_ms(100);
    let frame = broker.answer(client).expect("it gave up");
    assert_eq!(produced(&frame.read()), Err(ErrorCode::ConcurrentTransactions));
    assert!(broker.accepts_more(client));

    broker.send(client, 12, &request);
    broker.settle();
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.settle();
    let frame = broker.answer(client).expect("the markers are there");
    assert_eq!(produced(&frame.read()), Ok(2), "behind the marker");
}

#[test]
fn a_waiting_reader_of_committed_records_is_woken_by_the_marker() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, producer, (0, 0), "x").expect("it is added");
    let reader = broker.connect();
    let patient = FetchRequest { max_wait_ms: 500, min_bytes: 1, ..fetch("t", 0, 0, 1) };
    broker.send(reader, 11, &patient);
    broker.settle();
    assert!(broker.answer(reader).is_none());
    let frame = broker.ask(11, &fetch("t", 0, 0, 0));
    let response: FetchResponse<'_> = frame.read();
    let data = &response.responses[0].partitions[0];
    assert_eq!((data.high_watermark, data.last_stable_offset), (1, 0));
    assert!(data.records.is_some_and(|records| !records.is_empty()), "others see it");
    assert_eq!(data.aborted_transactions, None);
    end(&mut broker, 5, producer, true).expect("it ends");
    let frame = broker.answer(reader).expect("it was woken");
    let response: FetchResponse<'_> = frame.read();
    assert_eq!(response.responses[0].partitions[0].last_stable_offset, 2);
}

#[test]
fn the_end_of_a_partition_depends_on_who_asks() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, producer, (0, 0), "x").expect("it is added");
    let mut latest = |isolation_level| {
        let partition = ListOffsetsPartition { timestamp: -1, ..ListOffsetsPartition::default() };
        let request = ListOffsetsRequest {
            isolation_level,
            topics: vec![ListOffsetsTopic { name: "t", partitions: vec![partition] }],
            ..ListOffsetsRequest::default()
        };
        let frame = broker.ask(6, &request);
        frame.read::<ListOffsetsResponse<'_>>().topics[0].partitions[0].offset
    };
    assert_eq!((latest(0), latest(1)), (1, 0));
}

#[test]
fn a_new_producer_aborts_what_the_one_before_left_open() {
    let mut broker = with_transactions(&[]);
    let old = init(&mut broker, 4, "a").expect("a producer");
    assert_eq!(add(&mut broker, 3, old, "t", 0), ErrorCode::None);
    produce(&mut broker, 11, old, (0, 0), "x").expect("it was added");
    assert_eq!(init(&mut broker, 4, "a"), Err(ErrorCode::ConcurrentTransactions));
    let new = init(&mut broker, 4, "a").expect("the abort is complete");
    assert_eq!(state(&mut broker, "a"), "Empty");
    assert_eq!(produce(&mut broker, 11, old, (0, 1), "y"), Err(ErrorCode::InvalidProducerEpoch));
    assert_eq!(end(&mut broker, 4, old, true), Err(ErrorCode::ProducerFenced));
    produce(&mut broker, 12, new, (0, 0), "z").expect("it is added");
    end(&mut broker, 4, new, true).expect("it ends");
    assert_eq!(committed_values(&mut broker, 0), ["z"]);
}

#[test]
fn a_transaction_that_takes_too_long_is_aborted() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, producer, (0, 0), "x").expect("it is added");
    for _ in 0..8 {
        broker.pass_ms(10_000);
    }
    assert_eq!(state(&mut broker, "a"), "CompleteAbort");
    assert_eq!(end(&mut broker, 4, producer, true), Err(ErrorCode::ProducerFenced));
    assert_eq!(committed_values(&mut broker, 0), Vec::<String>::new());
}

#[test]
fn a_decision_outlives_a_crash_before_its_markers() {
    for committed in [true, false] {
        let mut broker = with_transactions(&[]);
        let producer = init(&mut broker, 5, "a").expect("a producer");
        for index in [0, 1] {
            produce(&mut broker, 12, producer, (index, 0), "x").expect("it is added");
        }
        decide(&mut broker, producer, committed);
        broker.disk.set_pace(Pace::AtOnce);
        broker.crash();
        let seen = if committed { vec!["x"] } else { Vec::new() };
        assert_eq!(committed_values(&mut broker, 0), seen);
        assert_eq!(committed_values(&mut broker, 1), seen);
        assert_eq!(state(&mut broker, "a"), if committed { "CompleteCommit" } else { "CompleteAbort" });
    }
}

#[test]
fn an_open_transaction_outlives_a_crash() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, producer, (0, 0), "x").expect("it is added");
    broker.crash();
    assert_eq!(state(&mut broker, "a"), "Ongoing");
    produce(&mut broker, 12, producer, (0, 1), "y").expect("it is open");
    end(&mut broker, 5, producer, true).expect("it ends");
    assert_eq!(committed_values(&mut broker, 0), ["x", "y"]);
}

#[test]
fn markers_wait_for_room_on_the_disk_and_are_written_then() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, producer, (0, 0), "x").expect("it is added");
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    broker.send(client, 5, &end_request(producer, true));
    broker.settle();
    broker.disk.set_space(Space::Full);
    broker.disk.complete();
    broker.settle();
    assert!(broker.answer(client).is_some(), "it was decided before the disk was full");
    broker.disk.set_pace(Pace::AtOnce);
    for _ in 0..5 {
        broker.pass_ms(1_000);
    }
    assert_eq!(committed_values(&mut broker, 0), Vec::<String>::new());
    broker.set_space(Space::Ready);
    for _ in 0..10 {
        broker.pass_ms(1_000);
    }
    assert_eq!(committed_values(&mut broker, 0), ["x"]);
    assert_eq!(state(&mut broker, "a"), "CompleteCommit");
}

#[test]
fn a_topic_that_is_deleted_keeps_no_transaction_from_its_end() {
    let mut broker = with_transactions(&[]);
    broker.create_topic("gone", 1);
    let producer = init(&mut broker, 4, "a").expect("a producer");
    for topic in ["t", "gone"] {
        assert_eq!(add(&mut broker, 3, producer, topic, 0), ErrorCode::None);
    }
    broker.ask(1, &DeleteTopicsRequest { topic_names: vec!["gone"], ..DeleteTopicsRequest::default() });
    end(&mut broker, 4, producer, true).expect("it ends");
    assert_eq!(state(&mut broker, "a"), "CompleteCommit");
}

#[test]
fn internal_topics_take_no_transaction_that_no_coordinator_knows() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 4, "a").expect("a producer");
    let bytes = transactional_batch(producer, 0, &["x"]);
    let client = broker.main();
    let code = |broker: &mut Broker, client_id| {
        let request = transactional_produce(producer, "__consumer_offsets", 0, &bytes);
        broker.send_as(client, client_id, 11, &request);
        broker.settle();
        produced(&broker.answer(client).expect("an answer").read())
    };
    assert_eq!(code(&mut broker, "test"), Err(ErrorCode::InvalidTopicException));
    assert_eq!(code(&mut broker, "__admin_client"), Err(ErrorCode::TransactionAbortable));
}

#[test]
fn a_topic_that_is_deleted_while_a_produce_waits_for_it_refuses_it() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    let (client, admin) = (broker.connect(), broker.connect());
    let bytes = transactional_batch(producer, 0, &["x"]);
    broker.disk.set_pace(Pace::Held);
    broker.send(admin, 1, &DeleteTopicsRequest { topic_names: vec!["t"], ..DeleteTopicsRequest::default() });
    broker.send(client, 12, &transactional_produce(producer, "t", 0, &bytes));
    broker.settle();
    assert!(broker.answer(client).is_none());
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.settle();
    let frame = broker.answer(client).expect("an answer");
    assert_eq!(produced(&frame.read()), Err(ErrorCode::UnknownTopicOrPartition));
    end(&mut broker, 5, producer, true).expect("it ends");
    assert_eq!(state(&mut broker, "a"), "CompleteCommit");
}

#[test]
fn who_goes_while_its_produce_waits_keeps_nobody_waiting() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    let client = broker.connect();
    let bytes = transactional_batch(producer, 0, &["x"]);
    broker.disk.set_pace(Pace::Held);
    broker.send(client, 12, &transactional_produce(producer, "t", 0, &bytes));
    broker.settle();
    broker.disconnect(client);
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.settle();
    assert_eq!(state(&mut broker, "a"), "Ongoing");
    assert_eq!(produce(&mut broker, 12, producer, (0, 0), "x"), Ok(0), "it was written, and is known again");
    end(&mut broker, 5, producer, true).expect("it ends");
    assert_eq!(committed_values(&mut broker, 0), ["x"]);
}

#[test]
fn a_stop_answers_who_waits() {
    let mut broker = with_transactions(&[]);
    let producer = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, producer, (0, 0), "x").expect("it is added");
    broker.stop();
    broker.start_again();
    end(&mut broker, 5, producer, true).expect("it ends");
    assert_eq!(committed_values(&mut broker, 0), ["x"]);
}
