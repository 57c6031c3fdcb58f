//! The program against a server that is only a few lines: what it asks, what it prints, how it ends.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};

use milepost_wire::messages::api_versions::{ApiVersion, ApiVersionsResponse};
use milepost_wire::messages::create_topics::{CreatableTopicResult, CreateTopicsResponse};
use milepost_wire::messages::find_coordinator::{Coordinator, FindCoordinatorResponse};
use milepost_wire::messages::metadata::{
    MetadataResponse, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use milepost_wire::messages::offset_commit::{
    OffsetCommitResponse, OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use milepost_wire::messages::produce::{PartitionProduceResponse, ProduceResponse, TopicProduceResponse};
use milepost_wire::{ADVERTISED, ErrorCode, RequestBody, decode_request, encode_response};

/// Starts a server that answers every commit and produce with `code`; gives its port. It ends with the test.
fn server(code: ErrorCode) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || serve(stream, port, code));
        }
    });
    port
}

fn serve(mut stream: TcpStream, port: u16, code: ErrorCode) {
    let mut size = [0; 4];
    while stream.read_exact(&mut size).is_ok() {
        let mut frame = vec![0; u32::from_be_bytes(size) as usize];
        if stream.read_exact(&mut frame).is_err() || stream.write_all(&answer(&frame, port, code)).is_err() {
            return;
        }
    }
}

fn answer(frame: &[u8], port: u16, code: ErrorCode) -> Vec<u8> {
    let (header, body) = decode_request(frame).unwrap();
    let (version, id) = (header.api_version, header.correlation_id);
    let (host, port, mut out) = ("127.0.0.1", i32::from(port), Vec::new());
    match body {
        RequestBody::ApiVersions(_) => {
            let line = |range: &milepost_wire::ApiVersionRange| ApiVersion {
                api_key: range.key.code(),
                min_version: range.min_advertised,
                max_version: range.max,
            };
            let api_keys = ADVERTISED.iter().map(line).collect();
            let response = ApiVersionsResponse { api_keys, ..ApiVersionsResponse::default() };
            encode_response(&mut out, &response, version, id)
        }
        RequestBody::CreateTopics(request) => {
            let name = request.topics[0].name;
            let topics = vec![CreatableTopicResult { name, ..CreatableTopicResult::default() }];
            encode_response(&mut out, &CreateTopicsResponse { throttle_time_ms: 0, topics }, version, id)
        }
        RequestBody::FindCoordinator(request) => {
            let one = |key: &&'static str| Coordinator { key, host, port, ..Coordinator::default() };
            let keys: Vec<&'static str> =
                request.coordinator_keys.iter().map(|key| &*key.to_string().leak()).collect();
            let coordinators = keys.iter().map(one).collect();
            let response = FindCoordinatorResponse { coordinators, ..FindCoordinatorResponse::default() };
            encode_response(&mut out, &response, version, id)
        }
        other => answer_more(&mut out, version, id, port, code, &other),
    }
    .unwrap();
    out
}

fn answer_more(
    out: &mut Vec<u8>,
    version: i16,
    id: i32,
    port: i32,
    code: ErrorCode,
    body: &RequestBody<'_>,
) -> Result<(), milepost_wire::EncodeError> {
    match body {
        RequestBody::Metadata(request) => {
            let partition =
                MetadataResponsePartition { leader_id: 0, ..MetadataResponsePartition::default() };
            let topic = MetadataResponseTopic {
                name: request.topics.as_ref().unwrap()[0].name,
                partitions: vec![partition],
                ..MetadataResponseTopic::default()
            };
            let broker =
                MetadataResponseBroker { host: "127.0.0.1", port, ..MetadataResponseBroker::default() };
            let response = MetadataResponse {
                brokers: vec![broker],
                topics: vec![topic],
                ..MetadataResponse::default()
            };
            encode_response(out, &response, version, id)
        }
        RequestBody::OffsetCommit(request) => {
            assert_eq!(request.generation_id_or_member_epoch, -1);
            let topic = &request.topics[0];
            let one = |index| OffsetCommitResponsePartition { partition_index: index, error_code: code };
            let partitions = topic.partitions.iter().map(|asked| one(asked.partition_index)).collect();
            let topic = OffsetCommitResponseTopic { name: topic.name, partitions, ..Default::default() };
            encode_response(
                out,
                &OffsetCommitResponse { topics: vec![topic], throttle_time_ms: 0 },
                version,
                id,
            )
        }
        RequestBody::Produce(request) => {
            let partition =
                PartitionProduceResponse { error_code: code, ..PartitionProduceResponse::default() };
            let topic = TopicProduceResponse {
                name: request.topic_data[0].name,
                partition_responses: vec![partition],
                ..TopicProduceResponse::default()
            };
            let response = ProduceResponse { responses: vec![topic], ..ProduceResponse::default() };
            encode_response(out, &response, version, id)
        }
        other => panic!("not expected: {other:?}"),
    }
}

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench")).args(arguments).output().unwrap()
}

fn commits(port: u16, more: &[&str]) -> Output {
    let bootstrap = format!("127.0.0.1:{port}");
    let mut all = vec!["commits", "--bootstrap", &bootstrap, "--connections", "4", "--seconds", "1"];
    all.extend_from_slice(&["--warm-up-seconds", "0"]);
    all.extend_from_slice(more);
    bench(&all)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number that a line begins with.
fn figure(output: &Output, name: &str) -> f64 {
    let text = text(output);
    let line =
        text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}: {text}"));
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn commits_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let output = commits(
        server(ErrorCode::None),
        &["--partitions", "3", "--in-flight", "2", "--groups", "9", "--disk-folder", path],
    );
    assert!(output.status.success(), "{output:?}");
    let (commits, offsets) = (figure(&output, "commits"), figure(&output, "offsets"));
    assert!(commits > 0.0);
    assert!((offsets - 3.0 * commits).abs() <= 3.0, "{commits} {offsets}");
    assert!(text(&output).contains("4 connections, 9 groups, 2 in flight, partitions a commit: 3"));
    assert!(text(&output).lines().any(|line| line.starts_with("disk") && line.contains("fdatasync")));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "the disk's file is removed");
}

#[test]
fn errors_of_the_server_are_printed_and_end_with_3() {
    let output = commits(server(ErrorCode::CoordinatorNotAvailable), &[]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(text(&output).contains("COORDINATOR_NOT_AVAILABLE × "));
    assert!(figure(&output, "commits") < 1.0, "a refused commit is no commit");
}

#[test]
fn batches_are_counted() {
    let bootstrap = format!("127.0.0.1:{}", server(ErrorCode::None));
    let output = bench(&["produce", "--bootstrap", &bootstrap, "--seconds", "1", "--records", "2"]);
    assert!(output.status.success(), "{output:?}");
    assert!((figure(&output, "records") - 2.0 * figure(&output, "batches")).abs() <= 2.0);
}

#[test]
fn nobody_there_ends_with_1() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let output = commits(free, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot connect to 127.0.0.1"));
}

#[test]
fn a_disk_alone_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        bench(&["disk", "--folder", folder.path().to_str().unwrap(), "--seconds", "1", "--bytes", "5000"]);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output).contains("write of 5000 bytes + fdatasync: mean "));
}
