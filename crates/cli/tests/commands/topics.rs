//! `milepost topic`, and what all commands have in common.

use serde_json::json;

use crate::support::{Server, run_alone};

#[test]
fn topics_are_made_listed_described_and_deleted() {
    let server = Server::start();
    assert_eq!(server.run(&["topic", "list", "--format", "json"]).json(), json!([]));
    let made = ["topic", "create", "orders", "--partitions", "2", "--config", "segment.bytes=1048576"];
    assert_eq!(server.run(&made).ok(), "created orders\n");
    let id = server.run(&["topic", "create", "other", "--format", "json"]).json()["id"].clone();
    assert!(id.as_str().is_some_and(|id| id.len() == 22), "{id}");

    let listed = server.run(&["topic", "list"]).lines();
    assert_eq!(listed, ["TOPIC   PARTITIONS", "orders  2", "other   1"]);
    let internal = server.run(&["topic", "list", "--internal", "--format", "json"]).json();
    assert_eq!(internal[0]["name"], "__consumer_offsets");

    let described = server.run(&["topic", "describe", "other", "orders", "--format", "json"]).json();
    assert_eq!(described[0]["id"], id);
    assert_eq!(described[1]["configs"], json!({ "segment.bytes": "1048576" }));
    let partition = |number| {
        json!({
            "partition": number, "leader": 1, "start_offset": 0, "end_offset": 0, "replicas": [1], "in_sync": [1],
        })
    };
    assert_eq!(described[1]["partitions"], json!([partition(0), partition(1)]));
    let formed = |flags: &[&str]| server.run(&[&["topic", "describe", "orders"], flags].concat()).ok();
    assert_eq!(
        formed(&["--format", "csv", "--columns", "topic,partition,end,in-sync,configs"]),
        "TOPIC,PARTITION,END,IN-SYNC,CONFIGS\norders,0,0,1,segment.bytes=1048576\norders,1,0,1,segment.bytes=1048576\n"
    );
    assert_eq!(formed(&["--columns", "partition,topic", "--no-headers"]), "0  orders\n1  orders\n");
    assert!(formed(&["--format", "yaml"]).contains("  name: orders\n"));
    assert!(formed(&["--format", "wide"]).starts_with("TOPIC   PARTITION  LEADER"));
    assert!(formed(&["--format", "text"]).starts_with("orders\n  id "));

    assert_eq!(
        server.run(&["topic", "delete", "orders", "other", "--yes"]).ok(),
        "deleted orders\ndeleted other\n"
    );
    assert_eq!(server.run(&["topic", "list"]).lines(), ["TOPIC  PARTITIONS"]);
}

#[test]
fn what_cannot_be_done_is_said_in_words_and_by_the_exit_code() {
    let server = Server::start();
    server.run(&["topic", "create", "there"]).ok();
    let refused = [
        (
            ["topic", "create", "there"],
            "milepost: there: a topic of that name exists already [TOPIC_ALREADY_EXISTS]",
        ),
        (["topic", "create", "no/name"], "milepost: no/name: the name is none that a topic can have"),
        (["topic", "describe", "gone"], "milepost: gone: there is no such topic or partition"),
    ];
    for (arguments, words) in refused {
        let ran = server.run(&arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        assert!(ran.stderr.starts_with(words), "{ran:?}");
    }
    // One that is gone hides neither the others nor the reason of another.
    let ran = server.run(&["topic", "describe", "gone", "there", "lost", "--format", "json"]);
    let described: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &described[0]["name"]), (1, &json!("there")), "{ran:?}");
    assert!(ran.stderr.contains("gone: ") && ran.stderr.contains("lost: "), "{ran:?}");
    // One that is not there does not save the one behind it.
    let ran = server.run(&["topic", "delete", "gone", "there", "--yes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "deleted there\n"), "{ran:?}");
}

#[test]
fn nothing_is_deleted_unasked() {
    let server = Server::start();
    server.run(&["topic", "create", "kept"]).ok();
    let ran = server.run(&["topic", "delete", "kept"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("--yes"), "{ran:?}");
    assert_eq!(server.run(&["topic", "describe", "kept", "--format", "json"]).json()[0]["name"], "kept");
}

#[test]
fn flags_and_clusters_that_are_none_have_their_codes() {
    let folder = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = listener.local_addr().unwrap().to_string();
    // A port that was free a moment ago, and that nobody listens on.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let cases: [(&[&str], i32, &str); 6] = [
        (&["topic", "list", "--bootstrap", &closed], 4, "cannot connect to"),
        (&["topic", "list", "--bootstrap", &silent, "--timeout", "0.2"], 4, "did not answer within 0.2 s"),
        (&["topic", "list", "--bootstrap", "host:port"], 2, "is no address (HOST:PORT)"),
        (&["topic", "list", "--timeout", "never"], 2, "not a number of seconds above 0"),
        (&["doctor", "--history", "abc"], 2, "not a number of seconds from 0 to 86400"),
        (&["topic", "lost"], 2, "unrecognized subcommand"),
    ];
    for (arguments, code, words) in cases {
        let ran = run_alone(arguments, folder.path());
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{ran:?}");
        assert!(ran.stderr.contains(words), "{ran:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a client leaves nothing behind");
}
