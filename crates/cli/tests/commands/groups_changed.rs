//! The verbs that write offsets: what they say before, what they do, and that it can be undone.

use serde_json::{Value, json};

use crate::groups::{commit, partitions, server};
use crate::support::{Server, eventually};

/// What a group has committed: partition, offset, epoch, metadata.
pub(crate) fn committed(server: &Server, group: &str) -> Vec<(Value, Value, Value, Value)> {
    let ran = server.run(&["group", "describe", group, "--format", "json"]);
    let described: Value = serde_json::from_str(&ran.stdout).unwrap();
    let all = described["groups"][0]["partitions"].as_array().unwrap().clone();
    all.into_iter()
        .filter(|one| !one["offset"].is_null())
        .map(|one| {
            let field = |name: &str| one[name].clone();
            (field("partition"), field("offset"), field("leader_epoch"), field("metadata"))
        })
        .collect()
}

fn offset(server: &Server, group: &str) -> Value {
    partitions(server, group)[0]["offset"].clone()
}

/// Runs the undo line that a command printed, as a person would.
pub(crate) fn undo(server: &Server, line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[0], "milepost");
    server.run(&words[1..]).ok();
}

#[test]
fn one_grammar_says_where_to() {
    let server = server();
    commit(&server, "g", &[(0, 5, None, "")]);
    commit(&server, "other", &[(0, 3, Some(0), "theirs")]);
    let csv = server.folder.path().join("offsets.csv");
    std::fs::write(&csv, "t,0,2\n").unwrap();
    let file = format!("file:{}", csv.display());
    server.run(&["group", "snapshot", "create", "g", "--name", "five"]).ok();
    let targets = [
        ("earliest", 0),
        ("latest", 10),
        ("7", 7),
        ("-2", 5),
        ("+1", 6),
        ("group:other", 3),
        (file.as_str(), 2),
        ("snapshot:five", 5),
        ("@0", 0),
        ("@-0s", 10),
    ];
    for (target, expected) in targets {
        let document =
            server.run(&["group", "reset", "g", target, "--all", "--yes", "--format", "json"]).json();
        let one = &document["groups"][0]["partitions"][0];
        assert_eq!(
            (&one["new_offset"], &one["result"]),
            (&json!(expected), &json!("ok")),
            "{target}: {document}"
        );
        assert_eq!(offset(&server, "g"), expected, "{target}");
    }
    server.run(&["group", "reset", "g", "group:other", "--all", "--yes"]).ok();
    assert_eq!(committed(&server, "g"), committed(&server, "other"), "with epoch and metadata");
}

#[test]
fn what_was_there_comes_back_with_the_line_that_was_printed() {
    let server = server();
    // With an epoch and metadata, and a partition without a commit.
    commit(&server, "g", &[(0, 4, Some(0), "state of mine")]);
    let before = committed(&server, "g");
    let ran = server.run(&["group", "reset", "g", "latest", "--topic", "t", "--yes"]);
    let text = ran.ok();
    let line = text.lines().find_map(|line| line.strip_prefix("undo: ")).unwrap().to_owned();
    assert!(text.contains("skips 6") && text.contains("g t-0: 10, written and read back"), "{text}");
    assert_eq!(committed(&server, "g").len(), 2);
    undo(&server, &line);
    assert_eq!(committed(&server, "g"), before, "and nothing where there was nothing");
}

#[test]
fn a_dry_run_and_a_wide_scope_change_nothing() {
    let server = server();
    commit(&server, "g", &[(0, 4, None, "")]);
    let ran = server.run(&["group", "reset", "g", "earliest", "--yes"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("--all"), "{ran:?}");
    let ran = server.run(&["group", "reset", "g", "earliest", "--all"]);
    assert_eq!(ran.code, 2, "there is no terminal to ask on: {ran:?}");
    let plan = server.run(&["group", "reset", "g", "earliest", "--all", "--dry-run"]).lines();
    assert!(plan[1].contains("replays 4"), "{plan:?}");
    assert_eq!(offset(&server, "g"), 4);
    assert!(server.run(&["group", "snapshot", "list", "--no-headers"]).lines().is_empty());
}

#[test]
fn the_span_of_what_is_read_again_is_told() {
    let server = server();
    commit(&server, "g", &[(0, 9, None, "")]);
    let plan = server.run(&["group", "reset", "g", "2", "--all", "--dry-run", "--format", "json"]).json();
    let one = &plan["groups"][0]["partitions"][0];
    assert_eq!((&one["change"], &one["records"]), (&json!("replays"), &json!(7)));
    assert!(one["from_time_ms"].as_i64().unwrap() <= one["to_time_ms"].as_i64().unwrap(), "{one}");
    assert_eq!(
        one["new_leader_epoch"],
        one["old_leader_epoch"].as_i64().map_or(json!(1), |epoch| json!(epoch))
    );
}

#[test]
fn what_lies_outside_is_clamped_and_what_is_gone_hides_nothing() {
    let server = server();
    commit(&server, "g", &[(0, 4, None, "")]);
    let late = ["group", "reset", "g", "@2099-01-01T00:00Z", "--topic", "t", "--dry-run"];
    let ran = server.run(&late);
    assert!(ran.stderr.contains("g t-0 and 1 more: no record is that late, so it is the end"), "{ran:?}");
    let ran = server.run(&["group", "reset", "g", "500", "--topic", "t:0,7", "--yes"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("t-0: 500 is outside of the log, so it is 10"), "{ran:?}");
    assert!(ran.stderr.contains("t-7") && ran.stderr.contains("[UNKNOWN_TOPIC_OR_PARTITION]"), "{ran:?}");
    assert_eq!(offset(&server, "g"), 10);
}

#[test]
fn a_group_with_members_is_refused_before_anything_is_written() {
    let server = server();
    let mut member = server.spawn(&["consume", "t", "--group", "live"]);
    assert_eq!(member.line(), "0");
    for verb in [["reset", "live", "earliest", "--all"], ["delete", "live", "--no-snapshot", "--no-headers"]]
    {
        let arguments = [&["group"], verb.as_slice(), &["--yes"]].concat();
        let ran = server.run(&arguments);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("1 members") && ran.stderr.contains("[NON_EMPTY_GROUP]"), "{ran:?}");
    }
    member.signal("TERM");
    member.end().ok();
}

#[test]
fn groups_are_made_copied_and_deleted() {
    let server = server();
    let ran = server.run(&["group", "create", "made", "6", "--topic", "t:0", "--yes"]);
    assert!(ran.stderr.contains("made: there is no such group; it will be made"), "{ran:?}");
    ran.ok();
    let ran = server.run(&["group", "create", "made", "1", "--topic", "t:0", "--yes"]);
    assert!(ran.code == 1 && ran.stderr.contains("exists already"), "{ran:?}");

    server.run(&["topic", "create", "u"]).ok();
    server.run(&["group", "copy", "made", "copied", "--yes"]).ok();
    assert_eq!(committed(&server, "copied"), committed(&server, "made"));
    // The other topic is empty: nothing is ever written beyond its end.
    let ran =
        server.run(&["group", "copy", "made", "mapped", "--map-topic", "t=u", "--yes", "--format", "json"]);
    assert!(ran.stderr.contains("u-0: 6 is outside of the log, so it is 0"), "{ran:?}");
    assert_eq!(ran.json()["groups"][0]["partitions"][0]["clamped_from"], 6);

    let text = server.run(&["group", "delete", "--match", "^(copied|mapped)$", "--yes"]).ok();
    let undo_line = text.lines().find_map(|line| line.strip_prefix("undo: ")).unwrap().to_owned();
    let names = || server.run(&["group", "list", "--no-headers", "--columns", "group"]).lines();
    assert_eq!(names(), ["made"]);
    undo(&server, &undo_line);
    assert_eq!(names(), ["copied", "made", "mapped"]);
    assert_eq!(committed(&server, "copied"), committed(&server, "made"));
}

#[test]
fn offsets_of_topics_that_nobody_reads_go() {
    let server = server();
    server.run(&["topic", "create", "old"]).ok();
    server.run(&["group", "create", "g", "earliest", "--topic", "old", "--yes"]).ok();
    let ran = server.run(&["group", "delete-offsets", "g", "--unsubscribed", "--yes"]);
    assert!(ran.code == 1 && ran.stderr.contains("no members"), "{ran:?}");
    let mut member = server.spawn(&["consume", "t", "--group", "g"]);
    assert_eq!(member.line(), "0");
    eventually("the commit", || committed(&server, "g").len() > 1);
    server.run(&["group", "delete-offsets", "g", "--unsubscribed", "--yes"]).ok();
    let topics =
        server.run(&["group", "describe", "g", "--by", "topic", "--no-headers", "--columns", "topic"]);
    assert_eq!(topics.lines(), ["t"]);
    // What is read is not deleted.
    let ran = server.run(&["group", "delete-offsets", "g", "--topic", "t:0", "--yes"]);
    assert!(ran.code == 1 && ran.stderr.contains("[GROUP_SUBSCRIBED_TO_TOPIC]"), "{ran:?}");
    member.signal("TERM");
    member.end().ok();
}
