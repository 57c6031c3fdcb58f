//! Bytes that Kafka 4.4's own `ConnectProtocol` and `IncrementalCooperativeConnectProtocol` wrote.

use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

const URL: &str = "00 0f 68 74 74 70 3a 2f 2f 77 31 3a 38 30 38 33 2f";
const OFFSET: &str = "00 00 00 00 00 00 00 07";

fn work<'a>(connector: &'a str, runs_connector: bool, tasks: &[i32]) -> ConnectorWork<'a> {
    ConnectorWork { connector, runs_connector, tasks: tasks.to_vec() }
}

fn assignment<'a>(version: i16, error: i16, assigned: Vec<ConnectorWork<'a>>) -> WorkerAssignment<'a> {
    WorkerAssignment {
        version,
        error,
        leader: "w1",
        leader_url: "http://w1:8083/",
        config_offset: 7,
        assigned,
        revoked: Vec::new(),
        scheduled_delay_ms: 0,
    }
}

#[test]
fn a_worker_says_where_it_is_in_every_version() {
    // Version 2 also hands on what the worker runs already, which is of no interest here.
    for (version, rest) in [(0, ""), (1, "ff ff ff ff"), (2, "00 00 00 01 00")] {
        let said = bytes(&format!("00 0{version} {URL} {OFFSET} {rest}"));
        let state = WorkerState { version, url: "http://w1:8083/", config_offset: 7 };
        assert_eq!(WorkerState::decode(&said), Ok(state));
    }
    assert!(WorkerState::decode(b"\0\x01\0\x0fhttp").is_err());
}

#[test]
fn an_assignment_of_version_0_names_connectors_and_tasks() {
    let said = bytes(&format!(
        "00 00 00 00 00 02 77 31 {URL} {OFFSET} 00 00 00 02 \
         00 05 66 69 6c 65 73 00 00 00 03 ff ff ff ff 00 00 00 00 00 00 00 01 00 04 73 69 6e 6b 00 00 00 01 00 00 00 02"
    ));
    let expected = assignment(0, 0, vec![work("files", true, &[0, 1]), work("sink", false, &[2])]);
    assert_eq!(WorkerAssignment::decode(&said), Ok(Some(expected)));
}

#[test]
fn since_version_1_an_assignment_also_takes_away() {
    let said = bytes(&format!(
        "00 02 00 00 00 02 77 31 {URL} {OFFSET} 00 00 00 02 00 05 66 69 6c 65 73 00 00 00 02 ff ff ff ff 00 00 00 00 \
         00 04 73 69 6e 6b 00 00 00 01 00 00 00 02 00 00 00 01 00 03 6f 6c 64 00 00 00 02 ff ff ff ff 00 00 00 00 00 00 ea 60"
    ));
    let expected = WorkerAssignment {
        revoked: vec![work("old", true, &[0])],
        scheduled_delay_ms: 60_000,
        ..assignment(2, 0, vec![work("files", true, &[0]), work("sink", false, &[2])])
    };
    assert_eq!(WorkerAssignment::decode(&said), Ok(Some(expected)));
    let none = bytes(&format!("00 01 00 01 00 02 77 31 {URL} {OFFSET} 00 00 00 00 00 00 00 00 00 00 00 00"));
    assert_eq!(WorkerAssignment::decode(&none), Ok(Some(assignment(1, 1, Vec::new()))));
}

#[test]
fn what_is_no_assignment_is_refused() {
    assert_eq!(WorkerAssignment::decode(b""), Ok(None));
    assert_eq!(WorkerAssignment::decode(b"\0"), Err(DecodeError::Truncated("the version")));
    let lie = bytes(&format!("00 00 00 00 00 02 77 31 {URL} {OFFSET} 7f ff ff ff"));
    assert_eq!(WorkerAssignment::decode(&lie), Err(DecodeError::Truncated("connector")));
}
