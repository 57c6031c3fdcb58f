//! What administrators and other brokers ask about transactions.

use milepost_storage::Pace;
use milepost_wire::messages::add_partitions_to_txn::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
};
use milepost_wire::messages::describe_producers::{
    DescribeProducersRequest, DescribeProducersResponse, TopicRequest,
};
use milepost_wire::messages::describe_transactions::{
    DescribeTransactionsRequest, DescribeTransactionsResponse,
};
use milepost_wire::messages::list_transactions::{ListTransactionsRequest, ListTransactionsResponse};
use milepost_wire::messages::write_txn_markers::{
    WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest, WriteTxnMarkersResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, all_versions};
use crate::transacting::{Producer, committed_values, end, init, produce, with_transactions};

fn listed(broker: &mut Broker, version: i16, request: &ListTransactionsRequest<'_>) -> Vec<(String, String)> {
    let frame = broker.ask(version, request);
    let response: ListTransactionsResponse<'_> = frame.read();
    assert_eq!(response.error_code, ErrorCode::None);
    let states = response.transaction_states.iter();
    let mut listed: Vec<_> =
        states.map(|state| (state.transactional_id.to_owned(), state.transaction_state.to_owned())).collect();
    listed.sort();
    listed
}

#[test]
fn transactions_are_listed_by_state_producer_age_and_name() {
    let mut broker = with_transactions(&[]);
    let a = init(&mut broker, 5, "a-1").expect("a producer");
    init(&mut broker, 5, "b-1").expect("a producer");
    produce(&mut broker, 12, a, (0, 0), "x").expect("it is added");
    let (open, empty) = (("a-1".to_owned(), "Ongoing".to_owned()), ("b-1".to_owned(), "Empty".to_owned()));
    let all = ListTransactionsRequest::default();
    for version in all_versions(ApiKey::ListTransactions) {
        assert_eq!(listed(&mut broker, version, &all), [open.clone(), empty.clone()]);
    }
    let of_state = ListTransactionsRequest { state_filters: vec!["Ongoing"], ..all.clone() };
    assert_eq!(listed(&mut broker, 0, &of_state), std::slice::from_ref(&open));
    let of_producer = ListTransactionsRequest { producer_id_filters: vec![a.id], ..all.clone() };
    assert_eq!(listed(&mut broker, 0, &of_producer), std::slice::from_ref(&open));
    let old = ListTransactionsRequest { duration_filter: 1_000, ..all.clone() };
    assert_eq!(
        listed(&mut broker, 1, &old),
        std::slice::from_ref(&empty),
        "what never began is older than all"
    );
    let named = ListTransactionsRequest { transactional_id_pattern: Some("b-.*"), ..all.clone() };
    assert_eq!(listed(&mut broker, 2, &named), [empty]);
    let half = ListTransactionsRequest { transactional_id_pattern: Some("b"), ..all.clone() };
    assert_eq!(listed(&mut broker, 2, &half), [], "the whole name must match");

    let frame =
        broker.ask(2, &ListTransactionsRequest { transactional_id_pattern: Some("("), ..all.clone() });
    let response: ListTransactionsResponse<'_> = frame.read();
    assert_eq!(response.error_code, ErrorCode::InvalidRegularExpression);
    let frame = broker.ask(0, &ListTransactionsRequest { state_filters: vec!["Asleep", "Dead"], ..all });
    let response: ListTransactionsResponse<'_> = frame.read();
    assert_eq!(response.unknown_state_filters, ["Asleep"]);
    assert!(response.transaction_states.is_empty());
}

#[test]
fn without_transactions_there_is_nothing_to_list_and_no_coordinator_to_describe() {
    let mut broker = Broker::start(&[]);
    assert_eq!(listed(&mut broker, 2, &ListTransactionsRequest::default()), []);
    let frame = broker.ask(0, &DescribeTransactionsRequest { transactional_ids: vec!["a"] });
    let response: DescribeTransactionsResponse<'_> = frame.read();
    assert_eq!(response.transaction_states[0].error_code, ErrorCode::NotCoordinator);
}

#[test]
fn a_transaction_is_described() {
    let mut broker = with_transactions(&[]);
    let a = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, a, (1, 0), "x").expect("it is added");
    let frame = broker.ask(0, &DescribeTransactionsRequest { transactional_ids: vec!["a", "none", "", "a"] });
    let response: DescribeTransactionsResponse<'_> = frame.read();
    let codes: Vec<_> = response.transaction_states.iter().map(|state| state.error_code).collect();
    assert_eq!(codes, [ErrorCode::None, ErrorCode::TransactionalIdNotFound, ErrorCode::InvalidRequest]);
    let state = &response.transaction_states[0];
    assert_eq!((state.transaction_state, state.transaction_timeout_ms), ("Ongoing", 60_000));
    assert_eq!((state.producer_id, state.producer_epoch), (a.id, a.epoch));
    assert_eq!(state.transaction_start_time_ms, crate::harness::START_MS);
    assert_eq!((state.topics[0].topic, &state.topics[0].partitions[..]), ("t", &[1][..]));
}

fn producers(broker: &mut Broker) -> Vec<(i64, i32, i64)> {
    let topics = vec![TopicRequest { name: "t", partition_indexes: vec![0] }];
    let frame = broker.ask(0, &DescribeProducersRequest { topics });
    let response: DescribeProducersResponse<'_> = frame.read();
    let active = &response.topics[0].partitions[0].active_producers;
    active.iter().map(|one| (one.producer_id, one.coordinator_epoch, one.current_txn_start_offset)).collect()
}

fn marker(producer: Producer, topic: &str, version: i8) -> WriteTxnMarkersRequest<'_> {
    WriteTxnMarkersRequest {
        markers: vec![WritableTxnMarker {
            producer_id: producer.id,
            producer_epoch: producer.epoch,
            transaction_result: false,
            topics: vec![WritableTxnMarkerTopic { name: topic, partition_indexes: vec![0] }],
            coordinator_epoch: 5,
            transaction_version: version,
        }],
    }
}

fn marker_code(broker: &mut Broker, version: i16, request: &WriteTxnMarkersRequest<'_>) -> ErrorCode {
    let frame = broker.ask(version, request);
    frame.read::<WriteTxnMarkersResponse<'_>>().markers[0].topics[0].partitions[0].error_code
}

#[test]
fn a_transaction_that_hangs_is_found_and_ended() {
    let mut broker = with_transactions(&[]);
    let a = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, a, (0, 0), "x").expect("it is added");
    assert_eq!(producers(&mut broker), [(a.id, -1, 0)]);
    broker.disk.set_pace(Pace::Held);
    let client = broker.main();
    broker.send(client, 1, &marker(a, "t", 0));
    broker.settle();
    assert!(broker.answer(client).is_none(), "it is not durable");
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.settle();
    let frame = broker.answer(client).expect("it is durable");
    let response: WriteTxnMarkersResponse<'_> = frame.read();
    assert_eq!(response.markers[0].producer_id, a.id);
    assert_eq!(response.markers[0].topics[0].partitions[0].error_code, ErrorCode::None);
    assert_eq!(producers(&mut broker), [(a.id, 5, -1)]);
    assert_eq!(committed_values(&mut broker, 0), Vec::<String>::new());

    assert_eq!(marker_code(&mut broker, 2, &marker(a, "t", 0)), ErrorCode::None, "twice is harmless");
    assert_eq!(marker_code(&mut broker, 2, &marker(a, "none", 0)), ErrorCode::UnknownTopicOrPartition);
    let mut older = marker(a, "t", 0);
    older.markers[0].coordinator_epoch = 4;
    assert_eq!(marker_code(&mut broker, 1, &older), ErrorCode::TransactionCoordinatorFenced);
}

#[test]
fn a_marker_by_hand_does_not_keep_later_transactions_open() {
    let mut broker = with_transactions(&[]);
    let a = init(&mut broker, 5, "a").expect("a producer");
    let mut from_the_future = marker(a, "t", 0);
    from_the_future.markers[0].coordinator_epoch = i32::MAX;
    assert_eq!(marker_code(&mut broker, 1, &from_the_future), ErrorCode::None);
    produce(&mut broker, 12, a, (0, 0), "x").expect("it is added");
    end(&mut broker, 5, a, true).expect("it ends");
    assert_eq!(producers(&mut broker), [(a.id, i32::MAX, -1)], "it is over in the partition too");
    assert_eq!(committed_values(&mut broker, 0), ["x"]);
}

#[test]
fn a_marker_in_the_topic_of_transactions_costs_no_producer_its_coordinator() {
    let mut broker = with_transactions(&[]);
    let a = init(&mut broker, 5, "a").expect("a producer");
    let mut stray = marker(a, "__transaction_state", 0);
    stray.markers[0].topics[0].partition_indexes = vec![0, 1, 2];
    broker.ask(1, &stray);
    produce(&mut broker, 12, a, (0, 0), "x").expect("it is added");
    end(&mut broker, 5, a, true).expect("it ends");
    assert_eq!(committed_values(&mut broker, 0), ["x"]);
    broker.crash();
    init(&mut broker, 5, "a").expect("it is understood at the next start");
}

#[test]
fn a_marker_of_no_producer_is_not_written() {
    let mut broker = with_transactions(&[]);
    let a = init(&mut broker, 5, "a").expect("a producer");
    produce(&mut broker, 12, a, (0, 0), "x").expect("it is added");
    for (id, epoch) in [(-1, 0), (a.id, -1), (i64::MIN, i16::MIN)] {
        let mut of_nobody = marker(a, "t", 0);
        of_nobody.markers[0].producer_id = id;
        of_nobody.markers[0].producer_epoch = epoch;
        assert_eq!(marker_code(&mut broker, 1, &of_nobody), ErrorCode::InvalidRequest);
    }
    assert_eq!(producers(&mut broker), [(a.id, -1, 0)], "nothing else was written");
}

#[test]
fn brokers_ask_for_several_transactions_at_once() {
    let mut broker = with_transactions(&[]);
    let a = init(&mut broker, 5, "a").expect("a producer");
    let b = init(&mut broker, 5, "b").expect("a producer");
    let one = |producer: Producer, verify_only, name, partitions| AddPartitionsToTxnTransaction {
        transactional_id: producer.transactional_id,
        producer_id: producer.id,
        producer_epoch: producer.epoch,
        verify_only,
        topics: vec![AddPartitionsToTxnTopic { name, partitions }],
    };
    let mut codes = |version, transactions| -> Vec<Vec<ErrorCode>> {
        let request = AddPartitionsToTxnRequest { transactions, ..AddPartitionsToTxnRequest::default() };
        let frame = broker.ask(version, &request);
        let response: AddPartitionsToTxnResponse<'_> = frame.read();
        let of = |result: &milepost_wire::messages::add_partitions_to_txn::AddPartitionsToTxnResult<'_>| {
            let partitions = &result.topic_results[0].results_by_partition;
            partitions.iter().map(|partition| partition.partition_error_code).collect()
        };
        response.results_by_transaction.iter().map(of).collect()
    };
    let ok = ErrorCode::None;
    for version in [4, 5] {
        assert_eq!(
            codes(version, vec![one(a, false, "t", vec![0]), one(b, false, "t", vec![0, 9])]),
            [vec![ok], vec![ErrorCode::OperationNotAttempted, ErrorCode::UnknownTopicOrPartition]]
        );
        assert_eq!(
            codes(version, vec![one(a, true, "t", vec![0, 1]), one(b, true, "t", vec![0])]),
            [vec![ok, ErrorCode::TransactionAbortable], vec![ErrorCode::TransactionAbortable]]
        );
    }
}
