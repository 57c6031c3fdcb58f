//! What holds for every API: versions, garbage, the order of answers, what a connection may hold.

use milepost_broker::node::{Admission, IN_FLIGHT_REQUESTS_MAX};
use milepost_wire::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use milepost_wire::messages::fetch::{FetchPartition, FetchRequest, FetchResponse, FetchTopic};
use milepost_wire::messages::heartbeat::HeartbeatRequest;
use milepost_wire::messages::metadata::{MetadataRequest, MetadataResponse};
use milepost_wire::{ADVERTISED, ApiKey, ErrorCode};

use crate::harness::{Broker, all_versions};

fn named() -> ApiVersionsRequest<'static> {
    ApiVersionsRequest {
        client_software_name: "test",
        client_software_version: "1.0",
        ..ApiVersionsRequest::default()
    }
}

fn header(api: i16, version: i16) -> Vec<u8> {
    let mut frame = Vec::new();
    frame.extend(api.to_be_bytes());
    frame.extend(version.to_be_bytes());
    frame.extend(77_i32.to_be_bytes());
    frame.extend(2_i16.to_be_bytes());
    frame.extend(b"me");
    frame
}

#[test]
fn api_versions_lists_every_api_in_every_version() {
    let mut broker = Broker::start(&[]);
    for version in all_versions(ApiKey::ApiVersions) {
        let frame = broker.ask(version, &named());
        let response: ApiVersionsResponse<'_> = frame.read();
        assert_eq!(response.error_code, ErrorCode::None);
        let listed: Vec<_> =
            response.api_keys.iter().map(|key| (key.api_key, key.min_version, key.max_version)).collect();
        let served: Vec<_> =
            ADVERTISED.iter().map(|range| (range.key.code(), range.min_advertised, range.max)).collect();
        assert_eq!(listed, served, "version {version}");
    }
}

#[test]
fn api_versions_above_ours_is_answered_in_version_0_with_our_range_alone() {
    let mut broker = Broker::start(&[]);
    let client = broker.main();
    broker.send_raw(client, 0, |correlation_id| {
        let mut frame = header(ApiKey::ApiVersions.code(), 127);
        frame[4..8].copy_from_slice(&correlation_id.to_be_bytes());
        // No tags in the header; what follows is a body that nobody here can read.
        frame.extend([0, 0xde, 0xad]);
        frame
    });
    broker.settle();
    let answer = broker.answer(client).expect("an answer");
    let response: ApiVersionsResponse<'_> = answer.read();
    assert_eq!(response.error_code, ErrorCode::UnsupportedVersion);
    let keys: Vec<_> =
        response.api_keys.iter().map(|key| (key.api_key, key.min_version, key.max_version)).collect();
    assert_eq!(keys, [(18, 0, 5)]);
}

#[test]
fn api_versions_wants_a_software_name_that_kafka_accepts() {
    let mut broker = Broker::start(&[]);
    for name in ["", "two words", "-dash"] {
        let request = ApiVersionsRequest { client_software_name: name, ..named() };
        let frame = broker.ask(3, &request);
        let response: ApiVersionsResponse<'_> = frame.read();
        assert_eq!(response.error_code, ErrorCode::InvalidRequest, "{name:?}");
        assert!(response.api_keys.is_empty());
    }
}

#[test]
fn api_versions_5_tells_a_client_that_means_another_cluster() {
    let mut broker = Broker::start(&[]);
    let frame = broker.ask(9, &MetadataRequest::default());
    let metadata: MetadataResponse<'_> = frame.read();
    let cluster = metadata.cluster_id.expect("a cluster has an id");
    let cases = [
        (None, -1, ErrorCode::None),
        (Some(cluster), 1, ErrorCode::None),
        (Some(cluster), 2, ErrorCode::RebootstrapRequired),
        (Some("another"), 1, ErrorCode::RebootstrapRequired),
        (Some(cluster), -1, ErrorCode::InvalidRequest),
        (None, 1, ErrorCode::InvalidRequest),
    ];
    for (cluster_id, node_id, expected) in cases {
        let frame = broker.ask(5, &ApiVersionsRequest { cluster_id, node_id, ..named() });
        assert_eq!(frame.read::<ApiVersionsResponse<'_>>().error_code, expected, "{cluster_id:?} {node_id}");
    }
}

#[test]
fn what_is_not_served_closes_the_connection_without_an_answer() {
    let mut broker = Broker::start(&[]);
    let mut frames = vec![
        b"GET / HTTP/1.1\r\n".to_vec(),
        Vec::new(),
        vec![0],
        header(9999, 0),
        // SaslHandshake and ConsumerGroupHeartbeat are not served; LeaderAndIsr never is.
        header(17, 0),
        header(68, 0),
        header(4, 0),
        // A body that ends too early.
        header(ApiKey::Heartbeat.code(), 0),
        // An array that claims two thousand million topics.
        [header(ApiKey::Metadata.code(), 0), i32::MAX.to_be_bytes().to_vec()].concat(),
    ];
    for range in ADVERTISED.iter().filter(|range| range.key != ApiKey::ApiVersions) {
        frames.push(header(range.key.code(), range.max + 1));
        frames.push(header(range.key.code(), range.min_served - 1));
        frames.push(header(range.key.code(), -1));
    }
    for frame in frames {
        let client = broker.connect();
        assert!(matches!(broker.admit(client, &frame), Admission::Close(_)), "{frame:02x?}");
        broker.settle();
        assert!(broker.answer(client).is_none());
        assert!(broker.is_closing(client));
        assert!(!broker.accepts_more(client));
        broker.disconnect(client);
    }
    assert_eq!(broker.ask(5, &named()).read::<ApiVersionsResponse<'_>>().error_code, ErrorCode::None);
}

#[test]
fn a_huge_list_of_names_closes_the_connection() {
    let mut broker = Broker::start(&[]);
    let client = broker.main();
    let mut frame = header(ApiKey::Metadata.code(), 4);
    frame.resize(17 << 20, 0);
    assert!(matches!(broker.admit(client, &frame), Admission::Close(_)));
}

#[test]
fn answers_leave_in_the_order_of_the_requests_though_the_first_waits() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let client = broker.main();
    let partition = FetchPartition { partition_max_bytes: 1000, ..FetchPartition::default() };
    let topics = vec![FetchTopic { topic: "t", partitions: vec![partition], ..FetchTopic::default() }];
    let fetch = FetchRequest { max_wait_ms: 500, min_bytes: 1, topics, ..FetchRequest::default() };
    broker.send(client, 4, &fetch);
    broker.send(client, 5, &named());
    broker.send(client, 0, &MetadataRequest { topics: Some(Vec::new()), ..MetadataRequest::default() });
    broker.settle();
    assert!(broker.answer(client).is_none(), "the fetch is unanswered and everything waits behind it");
    broker.pass_ms(500);
    // The harness checks the correlation ids.
    broker.answer(client).expect("the fetch").read::<FetchResponse<'_>>();
    broker.answer(client).expect("the versions").read::<ApiVersionsResponse<'_>>();
    broker.answer(client).expect("the metadata").read::<MetadataResponse<'_>>();
}

#[test]
fn a_connection_with_too_many_open_requests_is_not_read() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let client = broker.connect();
    let partition = FetchPartition { partition_max_bytes: 1000, ..FetchPartition::default() };
    let topics = vec![FetchTopic { topic: "t", partitions: vec![partition], ..FetchTopic::default() }];
    let fetch = FetchRequest { max_wait_ms: 500, min_bytes: 1, topics, ..FetchRequest::default() };
    for _ in 0..IN_FLIGHT_REQUESTS_MAX {
        assert!(broker.accepts_more(client));
        broker.send(client, 4, &fetch);
    }
    assert!(!broker.accepts_more(client));
    broker.pass_ms(500);
    for _ in 0..IN_FLIGHT_REQUESTS_MAX {
        assert!(broker.answer(client).is_some());
    }
    assert!(broker.accepts_more(client));
}

#[test]
fn a_client_that_goes_takes_its_waiting_requests_along() {
    let mut broker = Broker::start(&[]);
    broker.create_topic("t", 1);
    let client = broker.connect();
    let partition = FetchPartition { partition_max_bytes: 1000, ..FetchPartition::default() };
    let topics = vec![FetchTopic { topic: "t", partitions: vec![partition], ..FetchTopic::default() }];
    let fetch = FetchRequest { max_wait_ms: 500, min_bytes: 1, topics, ..FetchRequest::default() };
    broker.send(client, 4, &fetch);
    let heartbeat = HeartbeatRequest { group_id: "g", member_id: "m", ..HeartbeatRequest::default() };
    broker.send(client, 0, &heartbeat);
    let with_fetch = broker.next_deadline();
    broker.disconnect(client);
    assert!(broker.next_deadline() > with_fetch, "nobody waits for the fetch any more");
    broker.pass_ms(1000);
    assert_eq!(broker.ask(5, &named()).read::<ApiVersionsResponse<'_>>().error_code, ErrorCode::None);
}
