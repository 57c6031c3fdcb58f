//! `milepost import`, and a server on what it made.

use std::fs;
use std::path::{Path, PathBuf};

use milepost_batch::{BatchBuilder, BatchOptions, stamp};
use milepost_model::{LeaderEpoch, Offset, PartitionIndex, Timestamp};
use milepost_records::offsets::{OffsetCommitKey, OffsetCommitValue};
use serde_json::json;

use crate::support::{Server, run_alone};

/// A folder as a Kafka broker leaves it: the topic `orders` with two records, and nothing committed.
fn brokers_folder(in_folder: &Path) -> PathBuf {
    let folder = in_folder.join("kafka");
    for partition in ["__consumer_offsets-0", "orders-0"] {
        fs::create_dir_all(folder.join(partition)).unwrap();
        fs::write(folder.join(partition).join("00000000000000000000.log"), b"").unwrap();
    }
    fs::write(folder.join("meta.properties"), "version=1\ncluster.id=an-old-cluster\n").unwrap();
    fs::write(folder.join(".kafka_cleanshutdown"), "{}").unwrap();
    let mut builder = BatchBuilder::new(BatchOptions::default());
    for value in [b"one", b"two"] {
        builder.append(Timestamp(1_700_000_000_000), None, Some(value), &[]).unwrap();
    }
    let mut batch = builder.build(Offset(40));
    stamp(&mut batch, Offset(40), LeaderEpoch(3));
    fs::write(folder.join("orders-0/00000000000000000000.log"), batch).unwrap();
    folder
}

#[test]
fn a_brokers_folder_is_moved_in_and_served() {
    let folder = tempfile::tempdir().unwrap();
    let from = brokers_folder(folder.path());
    let from = from.to_str().unwrap();
    let data = folder.path().join("data");
    let import = |flags: &[&str]| {
        let arguments = [&["import", "--from", from, "--data-dir", data.to_str().unwrap()], flags].concat();
        run_alone(&arguments, folder.path())
    };
    let said = import(&["--dry-run"]).ok();
    assert!(said.starts_with("would take 0 committed offsets of 0 groups from 1 partitions"), "{said}");
    assert!(!data.exists());
    let said = import(&["--format", "json"]).json();
    assert_eq!(said["written"], true);
    assert_eq!(said["cluster_id"], "an-old-cluster");
    assert_eq!(said["topics"], json!([{"name": "orders", "partitions": 1}]));
    let again = import(&[]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("has topics already"), "{}", again.stderr);

    let server = Server::start_in(folder);
    let lines = server.run(&["consume", "orders", "--until-end", "--format", "%o %v"]).lines();
    assert_eq!(lines, ["40 one", "41 two"]);
}

#[test]
fn a_server_started_on_a_brokers_folder_says_how_to_move_it_in() {
    let folder = tempfile::tempdir().unwrap();
    let from = brokers_folder(&folder.path().join("a folder"));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data-dir", from.to_str().unwrap()];
    let ran = run_alone(&serve, folder.path());
    assert_eq!(ran.code, 1);
    let import = format!("milepost import --from '{}' --data-dir NEW-FOLDER", from.display());
    assert!(ran.stderr.contains(&import), "{}", ran.stderr);
}

/// A commit of a group, for partition 0 of a topic, so many days ago.
struct Commit {
    group: &'static str,
    topic: &'static str,
    offset: i64,
    metadata: &'static str,
    days_ago: i64,
}

/// Groups have committed this, as a broker writes it down.
fn commit(folder: &Path, commits: &[Commit]) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let now = Timestamp(i64::try_from(now).unwrap());
    let mut builder = BatchBuilder::new(BatchOptions::default());
    for one in commits {
        let time = now.plus_ms(-one.days_ago * 86_400_000);
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let partition = PartitionIndex(0);
        OffsetCommitKey { group: one.group, topic: one.topic, partition }.encode(&mut key).unwrap();
        let committed = OffsetCommitValue {
            offset: Offset(one.offset),
            leader_epoch: Some(LeaderEpoch(3)),
            metadata: one.metadata,
            commit_timestamp: time,
            expire_timestamp: None,
            topic_id: None,
        };
        committed.encode(&mut value).unwrap();
        builder.append(time, Some(&key), Some(&value), &[]).unwrap();
    }
    let mut batch = builder.build(Offset(0));
    stamp(&mut batch, Offset(0), LeaderEpoch(0));
    fs::write(folder.join("__consumer_offsets-0/00000000000000000000.log"), batch).unwrap();
}

/// A server on what was moved in from a broker in which groups had committed this.
fn server_with(commits: &[Commit]) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let from = brokers_folder(folder.path());
    commit(&from, commits);
    let data = folder.path().join("data");
    let arguments = ["import", "--from", from.to_str().unwrap(), "--data-dir", data.to_str().unwrap()];
    run_alone(&arguments, folder.path()).ok();
    Server::start_in(folder)
}

#[test]
fn groups_that_nobody_used_for_a_while_are_found_and_deleted() {
    let commit = |group, days_ago| Commit { group, topic: "orders", offset: 41, metadata: "", days_ago };
    let server = server_with(&[commit("old-pod", 3), commit("young-pod", 1), commit("billing", 3)]);
    let listed = |span: &str| {
        let said =
            server.run(&["group", "list", "--unused-for", span, "--format", "csv", "--columns", "group"]);
        said.lines().split_off(1)
    };
    assert_eq!(listed("2d"), ["billing", "old-pod"]);
    assert_eq!(listed("12h"), ["billing", "old-pod", "young-pod"]);
    assert_eq!(listed("4d"), Vec::<String>::new());
    server.run(&["group", "delete", "--unused-for", "2d", "--match", "pod$", "--yes"]).ok();
    assert_eq!(listed("12h"), ["billing", "young-pod"]);
    // Whoever has just committed again is not unused.
    server.run(&["group", "reset", "billing", "earliest", "--all", "--yes"]).ok();
    assert_eq!(listed("12h"), ["young-pod"]);
    let ran = server.run(&["group", "list", "--unused-for", "soon"]);
    assert_eq!((ran.code, ran.stderr.contains("no span of time")), (2, true), "{ran:?}");
}

#[test]
fn when_offsets_were_committed_and_when_they_expire_is_told() {
    const DAY_MS: i64 = 86_400_000;
    let commit = |group, days_ago| Commit { group, topic: "orders", offset: 41, metadata: "", days_ago };
    let server = server_with(&[commit("billing", 3), commit("mail", 0)]);
    let times = |group: &str| {
        let described = ["group", "describe", group, "--commit-times", "--format", "json"];
        let partition = server.run(&described).json()["groups"][0]["partitions"][0].clone();
        (partition["committed_at_ms"].as_i64(), partition["expires_at_ms"].as_i64())
    };
    let (committed, expires) = times("billing");
    // The server's retention is seven days.
    assert_eq!(expires.unwrap() - committed.unwrap(), 7 * DAY_MS);
    let later = times("mail").0.unwrap() - committed.unwrap();
    assert!((3 * DAY_MS..4 * DAY_MS).contains(&later), "{later}");
    // While somebody reads it the clock stands still.
    let mut member = server.spawn(&["consume", "orders", "--group", "billing"]);
    assert_eq!(member.line(), "two");
    let (still, expires) = times("billing");
    assert!(still.is_some() && expires.is_none(), "{still:?} {expires:?}");
    member.signal("TERM");
    member.end().ok();
    let (committed, expires) = times("billing");
    assert!(expires.unwrap() - committed.unwrap() >= 7 * DAY_MS);
    // Who does not ask is told nothing, and nothing is read for it.
    let plain = server.run(&["group", "describe", "billing", "--format", "json"]).json();
    assert!(plain["groups"][0]["partitions"][0]["committed_at_ms"].is_null());
    let table = server.run(&["group", "describe", "billing", "--commit-times"]).ok();
    assert!(table.contains("COMMITTED-AT") && table.contains("EXPIRES-AT"), "{table}");
}

#[test]
fn offsets_of_a_topic_that_is_gone_go_with_a_group_that_is_made_anew() {
    let commit = |topic, offset, metadata| Commit { group: "billing", topic, offset, metadata, days_ago: 0 };
    // `invoices` was deleted long ago.
    let server = server_with(&[commit("orders", 41, "kept"), commit("invoices", 7, "")]);
    let committed = || server.run(&["group", "export", "billing", "--as", "csv"]).lines();
    assert_eq!(committed(), ["invoices,0,7", "orders,0,41"]);
    let found = server.run(&["doctor", "billing"]);
    assert!(found.stdout.contains("group delete-offsets billing --gone --rebuild"), "{}", found.stdout);

    // One by one brokers do not delete them, which is said beforehand.
    let gone = ["group", "delete-offsets", "billing", "--gone", "--yes"];
    let refused = server.run(&gone);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("--rebuild does it"), "{}", refused.stderr);
    assert!(refused.stderr.contains("[UNKNOWN_TOPIC_OR_PARTITION]"), "{}", refused.stderr);
    assert_eq!(committed(), ["invoices,0,7", "orders,0,41"]);

    let rebuild = [&gone[..], &["--rebuild"]].concat();
    let said = server.run(&rebuild).ok();
    assert!(said.contains("invoices-0: deleted") && said.contains("orders-0: 41"), "{said}");
    let described = server.run(&["group", "describe", "billing", "--format", "json"]).json();
    let partitions = described["groups"][0]["partitions"].as_array().unwrap();
    assert_eq!(partitions.len(), 1, "{described}");
    let expected = json!({"topic": "orders", "offset": 41, "leader_epoch": 3, "metadata": "kept"});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&partitions[0][field], value, "{field}");
    }
}
