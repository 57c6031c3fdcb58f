//! Fetch in sessions.

use milepost_model::TopicId;
use milepost_storage::Pace;
use milepost_wire::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic,
};
use milepost_wire::messages::delete_topics::DeleteTopicsRequest;
use milepost_wire::messages::fetch::{
    FetchPartition, FetchRequest, FetchResponse, FetchTopic, ForgottenTopic,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::harness::{Broker, Client, Frame, all_versions, batch};

const FULL: i32 = 0;
const SESSIONLESS: i32 = -1;
const NO_SESSION: i32 = 0;

fn partition(index: i32, offset: i64) -> FetchPartition {
    FetchPartition {
        partition: index,
        fetch_offset: offset,
        partition_max_bytes: 1 << 20,
        ..FetchPartition::default()
    }
}

fn fetch(session_id: i32, session_epoch: i32, partitions: Vec<FetchPartition>) -> FetchRequest<'static> {
    let topics = if partitions.is_empty() {
        Vec::new()
    } else {
        vec![FetchTopic { topic: "t", partitions, ..FetchTopic::default() }]
    };
    FetchRequest { session_id, session_epoch, topics, max_bytes: 1 << 20, ..FetchRequest::default() }
}

fn forget(partitions: Vec<i32>) -> Vec<ForgottenTopic<'static>> {
    vec![ForgottenTopic { topic: "t", partitions, ..ForgottenTopic::default() }]
}

/// Code, session, and the partitions named with their codes and whether they carry records.
type Answer = (ErrorCode, i32, Vec<(i32, ErrorCode, bool)>);

fn read(frame: &Frame) -> Answer {
    let response: FetchResponse<'_> = frame.read();
    let partitions = response.responses.iter().flat_map(|topic| &topic.partitions);
    let named = partitions.map(|partition| {
        let has_records = partition.records.is_some_and(|records| !records.is_empty());
        (partition.partition_index, partition.error_code, has_records)
    });
    (response.error_code, response.session_id, named.collect())
}

fn ask(broker: &mut Broker, request: &FetchRequest<'_>) -> Answer {
    let frame = broker.ask(12, request);
    read(&frame)
}

/// t with three partitions, of which 0 has two batches of one record.
fn with_topic(settings: &[&str]) -> Broker {
    let mut broker = Broker::start(settings);
    broker.create_topic("t", 3);
    for value in ["a", "b"] {
        broker.produce("t", 0, &batch(&[value])).expect("a good batch");
    }
    broker
}

fn begin(broker: &mut Broker) -> i32 {
    let all = vec![partition(0, 2), partition(1, 0), partition(2, 0)];
    let (code, id, named) = ask(broker, &fetch(NO_SESSION, FULL, all));
    assert_eq!((code, named.len()), (ErrorCode::None, 3), "the first answer is full");
    assert!(id > 0);
    id
}

const QUIET: (ErrorCode, bool) = (ErrorCode::None, false);
const RECORDS: (ErrorCode, bool) = (ErrorCode::None, true);

fn named(expected: &[(i32, (ErrorCode, bool))]) -> Vec<(i32, ErrorCode, bool)> {
    expected.iter().map(|(index, (code, has_records))| (*index, *code, *has_records)).collect()
}

#[test]
fn an_answer_names_only_what_is_new_in_every_version_with_sessions() {
    for version in all_versions(ApiKey::Fetch).filter(|version| *version >= 7) {
        let mut broker = Broker::start(&[]);
        let topic_id = broker.create_topic("t", 3);
        let with_id = |mut request: FetchRequest<'static>| {
            for topic in &mut request.topics {
                topic.topic_id = topic_id;
            }
            request
        };
        let all = vec![partition(0, 0), partition(1, 0), partition(2, 0)];
        let (_, id, first) = read(&broker.ask(version, &with_id(fetch(NO_SESSION, FULL, all))));
        assert_eq!(first, named(&[(0, QUIET), (1, QUIET), (2, QUIET)]));
        broker.produce("t", 1, &batch(&["c"])).expect("a good batch");
        let answer = read(&broker.ask(version, &fetch(id, 1, Vec::new())));
        assert_eq!(answer, (ErrorCode::None, id, named(&[(1, RECORDS)])), "version {version}");
        let goes_on = with_id(fetch(id, 2, vec![partition(1, 1)]));
        assert_eq!(read(&broker.ask(version, &goes_on)), (ErrorCode::None, id, Vec::new()));
    }
}

#[test]
fn partitions_join_move_and_leave() {
    let mut broker = with_topic(&[]);
    let (_, id, _) = ask(&mut broker, &fetch(NO_SESSION, FULL, vec![partition(1, 0)]));
    let joined = ask(&mut broker, &fetch(id, 1, vec![partition(0, 0), partition(2, 0)]));
    assert_eq!(joined.2, named(&[(0, RECORDS), (2, QUIET)]), "who joins is named once in any case");
    assert_eq!(ask(&mut broker, &fetch(id, 2, vec![partition(0, 2)])).2, []);
    broker.produce("t", 2, &batch(&["c"])).expect("a good batch");
    let without = FetchRequest { forgotten_topics_data: forget(vec![2]), ..fetch(id, 3, Vec::new()) };
    assert_eq!(ask(&mut broker, &without).2, [], "it left");
    let last = FetchRequest { forgotten_topics_data: forget(vec![0, 1]), ..fetch(id, 4, Vec::new()) };
    assert_eq!(ask(&mut broker, &last), (ErrorCode::None, NO_SESSION, Vec::new()), "nothing is left");
    assert_eq!(ask(&mut broker, &fetch(id, 5, Vec::new())).0, ErrorCode::FetchSessionIdNotFound);
}

#[test]
fn whoever_gave_records_is_read_last_the_next_time() {
    let mut broker = with_topic(&[]);
    let id = begin(&mut broker);
    for index in 0..3 {
        broker.produce("t", index, &batch(&["c"])).expect("a good batch");
    }
    let small = FetchRequest { max_bytes: 1, ..fetch(id, 1, Vec::new()) };
    assert_eq!(ask(&mut broker, &small).2, named(&[(0, RECORDS), (1, QUIET), (2, QUIET)]));
    let small = FetchRequest { max_bytes: 1, ..fetch(id, 2, Vec::new()) };
    assert_eq!(ask(&mut broker, &small).2, named(&[(1, RECORDS)]), "0 waits for its turn");
    let small = FetchRequest { max_bytes: 1, ..fetch(id, 3, Vec::new()) };
    assert_eq!(ask(&mut broker, &small).2, named(&[(2, RECORDS)]));
}

#[test]
fn errors_are_said_every_time_and_news_of_the_beginning_once() {
    let mut broker = with_topic(&[]);
    let id = begin(&mut broker);
    let out_of_range = (ErrorCode::OffsetOutOfRange, false);
    let bad = ask(&mut broker, &fetch(id, 1, vec![partition(1, 99)]));
    assert_eq!(bad.2, named(&[(1, out_of_range)]));
    assert_eq!(ask(&mut broker, &fetch(id, 2, Vec::new())).2, named(&[(1, out_of_range)]));
    let well_again = ask(&mut broker, &fetch(id, 3, vec![partition(1, 0)]));
    assert_eq!(well_again.2, named(&[(1, QUIET)]));
    assert_eq!(ask(&mut broker, &fetch(id, 4, Vec::new())).2, []);
    let partitions = vec![DeleteRecordsPartition { partition_index: 0, offset: 1 }];
    let topics = vec![DeleteRecordsTopic { name: "t", partitions }];
    broker.ask(2, &DeleteRecordsRequest { topics, timeout_ms: 1000 });
    assert_eq!(ask(&mut broker, &fetch(id, 5, Vec::new())).2, named(&[(0, QUIET)]));
    assert_eq!(ask(&mut broker, &fetch(id, 6, Vec::new())).2, []);
    broker.ask(5, &DeleteTopicsRequest { topic_names: vec!["t"], ..DeleteTopicsRequest::default() });
    let gone = (ErrorCode::UnknownTopicOrPartition, false);
    let answer = ask(&mut broker, &fetch(id, 7, Vec::new()));
    assert_eq!(answer.2, named(&[(0, gone), (1, gone), (2, gone)]));
}

#[test]
fn what_is_refused() {
    let mut broker = with_topic(&[]);
    let id = begin(&mut broker);
    let refused = |code| (code, NO_SESSION, Vec::new());
    let unknown = ask(&mut broker, &fetch(id ^ 1, 1, Vec::new()));
    assert_eq!(unknown, refused(ErrorCode::FetchSessionIdNotFound));
    let early = ask(&mut broker, &fetch(id, 2, Vec::new()));
    assert_eq!(early, refused(ErrorCode::InvalidFetchSessionEpoch));
    let by_id = read(&broker.ask(13, &fetch(id, 1, Vec::new())));
    assert_eq!(by_id, refused(ErrorCode::FetchSessionTopicIdError));
    assert_eq!(ask(&mut broker, &fetch(id, 1, Vec::new())).0, ErrorCode::None, "none of it hurt the session");
    assert_eq!(ask(&mut broker, &fetch(id, 1, Vec::new())).0, ErrorCode::InvalidFetchSessionEpoch, "again");
    // A restart forgets all sessions.
    broker.kill();
    assert_eq!(ask(&mut broker, &fetch(id, 2, Vec::new())).0, ErrorCode::FetchSessionIdNotFound);
}

#[test]
fn a_full_fetch_closes_the_session_it_names() {
    for epoch in [FULL, SESSIONLESS] {
        let mut broker = with_topic(&[]);
        let id = begin(&mut broker);
        let (code, other, _) = ask(&mut broker, &fetch(id, epoch, vec![partition(1, 0)]));
        assert_eq!((code, other == NO_SESSION), (ErrorCode::None, epoch == SESSIONLESS));
        assert_ne!(other, id);
        assert_eq!(ask(&mut broker, &fetch(id, 1, Vec::new())).0, ErrorCode::FetchSessionIdNotFound);
    }
}

fn patient(id: i32, epoch: i32) -> FetchRequest<'static> {
    FetchRequest { max_wait_ms: 500, min_bytes: 1, ..fetch(id, epoch, Vec::new()) }
}

fn sent(broker: &mut Broker, request: &FetchRequest<'_>) -> Client {
    let client = broker.connect();
    broker.send(client, 12, request);
    broker.settle();
    client
}

#[test]
fn a_session_waits_for_all_its_partitions() {
    let mut broker = with_topic(&[]);
    let id = begin(&mut broker);
    let client = sent(&mut broker, &patient(id, 1));
    assert!(broker.answer(client).is_none());
    broker.produce("t", 2, &batch(&["c"])).expect("a good batch");
    let frame = broker.answer(client).expect("something came");
    assert_eq!(read(&frame), (ErrorCode::None, id, named(&[(2, RECORDS)])));
    let request = FetchRequest { topics: fetch(id, 2, vec![partition(2, 1)]).topics, ..patient(id, 2) };
    let client = sent(&mut broker, &request);
    broker.pass_ms(500);
    let frame = broker.answer(client).expect("its time is up");
    assert_eq!(read(&frame), (ErrorCode::None, id, Vec::new()));
}

#[test]
fn whoever_is_overtaken_in_a_session_hears_so_at_once() {
    let mut broker = with_topic(&[]);
    let id = begin(&mut broker);
    let first = sent(&mut broker, &patient(id, 1));
    let second = sent(&mut broker, &patient(id, 2));
    let frame = broker.answer(first).expect("overtaken");
    assert_eq!(read(&frame), (ErrorCode::InvalidFetchSessionEpoch, id, Vec::new()));
    assert!(broker.answer(second).is_none(), "it waits");
    let closing = sent(&mut broker, &fetch(id, SESSIONLESS, Vec::new()));
    assert_eq!(read(&broker.answer(closing).expect("an empty answer")).0, ErrorCode::None);
    let frame = broker.answer(second).expect("its session is gone");
    assert_eq!(read(&frame).0, ErrorCode::InvalidFetchSessionEpoch);
}

#[test]
fn a_session_outlives_its_connection() {
    let mut broker = with_topic(&[]);
    let id = begin(&mut broker);
    let client = sent(&mut broker, &patient(id, 1));
    broker.disconnect(client);
    broker.produce("t", 2, &batch(&["c"])).expect("a good batch");
    let answer = ask(&mut broker, &fetch(id, 2, Vec::new()));
    assert_eq!(answer, (ErrorCode::None, id, named(&[(2, RECORDS)])));
}

#[test]
fn without_a_slot_every_answer_is_full() {
    let mut broker = with_topic(&["max.incremental.fetch.session.cache.slots=1"]);
    let id = begin(&mut broker);
    let all = || vec![partition(0, 2), partition(1, 0)];
    assert_eq!(ask(&mut broker, &fetch(NO_SESSION, FULL, all())).1, NO_SESSION, "the slot is taken");
    assert_eq!(ask(&mut broker, &fetch(id, 1, Vec::new())).0, ErrorCode::None);
    broker.pass_ms(120_001);
    let (_, other, named) = ask(&mut broker, &fetch(NO_SESSION, FULL, all()));
    assert!(other > 0 && named.len() == 2, "two idle minutes later it is free");
    assert_eq!(ask(&mut broker, &fetch(id, 2, Vec::new())).0, ErrorCode::FetchSessionIdNotFound);
}

#[test]
fn many_clients_that_come_and_go_leave_no_more_sessions_than_slots() {
    let mut broker = with_topic(&["max.incremental.fetch.session.cache.slots=10"]);
    let mut ids = Vec::new();
    for _ in 0..100 {
        let client = broker.connect();
        let frame = broker.ask_on(client, 12, &fetch(NO_SESSION, FULL, vec![partition(1, 0)]));
        ids.push(read(&frame).1);
        broker.disconnect(client);
        broker.pass_ms(20_000);
    }
    ids.retain(|id| *id != NO_SESSION);
    let mut alive = 0;
    for id in &ids {
        alive += usize::from(ask(&mut broker, &fetch(*id, 1, Vec::new())).0 == ErrorCode::None);
    }
    assert!(ids.len() > 10 && alive == 10, "{} sessions, {alive} alive", ids.len());
}

#[test]
fn nothing_that_is_not_durable_is_news() {
    let mut broker = with_topic(&[]);
    let id = begin(&mut broker);
    broker.disk.set_pace(Pace::Held);
    let producer = broker.connect();
    let bytes = batch(&["c"]);
    broker.send(producer, 9, &crate::harness::produce_request("t", 1, &bytes));
    broker.settle();
    let reader = broker.connect();
    let frame = broker.ask_on(reader, 12, &fetch(id, 1, Vec::new()));
    assert_eq!(read(&frame).2, []);
    broker.disk.set_pace(Pace::AtOnce);
    broker.disk.complete();
    broker.settle();
    let frame = broker.ask_on(reader, 12, &fetch(id, 2, Vec::new()));
    assert_eq!(read(&frame).2, named(&[(1, RECORDS)]));
}

#[test]
fn a_topic_id_that_is_not_known_is_said_in_a_session_too() {
    let mut broker = with_topic(&[]);
    let mut request = fetch(NO_SESSION, FULL, vec![partition(0, 0)]);
    request.topics[0].topic_id = TopicId([7; 16]);
    let (code, id, answer) = read(&broker.ask(13, &request));
    let unknown = (ErrorCode::UnknownTopicId, false);
    assert_eq!((code, answer), (ErrorCode::None, named(&[(0, unknown)])));
    assert_eq!(read(&broker.ask(13, &fetch(id, 1, Vec::new()))).2, named(&[(0, unknown)]));
}
