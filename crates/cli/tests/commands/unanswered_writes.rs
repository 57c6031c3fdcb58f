//! What is said of a change when the cluster says nothing.

use serde_json::Value;

use crate::proxy::{DELETE_GROUPS, Loss, OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH, Proxied};
use crate::support::{Ran, eventually};

/// A topic of two partitions with ten records, and the group `g` at 2 in both.
fn proxied() -> Proxied {
    let proxied = Proxied::start();
    let server = &proxied.server;
    server.run(&["topic", "create", "t", "--partitions", "2"]).ok();
    let lines: String = (0..10).map(|number| format!("{number}\n")).collect();
    server.run_with(&["produce", "t"], &lines).ok();
    server.run(&["group", "create", "g", "2", "--topic", "t", "--yes"]).ok();
    proxied
}

/// The command with little patience.
fn run(proxied: &Proxied, arguments: &[&str]) -> Ran {
    proxied.server.run(&[arguments, &["--timeout", "1"]].concat())
}

/// What the group has committed, once everything gets through again.
fn committed(proxied: &Proxied) -> Vec<Option<i64>> {
    proxied.lose_nothing();
    let described = proxied.server.run(&["group", "describe", "g", "--format", "json"]);
    if described.code != 0 {
        return Vec::new();
    }
    let document = described.json();
    let partitions = document["groups"][0]["partitions"].as_array().cloned().unwrap_or_default();
    partitions.iter().map(|one: &Value| one["offset"].as_i64()).collect()
}

#[test]
fn a_write_whose_answer_was_lost_is_looked_for() {
    let proxied = proxied();
    proxied.lose(OFFSET_COMMIT, Loss::Answer);
    let ran = run(&proxied, &["group", "reset", "g", "5", "--all", "--yes"]);
    assert!(ran.code == 0 && ran.stdout.contains("g t-0: 5, written and read back"), "{ran:?}");
    assert_eq!(committed(&proxied), [Some(5), Some(5)]);

    proxied.lose(OFFSET_DELETE, Loss::Answer);
    run(&proxied, &["group", "delete-offsets", "g", "--topic", "t:0", "--yes"]).ok();
    assert_eq!(committed(&proxied), [Some(5)]);

    proxied.lose(DELETE_GROUPS, Loss::Answer);
    run(&proxied, &["group", "delete", "g", "--yes"]).ok();
    assert_eq!(committed(&proxied), []);
}

#[test]
fn a_write_that_did_not_arrive_has_failed_and_the_way_back_is_said_again() {
    let proxied = proxied();
    proxied.lose(OFFSET_COMMIT, Loss::Request);
    let ran = run(&proxied, &["group", "reset", "g", "5", "--all", "--yes"]);
    assert!(ran.code == 4 && ran.stdout.contains("g t-0: FAILED"), "{ran:?}");
    assert!(ran.stderr.contains("puts everything back: milepost group snapshot restore"), "{ran:?}");
    assert_eq!(committed(&proxied), [Some(2), Some(2)]);

    proxied.lose(DELETE_GROUPS, Loss::Request);
    let ran = run(&proxied, &["group", "delete", "g", "--yes"]);
    assert!(ran.code == 4 && ran.stdout.contains("FAILED"), "{ran:?}");
    assert_eq!(committed(&proxied), [Some(2), Some(2)]);
}

#[test]
fn what_cannot_be_read_back_is_in_doubt() {
    let proxied = proxied();
    proxied.lose(OFFSET_COMMIT, Loss::Answer);
    let arguments = ["group", "reset", "g", "5", "--all", "--yes", "--timeout", "3"];
    let mut reset = proxied.server.spawn(&arguments);
    while !reset.line().starts_with("undo:") {}
    proxied.lose(OFFSET_FETCH, Loss::Answer);
    let ran = reset.end();
    assert!(ran.code == 4 && ran.stderr.contains("it is not known whether it was done"), "{ran:?}");
    assert_eq!(committed(&proxied), [Some(5), Some(5)]);
}

#[test]
fn a_group_that_could_not_be_made_anew_is_told_and_comes_back_with_the_line_that_is_printed() {
    let proxied = proxied();
    proxied.lose(OFFSET_COMMIT, Loss::Request);
    let rebuild = ["group", "delete-offsets", "g", "--topic", "t:0", "--rebuild", "--yes"];
    let ran = run(&proxied, &rebuild);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stderr.contains("the group was deleted, and this was not written again"), "{ran:?}");
    assert_eq!(committed(&proxied), []);
    let undo = ran.stdout.lines().find_map(|line| line.strip_prefix("undo: milepost ")).unwrap();
    proxied.server.run(&undo.split(' ').collect::<Vec<_>>()).ok();
    assert_eq!(committed(&proxied), [Some(2), Some(2)]);
}

#[test]
fn a_stop_during_the_write_says_what_was_done() {
    let proxied = proxied();
    proxied.lose(OFFSET_COMMIT, Loss::Answer);
    let mut reset = proxied.server.spawn(&["group", "reset", "g", "5", "--all", "--yes"]);
    while !reset.line().starts_with("undo:") {}
    eventually("the commit is done, and its answer lost", || proxied.lost() > 0);
    reset.signal("INT");
    let ran = reset.end();
    assert!(ran.stdout.contains("g t-0: 5, written and read back"), "{ran:?}");
    assert_eq!(committed(&proxied), [Some(5), Some(5)]);
}
