//! `milepost produce`.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::support::{Ran, Server, eventually};

/// The records of a topic, as JSON, in the order of partitions.
pub(crate) fn records(server: &Server, topic: &str) -> Vec<Value> {
    let lines = server.run(&["consume", topic, "--until-end", "--format", "json"]).lines();
    let mut records: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.sort_by_key(|record| (record["partition"].as_i64(), record["offset"].as_i64()));
    records
}

fn column<'a>(records: &'a [Value], name: &str) -> Vec<&'a Value> {
    records.iter().map(|record| &record[name]).collect()
}

#[track_caller]
fn assert_ended(ran: &Ran, code: i32, stdout: &str, words: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (code, stdout), "{ran:?}");
    assert!(ran.stderr.contains(words), "{ran:?}");
}

#[test]
fn lines_become_records_with_every_codec() {
    let server = Server::start();
    server.run(&["topic", "create", "t"]).ok();
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let ran = server.run_with(&["produce", "t", "--compression", codec], "one\n\nthree");
        assert_eq!(ran.ok(), "acknowledged 3\n");
    }
    let records = records(&server, "t");
    assert_eq!(column(&records, "value"), ["one", "", "three"].repeat(5));
    assert_eq!(column(&records, "key"), vec![&Value::Null; 15]);
    let times: Vec<i64> = records.iter().map(|record| record["timestamp"].as_i64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] > 1_700_000_000_000, "{times:?}");
}

#[test]
fn keys_and_headers_and_partitions_go_where_they_are_told() {
    let server = Server::start();
    server.run(&["topic", "create", "t", "-p", "3"]).ok();
    let keyed = ["produce", "t", "--key-separator", ":", "--header", "a=1", "--header", "a=2"];
    server.run_with(&keyed, "k:v\nk:w:x\n").ok();
    server.run_with(&["produce", "t", "--partition", "2"], "fixed").ok();
    let found = records(&server, "t");
    assert_eq!(column(&found, "value"), ["v", "w:x", "fixed"]);
    assert_eq!(found[0]["partition"], found[1]["partition"], "one key, one partition");
    assert_eq!(found[0]["headers"], json!([{ "key": "a", "value": "1" }, { "key": "a", "value": "2" }]));
    assert_eq!(found[2]["partition"], 2);
    // Records without a key take turns.
    server.run(&["topic", "create", "turns", "-p", "3"]).ok();
    server.run_with(&["produce", "turns"], &"x\n".repeat(9)).ok();
    assert_eq!(column(&records(&server, "turns"), "offset"), [0, 1, 2].repeat(3));
}

#[test]
fn what_json_says_comes_back_as_it_was() {
    let server = Server::start();
    server.run(&["topic", "create", "from", "-p", "2"]).ok();
    server.run(&["topic", "create", "to", "-p", "2"]).ok();
    let line = json!({
        "key": null, "value_base64": "/w==", "partition": 1, "timestamp": 1_700_000_000_000_i64,
        "headers": [{ "key": "none", "value": null }],
    });
    let tombstone = json!({ "key": "gone", "value": null, "partition": 0 });
    let ran = server.run_with(&["produce", "from", "--format", "json"], &format!("{line}\n{tombstone}\n"));
    assert_eq!(ran.json(), json!({ "acknowledged": 2, "refused": 0, "unknown": 0 }));
    let copied = server.run(&["consume", "from", "--until-end", "--format", "json"]).ok();
    server.run_with(&["produce", "to", "--format", "json"], &copied).ok();
    let records = records(&server, "to");
    assert_eq!((&records[0]["key"], &records[0]["value"]), (&json!("gone"), &Value::Null));
    for field in ["key", "value_base64", "partition", "timestamp", "headers"] {
        assert_eq!(records[1][field], line[field], "{field}");
    }
}

#[test]
fn records_that_the_topic_refuses_are_counted_and_the_rest_is_written() {
    let server = Server::start();
    server.run(&["topic", "create", "t", "--config", "max.message.bytes=1000"]).ok();
    // All fit into one batch of ours, and the topic takes neither that batch nor the large record.
    let large = "x".repeat(2000);
    let input: String = (0..100).map(|n| format!("{n}\n")).collect::<String>() + &large + "\nlast\n";
    let ran = server.run_with(&["produce", "t"], &input);
    assert_ended(&ran, 1, "acknowledged 101, refused 1\n", "larger than the topic takes");
    let mut expected: Vec<Value> = (0..100).map(|n| n.to_string().into()).collect();
    expected.push("last".into());
    let expected: Vec<&Value> = expected.iter().collect();
    assert_eq!(column(&records(&server, "t"), "value"), expected, "in order");

    server.run(&["topic", "create", "keys", "--config", "cleanup.policy=compact"]).ok();
    let ran = server.run_with(&["produce", "keys"], "no key\n");
    assert_ended(&ran, 1, "acknowledged 0, refused 1\n", "the topic does not take such a record");
}

#[test]
fn a_line_that_is_no_record_ends_it_and_the_lines_before_are_written() {
    let server = Server::start();
    server.run(&["topic", "create", "t"]).ok();
    let ran = server.run_with(&["produce", "t", "-k", ":"], "a:1\nb:2\nnothing\nc:3\n");
    assert_ended(&ran, 1, "acknowledged 2\n", "milepost: line 3: there is no \":\" in it");
    let ran = server.run_with(&["produce", "t", "--format", "json"], "{\"partition\": 5}\n");
    assert_ended(
        &ran,
        1,
        "{\"acknowledged\":0,\"refused\":0,\"unknown\":0}\n",
        "line 1: t-5: there is no such topic",
    );
    assert_eq!(column(&records(&server, "t"), "key"), ["a", "b"]);
    let ran = server.run_with(&["produce", "gone"], "x");
    assert_ended(&ran, 1, "", "gone: there is no such topic");
    let ran = server.run_with(&["produce", "t", "-p", "1"], "x");
    assert_ended(&ran, 1, "", "t-1: there is no such topic or partition");
}

#[test]
fn a_record_is_sent_at_once_and_ctrl_c_leaves_none_behind() {
    let server = Server::start();
    server.run(&["topic", "create", "t"]).ok();
    let mut running = server.spawn_with_input(&["produce", "t"]);
    let mut stdin = running.child.stdin.take().unwrap();
    writeln!(stdin, "first").unwrap();
    eventually("the record is there while its producer waits for more", || records(&server, "t").len() == 1);
    running.signal("INT");
    assert_ended(&running.end(), 130, "acknowledged 1\n", "");
}

#[test]
fn when_the_cluster_is_gone_it_says_what_it_does_not_know() {
    let server = Server::start();
    server.run(&["topic", "create", "t"]).ok();
    let mut running = server.spawn_with_input(&["produce", "t", "--timeout", "0.5"]);
    let mut stdin = running.child.stdin.take().unwrap();
    writeln!(stdin, "first").unwrap();
    eventually("the first record is there", || records(&server, "t").len() == 1);
    drop(server);
    writeln!(stdin, "second").unwrap();
    assert_ended(&running.end(), 4, "acknowledged 1, unknown 1\n", "milepost: cannot connect to");
}

#[test]
fn many_records_arrive_in_their_order() {
    const RECORDS: usize = 50_000;
    let server = Server::start();
    server.run(&["topic", "create", "t", "-p", "2"]).ok();
    let input: String = (0..RECORDS).map(|number| format!("{number}\n")).collect();
    let ran = server.run_with(&["produce", "t", "-z", "lz4"], &input);
    assert_eq!(ran.ok(), format!("acknowledged {RECORDS}\n"));
    for partition in ["0", "1"] {
        let read = ["consume", "t", "--until-end", "--partition", partition];
        let numbers: Vec<usize> =
            server.run(&read).lines().iter().map(|line| line.parse().unwrap()).collect();
        assert_eq!(numbers.len(), RECORDS / 2);
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 2), "every other one, in order");
    }
}

#[test]
fn what_is_refused_is_not_unknown() {
    let server = Server::start();
    let ran = server.run_with(&["produce", "__consumer_offsets"], "x\n");
    assert_ended(&ran, 1, "acknowledged 0, refused 1\n", "[INVALID_TOPIC_EXCEPTION]");
}
