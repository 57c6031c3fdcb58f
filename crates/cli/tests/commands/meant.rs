//! What is mistyped, or means something else by now, changes nothing; and what is put back is as it was.

use serde_json::{Value, json};

use crate::groups::{commit, fill, server};
use crate::groups_changed::{committed, undo};
use crate::support::Server;

/// Writes a file into the server's folder, and gives its path.
fn file(server: &Server, name: &str, text: &str) -> String {
    let path = server.folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs a verb that has to be refused before anything is planned.
#[track_caller]
fn assert_refused(server: &Server, verb: &[&str], words: &str) {
    let ran = server.run(&[&["group"], verb, &["--yes"]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains(words), "{ran:?}");
}

#[test]
fn offsets_of_a_topic_that_was_made_again_are_left_out() {
    let server = server();
    commit(&server, "g", &[(0, 4, None, "")]);
    server.run(&["group", "snapshot", "create", "g", "--name", "s"]).ok();
    let exported = file(&server, "g.jsonl", &server.run(&["group", "export", "g"]).ok());
    server.run(&["topic", "delete", "t", "--yes"]).ok();
    fill(&server);
    let of_file = format!("file:{exported}");
    for verb in [
        ["snapshot", "restore", "s"].as_slice(),
        &["import", &exported],
        &["reset", "g", "snapshot:s", "--all"],
        &["reset", "g", &of_file],
    ] {
        let ran = server.run(&[&["group"], verb, &["--yes", "--format", "json"]].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("t-0: the topic was made again since"), "{ran:?}");
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        let group = &document["groups"][0];
        assert_eq!((&group["partitions"], &group["left_out"][0]["partition"]), (&json!([]), &json!(0)));
    }
    // Found by its time a place means the same.
    server.run(&["group", "import", &exported, "--by-time", "--yes"]).ok();
    assert_eq!(committed(&server, "g")[0].1, 0);
}

#[test]
fn a_snapshot_of_another_cluster_is_refused() {
    let (ours, other) = (server(), server());
    for server in [&ours, &other] {
        commit(server, "g", &[(0, 4, None, "")]);
    }
    ours.run(&["group", "snapshot", "create", "g", "--name", "s"]).ok();
    let folder = ours.folder.path().join("snapshots");
    let at = ["--snapshots", folder.to_str().unwrap()];
    for verb in [
        ["reset", "g", "snapshot:s", "--all", "--yes"].as_slice(),
        &["snapshot", "restore", "s", "--yes"],
        &["snapshot", "diff", "s"],
    ] {
        let ran = other.run(&[&["group"], verb, &at].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(ran.stderr.contains("the snapshot is of the cluster"), "{ran:?}");
    }
    other.run(&[["group", "snapshot", "create", "g", "--name", "theirs"].as_slice(), &at].concat()).ok();
    let ran = other.run(&[["group", "snapshot", "diff", "s", "theirs"].as_slice(), &at].concat());
    assert!(ran.code == 0 && ran.stderr.contains("snapshots of two clusters"), "{ran:?}");
}

#[test]
fn what_is_mistyped_is_refused_before_anything_is_planned() {
    let server = server();
    server.run(&["topic", "create", "orders"]).ok();
    server.run(&["group", "create", "g", "earliest", "--topic", "orders", "--topic", "t:0", "--yes"]).ok();
    let rows = file(&server, "rows.csv", "g,t,0,1\ng,orders,0,0\nh,t,0,2\n");
    let twice = file(&server, "twice.csv", "g,t,0,1\ng,t,0,2\n");
    let cases: [(&[&str], &str); 12] = [
        (&["import", &rows, "--map-group", "gg=x"], "gg=x: nothing of gg"),
        (&["import", &rows, "--map-group", "g=h"], "both g and h would be written as h"),
        (&["import", &rows, "--map-group", "g=x", "--map-group", "g=y"], "g is mapped to both x and y"),
        (&["import", &rows, "--group", "zz"], "the file names its groups itself"),
        (&["import", &rows, "--topic", "order"], "order: there is nothing of it"),
        (&["import", &rows, "--map-topic", "ordrs=small"], "ordrs=small: nothing of ordrs"),
        (&["import", &rows, "--map-topic", "t=orders"], "both orders and t would be written as orders"),
        (&["import", &twice], "two rows of g t-0: 1 and 2"),
        (&["copy", "g", "to", "--map-topic", "ordrs=small"], "ordrs=small: nothing of ordrs"),
        (&["copy", "g", "to", "--map-topic", "t=orders"], "both orders and t would be written as orders"),
        (&["copy", "g", "to", "--map-topic", "t=a", "--map-topic", "t=b"], "t is mapped to both a and b"),
        (&["copy", "g", "to", "--topic", "ordrs"], "ordrs: there is nothing of it"),
    ];
    for (verb, words) in cases {
        assert_refused(&server, verb, words);
    }
    server.run(&["group", "snapshot", "create", "g", "--name", "s"]).ok();
    assert_refused(
        &server,
        &["snapshot", "restore", "s", "--topic", "ordrs"],
        "ordrs: there is nothing of it",
    );
    assert_eq!(server.run(&["group", "list", "--no-headers", "--columns", "group"]).lines(), ["g"]);
}

#[test]
fn a_restore_puts_back_what_was_and_deletes_what_was_not() {
    let server = server();
    commit(&server, "g", &[(0, 4, None, "m")]);
    let before = committed(&server, "g");
    server.run(&["group", "snapshot", "create", "g", "--name", "s"]).ok();
    commit(&server, "g", &[(0, 4, Some(0), "n"), (1, 0, Some(0), "")]);
    let diff = server.run(&["group", "snapshot", "diff", "s", "--no-headers"]).lines();
    assert_eq!(diff, ["g  t  0  4  4  epoch, metadata", "g  t  1  -  0  -"]);
    let text = server.run(&["group", "snapshot", "restore", "s", "--yes"]).ok();
    assert!(text.contains("deletes") && text.contains("g t-1: deleted"), "{text}");
    assert_eq!(committed(&server, "g"), before, "also without an epoch");
    let line = text.lines().find_map(|line| line.strip_prefix("undo: ")).unwrap();
    undo(&server, line);
    assert_eq!(committed(&server, "g").len(), 2);
}

#[test]
fn an_undo_touches_only_what_was_changed() {
    let server = server();
    commit(&server, "g", &[(0, 4, None, ""), (1, 0, None, "")]);
    let text = server.run(&["group", "reset", "g", "latest", "--topic", "t:0", "--yes"]).ok();
    commit(&server, "g", &[(1, 0, None, "later")]);
    undo(&server, text.lines().find_map(|line| line.strip_prefix("undo: ")).unwrap());
    let of = |index: usize| committed(&server, "g")[index].clone();
    assert_eq!(of(0), (json!(0), json!(4), Value::Null, json!("")));
    assert_eq!(of(1).3, "later");
}

#[test]
fn partitions_that_the_other_group_lacks_are_said() {
    let server = server();
    commit(&server, "g", &[(0, 4, None, ""), (1, 0, None, "")]);
    commit(&server, "other", &[(0, 7, None, "")]);
    let ran = server.run(&["group", "reset", "g", "group:other", "--topic", "t", "--yes"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("nothing is said of t-1"), "{ran:?}");
    assert_eq!((&committed(&server, "g")[0].1, &committed(&server, "g")[1].1), (&json!(7), &json!(0)));
}

#[test]
fn a_file_comes_from_standard_input_too() {
    let server = server();
    server.run_with(&["group", "import", "-", "--group", "g", "--yes"], "t,0,6\n").ok();
    assert_eq!(committed(&server, "g")[0].1, 6);
    let ran = server.run_with(&["group", "import", "-", "--group", "g", "--yes"], "t,0,6\nt,zero,1\n");
    assert!(ran.code == 2 && ran.stderr.contains("standard input: line 2"), "{ran:?}");
}
