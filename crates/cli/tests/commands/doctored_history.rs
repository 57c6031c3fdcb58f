//! `milepost doctor`, on what the log of committed offsets tells: of each rule a log that it speaks of, and one that it does not.
//!
//! The logs are written here, with times of their own, and moved into a server as those of a Kafka broker.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use milepost_batch::{BatchBuilder, BatchOptions, stamp};
use milepost_client::{Cluster, GroupEvent, GroupMember, GroupOptions, Options};
use milepost_model::{Generation, LeaderEpoch, Offset, PartitionIndex, Timestamp, partition_for};
use milepost_records::offsets::{
    GroupMetadataKey, GroupMetadataMember, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue,
};
use serde_json::Value;

use crate::groups::{commit, server};
use crate::support::{Server, run_alone};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

type Written = (Timestamp, Vec<u8>, Vec<u8>);

fn ago(ms: i64) -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from(since.as_millis()).unwrap() - ms)
}

/// A commit for `t:0`, which has the records 0 to 9.
fn committed(group: &str, offset: i64, time: Timestamp, expires: Option<Timestamp>) -> Written {
    let (mut key, mut value) = (Vec::new(), Vec::new());
    OffsetCommitKey { group, topic: "t", partition: PartitionIndex(0) }.encode(&mut key).unwrap();
    let commit = OffsetCommitValue {
        offset: Offset(offset),
        leader_epoch: expires.is_none().then_some(LeaderEpoch(0)),
        metadata: "",
        commit_timestamp: time,
        expire_timestamp: expires,
        topic_id: None,
    };
    commit.encode(&mut value).unwrap();
    (time, key, value)
}

/// The group's own record: its generation, and whether it has a member.
fn shared(group: &str, generation: i32, members: usize) -> Written {
    shared_by("consumer", group, generation, members)
}

fn shared_by(protocol_type: &str, group: &str, generation: i32, members: usize) -> Written {
    let member = GroupMetadataMember {
        member_id: "m",
        group_instance_id: None,
        client_id: "c",
        client_host: "/127.0.0.1",
        rebalance_timeout_ms: Some(1000),
        session_timeout_ms: 600_000,
        subscription: b"",
        assignment: b"",
    };
    let value = GroupMetadataValue {
        protocol_type: Some(protocol_type),
        generation: Generation(generation),
        protocol: (members > 0).then_some("range"),
        leader: (members > 0).then_some("m"),
        current_state_timestamp: Some(ago(0)),
        members: vec![member; members],
    };
    let (mut key, mut bytes) = (Vec::new(), Vec::new());
    GroupMetadataKey { group }.encode(&mut key).unwrap();
    value.encode(&mut bytes).unwrap();
    (ago(0), key, bytes)
}

/// A server whose log of committed offsets is this, one batch a record.
fn server_with(log: impl IntoIterator<Item = Written>) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("kafka");
    for partition in ["__consumer_offsets-0", "t-0"] {
        fs::create_dir_all(from.join(partition)).unwrap();
    }
    let mut bytes = Vec::new();
    for (offset, (time, key, value)) in (0..).zip(log) {
        let mut builder = BatchBuilder::new(BatchOptions::coordinator(None));
        builder.append(time, Some(&key), Some(&value), &[]).unwrap();
        let mut batch = builder.build(Offset(offset));
        stamp(&mut batch, Offset(offset), LeaderEpoch(0));
        bytes.extend(batch);
    }
    fs::write(from.join("__consumer_offsets-0/00000000000000000000.log"), bytes).unwrap();
    let mut builder = BatchBuilder::new(BatchOptions::default());
    for _ in 0..10 {
        builder.append(ago(0), None, Some(b"a record"), &[]).unwrap();
    }
    let mut batch = builder.build(Offset(0));
    stamp(&mut batch, Offset(0), LeaderEpoch(0));
    fs::write(from.join("t-0/00000000000000000000.log"), batch).unwrap();
    fs::write(from.join("meta.properties"), "version=1\ncluster.id=an-old-cluster\n").unwrap();
    fs::write(from.join(".kafka_cleanshutdown"), "{}").unwrap();
    let data = folder.path().join("data");
    let (from, data) = (from.to_str().unwrap(), data.to_str().unwrap());
    run_alone(&["import", "--from", from, "--data-dir", data], folder.path()).ok();
    Server::start_in(folder)
}

/// The groups of which a rule speaks; "-" if it speaks of none.
fn groups_of(server: &Server, rule: &str, flags: &[&str]) -> BTreeSet<String> {
    let ran = server.run(&[&["doctor", "--format", "json"], flags].concat());
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let found = document["findings"].as_array().unwrap().iter().filter(|finding| finding["rule"] == rule);
    found.map(|finding| finding["group"].as_str().unwrap_or("-").to_owned()).collect()
}

fn only(group: &str) -> BTreeSet<String> {
    BTreeSet::from([group.to_owned()])
}

#[test]
fn offsets_that_expire_soon_or_by_their_own_wish_are_found() {
    let old = ago(6 * DAY_MS + DAY_MS / 2);
    let server = server_with([
        committed("old", 5, old, None),
        committed("young", 5, ago(5 * DAY_MS), None),
        committed("wish", 5, ago(0), Some(ago(-DAY_MS))),
    ]);
    assert_eq!(groups_of(&server, "near-expiry", &[]), only("old"));
    assert_eq!(groups_of(&server, "explicit-expiry", &[]), only("wish"));
    // The log alone tells that, and it need not be read.
    assert_eq!(groups_of(&server, "near-expiry", &["--history", "0"]), BTreeSet::new());
    let ran = server.run(&["doctor", "old", "--format", "csv", "--columns", "severity,rule,fix"]);
    assert!(
        ran.stdout.contains("\nwarning,near-expiry,milepost group reset old +0 --keep-metadata --all\n"),
        "{ran:?}"
    );
    // What it says mends it.
    server.run(&["group", "reset", "old", "+0", "--all", "--yes", "--no-snapshot"]).ok();
    assert_eq!(groups_of(&server, "near-expiry", &[]), BTreeSet::new());
}

#[test]
fn positions_that_go_back_or_stay_are_found() {
    let all = |group: &str, offsets: &[i64]| {
        let commits = offsets.iter().map(|offset| committed(group, *offset, ago(HOUR_MS), None));
        commits.collect::<Vec<Written>>()
    };
    let rounds = |group: &'static str, count: i32| (1..=count).map(move |round| shared(group, round, 1));
    let log = [
        all("back-and-forth", &[5, 3, 6, 2]),
        all("moved-back", &[3, 5, 2]),
        all("stuck", &[5; 21]),
        all("idle", &[10; 21]),
        all("failing", &[5]),
        rounds("failing", 6).chain([shared("failing", 7, 0)]).collect(),
        all("deployed", &[5]),
        rounds("deployed", 5).chain([shared("deployed", 6, 0)]).collect(),
    ];
    let server = server_with(log.concat());
    assert_eq!(groups_of(&server, "rewinds", &[]), only("back-and-forth"));
    assert_eq!(groups_of(&server, "commits-without-progress", &[]), only("stuck"));
    assert_eq!(groups_of(&server, "rebalances-without-progress", &[]), only("failing"));
}

#[test]
fn too_many_commits_are_found_and_too_few() {
    let minute = Timestamp(ago(HOUR_MS * 2).0.div_euclid(MINUTE_MS) * MINUTE_MS);
    let storm =
        (0..600).map(|number| committed("storm", number % 9, Timestamp(minute.0 + number * 99), None));
    let calm = (0..600).map(|number| committed("calm", number % 9, Timestamp(minute.0 + number * 101), None));
    let server = server_with(storm.chain(calm));
    assert_eq!(groups_of(&server, "commit-storm", &[]), only("storm"));
    // Nobody reads: there is nobody who ought to commit.
    assert_eq!(groups_of(&server, "rare-commits", &[]), BTreeSet::new());
    let mut cluster = Cluster::connect(vec![server.bootstrap.parse().unwrap()], Options::default()).unwrap();
    let mut member = GroupMember::new(&mut cluster, GroupOptions::new("calm"), &["t".to_owned()]).unwrap();
    while !matches!(member.poll(&mut cluster, Duration::from_secs(1)).unwrap(), GroupEvent::Assigned(_)) {}
    assert_eq!(groups_of(&server, "rare-commits", &[]), only("calm"));
}

#[test]
fn a_reader_that_is_no_member_is_found_while_it_commits() {
    let moved = |group: &str, ms: i64| {
        let commits = (1..=4).map(|offset| committed(group, offset, ago(ms), None));
        commits.collect::<Vec<Written>>()
    };
    let placed = vec![committed("placed", 1, ago(0), None), committed("placed", 2, ago(0), None)];
    let server = server_with([moved("alone", 1000), moved("ended", HOUR_MS), placed].concat());
    assert_eq!(groups_of(&server, "reader-without-membership", &[]), only("alone"));
}

#[test]
fn a_connector_that_does_not_run_is_found_beside_its_workers() {
    let connector = |name| [committed(name, 5, ago(0), None), shared(name, 1, 1), shared(name, 2, 0)];
    let workers = |members| shared_by("connect", "the-workers", 1, members);
    let with = |log: &[Written]| groups_of(&server_with(log.to_vec()), "connector-not-running", &[]);
    let running =
        [connector("connect-sink").to_vec(), connector("other").to_vec(), vec![workers(1)]].concat();
    assert_eq!(with(&running), only("connect-sink"));
    assert_eq!(with(&[connector("connect-sink").to_vec(), vec![workers(0)]].concat()), BTreeSet::new());
}

#[test]
fn a_position_that_stays_between_two_looks_is_found_if_somebody_reads() {
    let server = server();
    commit(&server, "slow", &[(0, 5, Some(0), "")]);
    commit(&server, "nobody", &[(0, 5, Some(0), "")]);
    let mut cluster = Cluster::connect(vec![server.bootstrap.parse().unwrap()], Options::default()).unwrap();
    let mut member = GroupMember::new(&mut cluster, GroupOptions::new("slow"), &["t".to_owned()]).unwrap();
    while !matches!(member.poll(&mut cluster, Duration::from_secs(1)).unwrap(), GroupEvent::Assigned(_)) {}
    assert_eq!(groups_of(&server, "unmoved-between-looks", &[]), BTreeSet::new());
    assert_eq!(groups_of(&server, "unmoved-between-looks", &["--for", "10"]), only("slow"));
}

#[test]
fn a_crowd_of_groups_in_one_partition_is_found() {
    let server = server();
    let at_home = |is_home: bool| {
        (0..)
            .map(|number| format!("g{number}"))
            .filter(move |name| (partition_for(name, 50).0 == 42) == is_home)
    };
    for group in at_home(true).take(6).chain(at_home(false).take(3)) {
        commit(&server, &group, &[(0, 5, Some(0), "")]);
    }
    assert_eq!(groups_of(&server, "hot-offsets-partition", &[]), BTreeSet::new());
    commit(&server, &at_home(true).nth(6).unwrap(), &[(0, 5, Some(0), "")]);
    assert_eq!(groups_of(&server, "hot-offsets-partition", &[]), only("-"));
}
