//! Snapshots, and files that go in and out.

use serde_json::json;

use crate::groups::{commit, partitions, server};

#[test]
fn a_snapshot_is_kept_compared_put_back_and_deleted() {
    let server = server();
    commit(&server, "a", &[(0, 4, Some(0), "m")]);
    commit(&server, "b", &[(0, 5, None, "")]);
    let create = ["group", "snapshot", "create", "--all", "--name", "monday", "--label", "before the move"];
    server.run(&create).ok();
    let ran = server.run(&create);
    assert!(ran.code == 1 && ran.stderr.contains("there is a snapshot monday already"), "{ran:?}");
    let listed = server.run(&["group", "snapshot", "list", "--format", "json"]).json();
    assert_eq!(
        (&listed["snapshots"][0]["label"], &listed["snapshots"][0]["rows"]),
        (&json!("before the move"), &json!(2))
    );
    let shown = server.run(&["group", "snapshot", "show", "monday", "--format", "json"]).json();
    let first = &shown["rows"][0];
    assert_eq!(
        (&first["offset"], &first["metadata"], &first["log_end"]),
        (&json!(4), &json!("m"), &json!(10))
    );
    assert!(first["record_time_ms"].is_i64(), "{first}");

    commit(&server, "a", &[(0, 9, None, ""), (1, 0, None, "")]);
    let diff = server.run(&["group", "snapshot", "diff", "monday", "--no-headers"]).lines();
    assert_eq!(diff, ["a  t  0  4  9  +5", "a  t  1  -  0  -"]);
    server.run(&["group", "snapshot", "restore", "monday", "a", "--yes"]).ok();
    let first = &partitions(&server, "a")[0];
    assert_eq!(
        (&first["offset"], &first["leader_epoch"], &first["metadata"]),
        (&json!(4), &json!(0), &json!("m"))
    );

    server.run(&["group", "snapshot", "delete", "monday", "--yes"]).ok();
    let ran = server.run(&["group", "snapshot", "show", "monday"]);
    assert!(ran.code == 1 && ran.stderr.contains("there is no snapshot monday"), "{ran:?}");
}

#[test]
fn what_is_exported_can_be_imported_under_another_name() {
    let server = server();
    commit(&server, "a", &[(0, 4, Some(0), "m"), (1, 0, None, "")]);
    for (form, text) in [("csv", Some("t,0,4\nt,1,0\n")), ("rpk", Some("t 0 4\nt 1 0\n")), ("jsonl", None)] {
        let exported = server.run(&["group", "export", "a", "--as", form]).ok();
        if let Some(text) = text {
            assert_eq!(exported, text);
        }
        let path = server.folder.path().join(form);
        std::fs::write(&path, exported).unwrap();
        let path = path.to_str().unwrap();
        let to = format!("from-{form}");
        let rename = format!("a={to}");
        // Our own lines name their groups.
        let named: &[&str] = if form == "jsonl" { &[] } else { &["--group", "a"] };
        let import = ["group", "import", path, "--map-group", &rename, "--yes"];
        server.run(&[&import, named].concat()).ok();
        let imported = partitions(&server, &to);
        assert_eq!((&imported[0]["offset"], &imported[1]["offset"]), (&json!(4), &json!(0)), "{form}");
        let metadata = if form == "jsonl" { "m" } else { "" };
        assert_eq!(imported[0]["metadata"], metadata, "{form}");
    }
}

#[test]
fn a_file_that_is_none_is_refused_with_its_line() {
    let server = server();
    let path = server.folder.path().join("bad.csv");
    std::fs::write(&path, "t,0,1\nt,zero,1\n").unwrap();
    let ran = server.run(&["group", "import", path.to_str().unwrap(), "--group", "g", "--yes"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("line 2: \"zero\" is no partition"), "{ran:?}");
}

#[test]
fn a_group_that_is_not_there_is_not_kept() {
    let server = server();
    commit(&server, "there", &[(0, 4, None, "")]);
    for chosen in [["tpyo", "there"].as_slice(), &["tpyo"]] {
        for verb in [["snapshot", "create", "--name", "s"].as_slice(), &["export"]] {
            let ran = server.run(&[&["group"], verb, chosen].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
            assert!(ran.stderr.contains("tpyo: there is no such group"), "{ran:?}");
        }
    }
    for verb in [["snapshot", "create", "--name", "s"].as_slice(), &["export"]] {
        let ran = server.run(&[&["group"], verb, &["--match", "zzz"]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(ran.stderr.contains("there is no group like that"), "{ran:?}");
    }
    assert!(server.run(&["group", "snapshot", "list", "--no-headers"]).lines().is_empty());
}
