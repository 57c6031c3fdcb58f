//! `milepost consume` without a group.

use crate::support::{Server, eventually};

fn server_with_ten() -> Server {
    let server = Server::start();
    server.run(&["topic", "create", "t"]).ok();
    let lines: String =
        (0..10).map(|n| format!("{{\"value\":\"v{n}\",\"timestamp\":{}}}\n", 1000 * (n + 1))).collect();
    server.run_with(&["produce", "t", "--format", "json"], &lines).ok();
    server
}

#[test]
fn reading_begins_where_it_is_told_and_ends_when_it_is_told() {
    let server = server_with_ten();
    let cases: [(&[&str], &[&str]); 8] = [
        (&["--count", "2"], &["v0", "v1"]),
        (&["--from", "8", "--until-end"], &["v8", "v9"]),
        (&["--from", "-2", "--until-end"], &["v8", "v9"]),
        (&["--from", "-100", "--count", "1"], &["v0"]),
        (&["--from", "@8001", "--until-end"], &["v8", "v9"]),
        (&["--from", "@1970-01-01T00:00:09Z", "--until-end"], &["v8", "v9"]),
        (&["--from", "@10001", "--until-end"], &[]),
        (&["--from", "latest", "--until-end"], &[]),
    ];
    for (flags, expected) in cases {
        let arguments = [&["consume", "t"], flags].concat();
        assert_eq!(server.run(&arguments).lines(), expected, "{flags:?}");
    }
}

#[test]
fn several_topics_are_read_to_their_ends() {
    let server = server_with_ten();
    server.run(&["topic", "create", "u", "-p", "3"]).ok();
    server.run_with(&["produce", "u"], "a\nb\nc\nd\n").ok();
    let mut lines = server.run(&["consume", "t", "u", "--until-end", "--format", "%t"]).lines();
    lines.sort();
    assert_eq!(lines, [vec!["t"; 10], vec!["u"; 4]].concat());
}

#[test]
fn what_cannot_be_read_is_said() {
    let server = server_with_ten();
    let cases: [(&[&str], i32, &str); 6] = [
        (&["consume", "gone"], 1, "gone: there is no such topic"),
        (&["consume", "t", "-p", "7"], 1, "t-7: there is no such topic or partition"),
        (&["consume", "t", "--from", "11"], 1, "offset 11 is outside of t-0, which has 0 to 10"),
        (&["consume", "t", "--from", "soon"], 2, "not earliest, latest, an offset"),
        (&["consume", "t", "--group", "g", "--from", "3"], 2, "with --group, --from is earliest or latest"),
        (&["consume", "t", "--group", "g", "-p", "0"], 2, "cannot be used with"),
    ];
    for (arguments, code, words) in cases {
        let ran = server.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{ran:?}");
        assert!(ran.stderr.contains(words), "{ran:?}");
    }
}

#[test]
fn new_records_come_as_they_are_written_and_ctrl_c_is_how_it_ends() {
    let server = server_with_ten();
    for (flags, code) in [(&[][..], 0), (&["--count", "100"][..], 130)] {
        let mut running = server.spawn(&[&["consume", "t", "--from", "-1"], flags].concat());
        let last = running.line();
        server.run_with(&["produce", "t"], "new").ok();
        assert_eq!(running.line(), "new", "after {last}");
        running.signal("INT");
        let ran = running.end();
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{ran:?}");
    }
}

#[test]
fn when_nobody_reads_any_more_it_ends_though_no_record_comes() {
    let server = server_with_ten();
    let mut running = server.spawn(&["consume", "t"]);
    assert_eq!(running.line(), "v0");
    let ran = running.abandon();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn a_topic_that_is_deleted_meanwhile_is_said_to_be_gone() {
    let server = server_with_ten();
    let mut running = server.spawn(&["consume", "t", "--format", "%o"]);
    for offset in 0..10 {
        assert_eq!(running.line(), offset.to_string());
    }
    server.run(&["topic", "delete", "t", "--yes"]).ok();
    eventually("it ends", || running.child.try_wait().unwrap().is_some());
    let ran = running.end();
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("there is no such topic"), "{ran:?}");
}
