//! `milepost import`, and a server on what it made.

use std::fs;
use std::path::{Path, PathBuf};

use milepost_batch::{BatchBuilder, BatchOptions, stamp};
use milepost_model::{LeaderEpoch, Offset, Timestamp};
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
    let from = brokers_folder(folder.path());
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data-dir", from.to_str().unwrap()];
    let ran = run_alone(&serve, folder.path());
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("milepost import --from"), "{}", ran.stderr);
}
