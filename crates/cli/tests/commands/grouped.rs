//! `milepost consume --group`: what is committed, and what is read again.

use std::collections::BTreeSet;
use std::io::{BufRead as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::Server;

/// A topic of `partitions` partitions with the records 0 to `count`, taking turns.
fn server_with(partitions: &str, count: usize) -> Server {
    let server = Server::start();
    server.run(&["topic", "create", "t", "--partitions", partitions]).ok();
    let input: String = (0..count).map(|number| format!("{number}\n")).collect();
    server.run_with(&["produce", "t"], &input).ok();
    server
}

fn grouped<'a>(group: &'a str, flags: &[&'a str]) -> Vec<&'a str> {
    [&["consume", "t", "--group", group], flags].concat()
}

#[test]
fn a_group_goes_on_behind_what_was_printed() {
    let server = server_with("1", 10);
    assert_eq!(server.run(&grouped("g", &["--count", "4"])).lines(), ["0", "1", "2", "3"]);
    assert_eq!(server.run(&grouped("g", &["--until-end"])).lines(), ["4", "5", "6", "7", "8", "9"]);
    assert_eq!(server.run(&grouped("g", &["--until-end"])).lines(), Vec::<String>::new());
    // Another group has a place of its own, and may begin behind what is there.
    assert_eq!(server.run(&grouped("h", &["--from", "latest", "--until-end"])).lines(), Vec::<String>::new());
}

#[test]
fn ctrl_c_commits_what_was_printed() {
    let server = server_with("1", 3);
    let mut running = server.spawn(&grouped("g", &[]));
    for expected in ["0", "1", "2"] {
        assert_eq!(running.line(), expected);
    }
    running.signal("TERM");
    let ran = running.end();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    server.run_with(&["produce", "t"], "3").ok();
    assert_eq!(server.run(&grouped("g", &["--until-end"])).lines(), ["3"]);
}

#[test]
fn members_share_and_each_record_is_read_though_members_come_and_go() {
    let server = server_with("4", 100);
    let mut first = server.spawn(&grouped("g", &["--format", "%p %v"]));
    let mut seen = vec![first.line()];
    // All of it is read all the time: a member whose pipe is full does not come to the next rebalance, and when the disk
    // stalled once for twenty seconds, enough records had gathered to fill it.
    let stdout = first.take_stdout();
    let of_first = std::thread::spawn(move || stdout.lines().collect::<Result<Vec<_>, _>>().unwrap());
    let mut second = server.spawn(&grouped("g", &["--format", "%p %v"]));
    // Records go on coming, until the second member has got some by a rebalance.
    let mut producer = server.spawn_with_input(&["produce", "t"]);
    let mut stdin = producer.child.stdin.take().unwrap();
    let enough = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut number = 100;
            while !enough.load(Ordering::Relaxed) {
                writeln!(stdin, "{number}").unwrap();
                number += 1;
                std::thread::sleep(Duration::from_millis(2));
            }
            number
        });
        seen.push(second.line());
        enough.store(true, Ordering::Relaxed);
        writing.join().unwrap()
    });
    drop(stdin);
    assert_eq!(producer.end().ok(), format!("acknowledged {}\n", written - 100));
    second.signal("INT");
    seen.extend(second.end().lines());
    first.signal("INT");
    seen.extend(of_first.join().unwrap());
    first.end().ok();
    seen.extend(server.run(&grouped("g", &["--until-end", "--format", "%p %v"])).lines());
    let values: BTreeSet<usize> =
        seen.iter().map(|line| line.split_once(' ').unwrap().1.parse().unwrap()).collect();
    assert_eq!(values, (0..written).collect(), "nothing is left out");
    // Every member left in order and committed at every rebalance: nothing was read twice either.
    assert_eq!(seen.len(), written);
}

#[test]
fn what_a_killed_member_had_not_committed_is_read_again() {
    let server = server_with("1", 5);
    assert_eq!(server.run(&grouped("g", &["--count", "2"])).lines(), ["0", "1"]);
    // It prints the rest, nobody takes it beyond the first line, and it is killed within the second before its commit.
    let mut killed = server.spawn(&grouped("g", &[]));
    let first = killed.line();
    killed.signal("KILL");
    let ran = killed.end();
    assert_eq!((first.as_str(), ran.code), ("2", -1));
    // Its session runs out, and whoever comes next goes on at the last commit or at a later one, never behind what
    // was not printed.
    let again = server.run(&grouped("g", &["--until-end"])).lines();
    let printed: Vec<String> = std::iter::once(first).chain(ran.stdout.lines().map(str::to_owned)).collect();
    let all: BTreeSet<&String> = printed.iter().chain(&again).collect();
    assert_eq!(all.len(), 3, "printed {printed:?}, then {again:?}");
}
