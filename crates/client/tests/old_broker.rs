//! Groups of a broker that knows neither many groups in one request nor consumer groups.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod played;

use std::io::Write as _;
use std::net::TcpStream;

use milepost_client::groups::{self, Pending};
use milepost_client::{Cluster, Options, TopicPartition};
use milepost_model::PartitionIndex;
use milepost_wire::messages::describe_groups::{DescribeGroupsResponse, DescribedGroup};
use milepost_wire::messages::find_coordinator::FindCoordinatorResponse;
use milepost_wire::messages::offset_fetch::{
    OffsetFetchResponse, OffsetFetchResponsePartition, OffsetFetchResponseTopic,
};
use milepost_wire::{ApiKey, ErrorCode, RequestBody, Response, decode_request, encode_response};
use played::{broker, read_frame};

/// The versions of Kafka 2.0.
fn versions() -> Vec<(ApiKey, i16, i16)> {
    vec![(ApiKey::FindCoordinator, 0, 2), (ApiKey::OffsetFetch, 0, 4), (ApiKey::DescribeGroups, 0, 2)]
}

/// Coordinates every group itself. One of them it does not let anybody look into.
fn play(stream: &mut TcpStream) {
    let port = i32::from(stream.local_addr().unwrap().port());
    while let Some(frame) = read_frame(stream) {
        let (header, body) = decode_request(&frame).unwrap();
        let reply = (header.api_version, header.correlation_id);
        match body {
            RequestBody::FindCoordinator(_) => {
                let found = FindCoordinatorResponse { host: "127.0.0.1", port, ..Default::default() };
                answer(stream, &found, reply);
            }
            RequestBody::OffsetFetch(asked) => {
                assert_eq!(asked.topics, None, "all topics of one group");
                let partition = OffsetFetchResponsePartition {
                    partition_index: 3,
                    committed_offset: 42,
                    metadata: Some("m"),
                    ..Default::default()
                };
                let topic = OffsetFetchResponseTopic { name: "t", partitions: vec![partition] };
                let committed = match asked.group_id {
                    "secret" => OffsetFetchResponse {
                        error_code: ErrorCode::GroupAuthorizationFailed,
                        ..Default::default()
                    },
                    _ => OffsetFetchResponse { topics: vec![topic], ..Default::default() },
                };
                answer(stream, &committed, reply);
            }
            RequestBody::DescribeGroups(asked) => {
                let group = |group_id| {
                    let group_state = if group_id == "absent" { "Dead" } else { "Empty" };
                    DescribedGroup { group_id, group_state, ..Default::default() }
                };
                let groups = asked.groups.into_iter().map(group).collect();
                answer(stream, &DescribeGroupsResponse { groups, ..Default::default() }, reply);
            }
            other => panic!("{other:?}"),
        }
    }
}

fn answer<'a>(stream: &mut TcpStream, response: &impl Response<'a>, (version, id): (i16, i32)) {
    let mut out = Vec::new();
    encode_response(&mut out, response, version, id).unwrap();
    stream.write_all(&out).unwrap();
}

#[test]
fn groups_are_asked_about_one_by_one_and_one_that_is_refused_hides_no_other() {
    let (address, broker) = broker(versions(), play);
    let mut cluster = Cluster::connect(vec![address], Options::default()).unwrap();
    let mut found = groups::committed(&mut cluster, &["a", "secret", "z"], Pending::Refused).unwrap();
    let place = TopicPartition::new("t", PartitionIndex(3));
    for group in ["a", "z"] {
        let commits = found.remove(group).unwrap().unwrap();
        let committed = commits[&place].as_ref().unwrap();
        assert_eq!(
            (committed.offset.0, committed.leader_epoch, committed.metadata.as_str()),
            (42, None, "m")
        );
    }
    let refused = found.remove("secret").unwrap().unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::GroupAuthorizationFailed));

    let described = groups::describe(&mut cluster, &["a", "z"]).unwrap();
    assert!(described.values().all(|group| group.as_ref().is_ok_and(|group| group.state == "Empty")));
    drop(cluster);
    broker.join().unwrap();
}

#[test]
fn a_broker_without_newer_kinds_of_groups_is_not_asked_about_them() {
    let (address, broker) = broker(versions(), play);
    let mut cluster = Cluster::connect(vec![address], Options::default()).unwrap();
    let described = groups::describe(&mut cluster, &["absent"]).unwrap();
    assert!(described["absent"].as_ref().is_ok_and(|group| !group.exists()));
    let begun = groups::share_offsets(&mut cluster, &["absent"]).unwrap();
    assert!(begun["absent"].as_ref().is_ok_and(std::collections::BTreeMap::is_empty));
    drop(cluster);
    broker.join().unwrap();
}

#[test]
fn what_a_broker_says_in_unknown_versions_alone_is_not_taken_for_nothing() {
    // As Kafka 4.0 had share groups, before they were for use.
    let mut versions = versions();
    versions.push((ApiKey::ShareGroupDescribe, 0, 0));
    let (address, broker) = broker(versions, play);
    let mut cluster = Cluster::connect(vec![address], Options::default()).unwrap();
    let described = groups::describe(&mut cluster, &["absent", "a"]).unwrap();
    let error = described["absent"].as_ref().unwrap_err().to_string();
    assert!(error.contains("speaks ShareGroupDescribe in versions 0 to 0"), "{error}");
    assert!(described["a"].as_ref().is_ok_and(|group| group.state == "Empty"));
    drop(cluster);
    broker.join().unwrap();
}
