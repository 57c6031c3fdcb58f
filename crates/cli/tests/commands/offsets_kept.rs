//! `milepost offsets history` and `milepost group undelete`.

use serde_json::{Value, json};

use crate::groups::{commit, partitions, server};

#[test]
fn a_group_has_a_history() {
    let server = server();
    commit(&server, "g", &[(0, 4, Some(0), "m")]);
    commit(&server, "other", &[(0, 1, None, "")]);
    commit(&server, "g", &[(0, 3, None, ""), (1, 0, None, "")]);
    server.run(&["group", "delete-offsets", "g", "--topic", "t:1", "--yes", "--no-snapshot"]).ok();
    let ran = server.run(&[
        "offsets",
        "history",
        "--group",
        "g",
        "--format",
        "csv",
        "--columns",
        "topic,partition,offset,moved,epoch",
    ]);
    assert_eq!(ran.stderr, "milepost: g: the log shows every commit\n");
    let lines = ran.lines();
    assert_eq!(
        lines,
        ["TOPIC,PARTITION,OFFSET,MOVED,EPOCH", "t,0,4,-,0", "t,0,3,-1,-", "t,1,0,-,-", "t,1,-,-,-"]
    );

    let document = server.run(&["offsets", "history", "--group", "g", "--format", "json"]).json();
    let events = document["events"].as_array().unwrap();
    assert_eq!((&document["complete"], &document["pending"], events.len()), (&json!("always"), &json!(0), 4));
    assert_eq!((&events[0]["metadata"], &events[3]["change"]), (&json!("m"), &json!("removed")));
    let at = |time: &str| {
        let ran = server.run(&["offsets", "history", "-g", "g", "--at", time, "--format", "json"]).json();
        let offsets = ran["events"].as_array().unwrap().iter().map(|event| event["offset"].clone());
        offsets.collect::<Vec<Value>>()
    };
    assert_eq!(at("1000"), Vec::<Value>::new());
    let said = |flags: &[&str]| server.run(&[&["offsets", "history"], flags].concat()).stderr;
    assert_eq!(said(&["-g", "nobody"]), "milepost: nobody: the log has no commit of the group\n");
    assert_eq!(
        said(&["-g", "g", "--at", "1000"]),
        "milepost: g: the log shows every commit\nmilepost: g: the log has no commit by then\n"
    );
    let of_other = said(&["-g", "g", "--topic", "other"]);
    assert!(of_other.ends_with("g: the log has no commit of these topics\n"), "{of_other}");
    assert_eq!(at("-0s"), [json!(3), Value::Null]);
}

#[test]
fn what_was_deleted_is_put_back_from_the_log() {
    let server = server();
    commit(&server, "g", &[(0, 4, Some(0), "m"), (1, 0, None, "")]);
    let nothing = server.run(&["group", "undelete", "g", "--yes"]);
    assert!(nothing.code == 1 && nothing.stderr.contains("nothing that was deleted"), "{nothing:?}");
    server.run(&["group", "delete", "g", "--yes", "--no-snapshot"]).ok();
    let planned = server.run(&["group", "undelete", "g", "--dry-run", "--format", "json"]).json();
    assert_eq!(planned["groups"][0]["partitions"][0]["new_offset"], 4);
    assert_eq!(server.run(&["group", "list", "--no-headers"]).ok(), "", "a dry run changes nothing");

    server.run(&["group", "undelete", "g", "--topic", "t:0", "--yes", "--no-snapshot"]).ok();
    assert_eq!(partitions(&server, "g").len(), 1);
    server.run(&["group", "undelete", "g", "--yes", "--no-snapshot"]).ok();
    let shown = partitions(&server, "g");
    assert_eq!(
        (&shown[0]["offset"], &shown[0]["leader_epoch"], &shown[0]["metadata"]),
        (&json!(4), &json!(0), &json!("m"))
    );
    assert_eq!(shown[1]["offset"], 0);
}

#[test]
fn nothing_is_put_back_into_another_topic_of_the_same_name() {
    let server = server();
    commit(&server, "g", &[(0, 4, None, "")]);
    server.run(&["topic", "delete", "t", "--yes"]).ok();
    server.run(&["topic", "create", "t"]).ok();
    crate::support::eventually("the offsets of the deleted topic are gone", || {
        let dumped = server.run(&["offsets", "dump", "-g", "g", "--only", "offsets"]).lines();
        dumped.iter().any(|line| line.ends_with("deleted"))
    });
    let ran = server.run(&["group", "undelete", "g", "--yes", "--no-snapshot"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("the topic was made again since"), "{ran:?}");
}
