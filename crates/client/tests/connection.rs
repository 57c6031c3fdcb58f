//! A connection against a broker that is played by the test, byte by byte.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod played;

use std::io::Write as _;
use std::net::TcpListener;
use std::time::Duration;

use milepost_client::{Address, ClientError, Cluster, Connection, Deadline, Options};
use milepost_wire::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseTopic,
};
use milepost_wire::{ApiKey, RequestBody, decode_request, encode_response};
use played::{broker, read_frame};

const PATIENCE: Duration = Duration::from_secs(30);

/// Metadata as a broker of Kafka 2.0 speaks it.
fn old_metadata() -> Vec<(ApiKey, i16, i16)> {
    vec![(ApiKey::Metadata, 0, 6)]
}

fn open(address: &Address) -> Connection {
    Connection::open(address, &Options::default(), Deadline::after(PATIENCE)).unwrap()
}

fn request(name: &str) -> MetadataRequest<'_> {
    MetadataRequest {
        topics: Some(vec![MetadataRequestTopic { name: Some(name), ..MetadataRequestTopic::default() }]),
        ..MetadataRequest::default()
    }
}

/// The answer to a Metadata request: the topics that it names, without partitions.
fn answer(frame: &[u8]) -> Vec<u8> {
    let (header, body) = decode_request(frame).unwrap();
    let RequestBody::Metadata(request) = body else { panic!("{body:?}") };
    let topics = request.topics.into_iter().flatten();
    let topics =
        topics.map(|topic| MetadataResponseTopic { name: topic.name, ..MetadataResponseTopic::default() });
    let answer = MetadataResponse { topics: topics.collect(), ..MetadataResponse::default() };
    let mut out = Vec::new();
    encode_response(&mut out, &answer, header.api_version, header.correlation_id).unwrap();
    out
}

#[test]
fn many_requests_are_on_the_way_at_once_and_each_gets_its_answer() {
    const REQUESTS: usize = 300;
    let (address, broker) = broker(old_metadata(), |stream| {
        // The first answer waits until the second request is there: nothing would come of one at a time.
        let mut held = read_frame(stream).unwrap();
        for _ in 1..REQUESTS {
            let next = read_frame(stream).unwrap();
            stream.write_all(&answer(&held)).unwrap();
            held = next;
        }
        stream.write_all(&answer(&held)).unwrap();
    });
    let mut connection = open(&address);
    let version = connection.version(ApiKey::Metadata).unwrap();
    assert_eq!(version, 6);
    let names: Vec<String> = (0..REQUESTS).map(|number| format!("topic-{number}")).collect();
    let mut answered = Vec::new();
    connection
        .pipeline(names.iter().map(|name| request(name)), version, Deadline::after(PATIENCE), |answer| {
            let answer: MetadataResponse<'_> = answer.decode()?;
            answered.extend(answer.topics.iter().filter_map(|topic| topic.name.map(str::to_owned)));
            Ok(())
        })
        .unwrap();
    assert_eq!(answered, names);
    assert!(connection.is_usable());
    broker.join().unwrap();
}

/// What the client makes of an answer of these bytes, and whether the connection is still of use.
fn outcome_of(bytes: &'static [u8]) -> (ClientError, bool) {
    let (address, broker) = broker(old_metadata(), move |stream| {
        read_frame(stream).unwrap();
        // A client that has seen enough has closed.
        let _ = stream.write_all(bytes);
    });
    let mut connection = open(&address);
    let outcome = connection
        .call(&request("a"), 6, Deadline::after(PATIENCE))
        .and_then(|answer| answer.decode::<MetadataResponse<'_>>().map(drop));
    broker.join().unwrap();
    (outcome.unwrap_err(), connection.is_usable())
}

#[test]
fn answers_that_are_none_are_errors() {
    let (error, usable) = outcome_of(b"");
    assert!(matches!(error, ClientError::Broken { .. }) && !usable, "{error}");
    // Two gigabytes are announced, and none of it comes: nothing is reserved for it.
    let (error, usable) = outcome_of(b"\x7f\xff\xff\xff");
    assert!(matches!(error, ClientError::FrameSize { announced: i32::MAX, .. }) && !usable, "{error}");
    let (error, usable) = outcome_of(b"\xff\xff\xff\xff");
    assert!(matches!(error, ClientError::FrameSize { announced: -1, .. }) && !usable, "{error}");
    let (error, usable) = outcome_of(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    assert!(matches!(error, ClientError::FrameSize { .. }) && !usable, "{error}");
    let (error, usable) = outcome_of(b"\0\0\0\x04\0\0\0\x09");
    assert!(matches!(error, ClientError::OutOfOrder { found: 9, expected: 1, .. }) && !usable, "{error}");
    let (error, _) = outcome_of(b"\0\0\0\x06\0\0\0\x01\0\0");
    assert!(matches!(error, ClientError::Decode { api: ApiKey::Metadata, .. }), "{error}");
}

#[test]
fn a_broker_that_says_nothing_is_waited_for_no_longer_than_told() {
    let (address, broker) = broker(old_metadata(), |stream| {
        read_frame(stream).unwrap();
        assert_eq!(read_frame(stream), None, "the client closes");
    });
    let mut connection = open(&address);
    let error = connection.call(&request("a"), 6, Deadline::after(Duration::from_millis(50))).unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error}");
    assert!(!connection.is_usable());
    drop(connection);
    broker.join().unwrap();
}

#[test]
fn a_stop_ends_the_wait() {
    let options = Options::default();
    let stop = options.stop.clone();
    let (address, broker) = broker(old_metadata(), move |stream| {
        read_frame(stream).unwrap();
        stop.set();
        assert_eq!(read_frame(stream), None, "the client closes");
    });
    let mut cluster = Cluster::connect(vec![address], options).unwrap();
    let error = cluster.metadata(None).unwrap_err();
    assert!(matches!(error, ClientError::Stopped), "{error}");
    drop(cluster);
    broker.join().unwrap();
}

#[test]
fn the_second_address_is_tried_when_the_first_does_not_answer() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let (address, broker) = broker(old_metadata(), |stream| {
        let frame = read_frame(stream).unwrap();
        stream.write_all(&answer(&frame)).unwrap();
    });
    let mut cluster = Cluster::connect(vec![closed.parse().unwrap(), address], Options::default()).unwrap();
    assert_eq!(cluster.metadata(Some(&["a"])).unwrap().topics[0].name, "a");
    broker.join().unwrap();
}

#[test]
fn an_api_that_both_sides_speak_in_no_common_version_is_named() {
    let (address, broker) = broker(vec![(ApiKey::Produce, 0, 2)], |_| {});
    let error = open(&address).version(ApiKey::Produce).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("speaks Produce in versions 0 to 2, and this program in versions 3 to 12")
    );
    broker.join().unwrap();
}
