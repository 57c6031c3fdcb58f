//! Many groups: requests are batched, and what is held of each is little. Prints time and memory.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::time::Instant;

use milepost_client::groups::{Committed, alter};
use milepost_client::{Cluster, Options, TopicPartition};
use milepost_model::{Offset, PartitionIndex};
use serde_json::Value;

use crate::support::Server;

const PARTITIONS: i32 = 10;
/// What describing so many groups may hold at its peak: some hundred of them, and never the whole document.
const MEMORY_MAX_BYTES: u64 = 256 << 20;

/// How many groups: those that the command line is made for in the full tier, a tenth of them otherwise.
fn groups() -> usize {
    match std::env::var("TEST_TIER").as_deref() {
        Ok("full") => 10_000,
        _ => 1_000,
    }
}

/// Runs a command of the program, and gives its output and the most memory that it was seen to hold.
fn measured(server: &Server, arguments: &[&str]) -> (String, u64) {
    let mut running = server.spawn(arguments);
    let status = format!("/proc/{}/status", running.child.id());
    let mut peak = 0;
    let mut stdout = running.take_stdout();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).unwrap();
        text
    });
    while !reader.is_finished() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let text = reader.join().unwrap();
    assert!(running.child.wait().unwrap().success());
    (text, peak)
}

#[test]
fn many_groups_are_described_with_bounded_memory() {
    let server = Server::start();
    server.run(&["topic", "create", "t", "--partitions", &PARTITIONS.to_string()]).ok();
    let groups = groups();
    let mut cluster = Cluster::connect(vec![server.bootstrap.parse().unwrap()], Options::default()).unwrap();
    let committed = |index| {
        let nothing_behind = Committed { offset: Offset(0), leader_epoch: None, metadata: String::new() };
        (TopicPartition::new("t", PartitionIndex(index)), nothing_behind)
    };
    let offsets: BTreeMap<TopicPartition, Committed> = (0..PARTITIONS).map(committed).collect();
    for number in 0..groups {
        let results = alter(&mut cluster, &format!("group-{number}"), &offsets).unwrap();
        assert!(results.values().all(Result::is_ok), "{results:?}");
    }
    for arguments in [
        ["group", "list", "--lag", "--format", "json"].as_slice(),
        &["group", "describe", "--all", "--format", "json"],
        &["group", "watch", "--format", "json", "--count", "1"],
    ] {
        let begin = Instant::now();
        let (text, peak) = measured(&server, arguments);
        let took = begin.elapsed();
        println!(
            "{}: {groups} groups of {PARTITIONS} partitions in {:.2} s, at most {} MiB",
            arguments.join(" "),
            took.as_secs_f32(),
            peak >> 20
        );
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["groups"].as_array().unwrap().len(), groups);
        assert!(peak < MEMORY_MAX_BYTES, "{peak} bytes");
    }
}
