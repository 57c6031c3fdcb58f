//! `milepost doctor`, on states of a real server: of each rule one that it finds, and one that it does not.

use serde_json::{Value, json};

use crate::groups::{commit, partitions, server};
use crate::support::{PROGRAM, Ran, Server, eventually};

/// Which rules speak of a group, or of the cluster, and the exit code.
fn rules(server: &Server, groups: &[&str]) -> (i32, Vec<String>) {
    let ran = server.run(&[&["doctor", "--format", "json"], groups].concat());
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(document["unseen"], json!([]), "{ran:?}");
    let found = document["findings"].as_array().unwrap().iter();
    (ran.code, found.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn a_group_that_is_well_is_no_finding() {
    let server = server();
    commit(&server, "g", &[(0, 5, Some(0), ""), (1, 0, None, "")]);
    assert_eq!(rules(&server, &[]), (0, Vec::new()));
    let ran = server.run(&["doctor"]);
    assert!(ran.code == 0 && ran.stderr.ends_with("nothing found in 1 groups\n"), "{ran:?}");
}

#[test]
fn positions_that_cannot_be_are_critical() {
    let server = server();
    commit(&server, "beyond", &[(0, 25, Some(0), "")]);
    commit(&server, "epoch", &[(0, 5, Some(9), "what is done")]);
    assert_eq!(rules(&server, &["beyond"]), (12, vec!["beyond-log-end".to_owned()]));
    assert_eq!(rules(&server, &["epoch"]), (12, vec!["epoch-newer-than-log".to_owned()]));
    let found = server.run(&["doctor", "--no-headers", "beyond", "--columns", "severity,found,fix"]);
    assert_eq!(found.code, 12);
    assert_eq!(
        found.stdout,
        "critical  the group is at 25, and the log ends at 10: earliest reads the 10 offsets that it has, latest would skip them  \
         milepost group reset beyond earliest --topic t:0\n"
    );
    // What it says mends it.
    mend(&server, "beyond");
    mend(&server, "epoch");
    assert_eq!(rules(&server, &[]), (0, Vec::new()));
    let at = |group: &str| partitions(&server, group)[0].clone();
    assert_eq!(at("beyond")["offset"], 0);
    assert_eq!((&at("epoch")["offset"], &at("epoch")["metadata"]), (&json!(5), &json!("what is done")));
}

#[test]
fn what_is_committed_beside_an_offset_is_looked_at() {
    let server = server();
    commit(&server, "bare", &[(0, 5, None, "")]);
    commit(&server, "full", &[(0, 5, Some(0), &"x".repeat(4000))]);
    commit(&server, "roomy", &[(0, 5, Some(0), &"x".repeat(3000))]);
    assert_eq!(rules(&server, &["bare"]), (10, vec!["commit-without-epoch".to_owned()]));
    assert_eq!(rules(&server, &["full"]), (11, vec!["metadata-near-limit".to_owned()]));
    assert_eq!(rules(&server, &["roomy"]), (0, Vec::new()));
}

#[test]
fn a_topic_that_outlives_its_offsets_is_a_warning() {
    let server = Server::start();
    server.run(&["topic", "create", "t", "--config", "retention.ms=-1"]).ok();
    commit(&server, "g", &[(0, 0, None, "")]);
    assert_eq!(rules(&server, &["g"]), (11, vec!["offset-retention-below-topic-retention".to_owned()]));
}

#[test]
fn a_partition_that_a_member_reads_and_never_committed_is_a_notice() {
    let server = server();
    let mut member = server.spawn(&["consume", "t", "--group", "live"]);
    assert_eq!(member.line(), "0");
    eventually("the commit", || partitions(&server, "live").iter().any(|one| one["offset"] == 10));
    let is_found = || rules(&server, &["live"]).1.iter().any(|rule| rule == "never-committed");
    assert!(is_found());
    member.signal("TERM");
    member.end().ok();
    // Whom nobody reads for, that is no hazard to.
    eventually("the end of the member", || !is_found());
}

#[test]
fn groups_made_for_one_run_are_counted() {
    let server = server();
    for index in 0..9 {
        commit(&server, &format!("console-consumer-{index}"), &[(0, 5, Some(0), "")]);
    }
    assert_eq!(rules(&server, &["--match", "^console"]), (0, Vec::new()));
    commit(&server, "console-consumer-9", &[(0, 5, Some(0), "")]);
    assert_eq!(rules(&server, &["--match", "^console"]), (10, vec!["ephemeral-groups".to_owned()]));
}

/// Runs what `doctor` says of a group, as a shell would.
fn mend(server: &Server, group: &str) {
    let found = server.run(&["doctor", "--format", "json", "--", group]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    let fix = found["findings"][0]["fix"].as_str().unwrap();
    let yes = fix.replacen("milepost group reset", &format!("{PROGRAM} group reset --yes --no-snapshot"), 1);
    let ran = std::process::Command::new("bash")
        .args(["-c", &yes])
        .env("MILEPOST_BOOTSTRAP", &server.bootstrap)
        .output();
    Ran::of(&ran.unwrap()).ok();
}

#[test]
fn a_fix_can_be_typed_whatever_a_group_is_called() {
    let server = server();
    for group in ["-dash", "blank $(no) it's", "line\n\u{1b}[31m"] {
        commit(&server, group, &[(0, 25, Some(0), "")]);
        mend(&server, group);
        assert_eq!(rules(&server, &["--", group]), (0, Vec::new()), "{group:?}");
        // Neither here nor in a list does a terminal obey it.
        commit(&server, group, &[(0, 25, Some(0), "m\u{7}")]);
        let words =
            [["doctor", "--format", "wide"].as_slice(), &["group", "list"], &["group", "describe", "--all"]];
        for command in words {
            let ran = server.run(command);
            let shown = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!shown.replace('\n', "").contains(char::is_control), "{shown:?}");
            assert!(!shown.contains("\n\u{1b}"), "{shown:?}");
        }
    }
}

#[test]
fn a_group_that_is_named_and_not_there_is_an_error() {
    let server = server();
    commit(&server, "beyond", &[(0, 25, Some(0), "")]);
    let ran = server.run(&["doctor", "no-such-group"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (1, "milepost: no-such-group: there is no such group [GROUP_ID_NOT_FOUND]\n"),
    );
    let ran = server.run(&["doctor", "no-such-group", "beyond"]);
    assert!(ran.code == 1 && ran.stdout.contains("beyond-log-end"), "{ran:?}");
}
