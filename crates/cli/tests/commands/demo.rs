//! `milepost demo`: what it says must add up, and nothing is left behind.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use crate::support::{PROGRAM, Ran, eventually};

fn demo(temporary: &std::path::Path, flags: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    // Settings of a server that is not the demo's would make it another story.
    command.arg("demo").args(flags).env("TMPDIR", temporary).env("MILEPOST_NUM_PARTITIONS", "x");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Every `name=number` of a line.
fn numbers(line: &str) -> BTreeMap<&str, u64> {
    let pairs = line.split([',', '.', ':', ';']).filter_map(|part| part.trim().split_once('='));
    pairs
        .filter_map(|(name, number)| {
            let number = number.split_whitespace().next()?.parse().ok()?;
            Some((name, number))
        })
        .collect()
}

/// The number after `word` in a line.
fn after(line: &str, word: &str) -> u64 {
    let (_, rest) = line.split_once(word).unwrap_or_else(|| panic!("{line:?} has no {word:?}"));
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{line:?}: no number after {word:?}"))
}

#[test]
fn the_story_adds_up_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let ran = Ran::of(&demo(temporary.path(), &[]).output().unwrap());
    let text = ran.ok();
    let lines: Vec<&str> = text.lines().collect();
    let step = |number: u32| {
        let begin = lines.iter().position(|line| line.starts_with(&format!("{number}. "))).unwrap();
        let length = lines[begin + 1..].iter().take_while(|line| line.starts_with("   ")).count();
        (lines[begin], &lines[begin + 1..=begin + length])
    };
    let acknowledged = numbers(step(2).0)["acknowledged"] + numbers(step(5).1[0])["acknowledged"];
    let sum = numbers(step(7).0);
    assert_eq!(sum["acknowledged"], acknowledged, "{text}");
    assert_eq!(sum["read at least once"], acknowledged, "{text}");

    // Read before the crash = committed + not committed; committed is what the restarted server says; and what was
    // not committed is what was read twice.
    let (before, after_crash) = (step(3).1, step(6).1);
    assert_eq!((before.len(), after_crash.len()), (2, 2), "{text}");
    let (mut twice, mut read) = (0, 0);
    for partition in 0..2 {
        let uncommitted = after(before[partition], "then read");
        let committed = numbers(before[partition])["committed"];
        let read_before = after(before[partition], ": read") + uncommitted;
        assert!(uncommitted > 0 && committed + uncommitted == read_before, "{text}");
        assert_eq!(numbers(step(5).1[partition + 1])["committed"], committed, "{text}");
        assert_eq!(after(after_crash[partition], "goes on at"), committed, "{text}");
        let again = step(7).1[partition];
        assert!(
            again.contains(&format!("orders-{partition}: {committed} to {} were", read_before - 1)),
            "{text}"
        );
        twice += uncommitted;
        read += read_before + after(after_crash[partition], ", read");
    }
    assert_eq!(sum["read twice"], twice, "{text}");
    assert_eq!(read, acknowledged + twice, "{text}");

    let table = &lines[lines.len() - 3..];
    let cells: Vec<Vec<&str>> = table.iter().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(cells[0], ["GROUP", "TOPIC", "PARTITION", "COMMITTED", "END", "LAG"]);
    let mut ends = 0;
    for (partition, row) in cells[1..].iter().enumerate() {
        assert_eq!(row[..3], ["billing", "orders", &partition.to_string()]);
        assert_eq!((row[3], row[5]), (row[4], "0"), "{text}");
        ends += row[4].parse::<u64>().unwrap();
    }
    assert_eq!(ends, acknowledged, "stored once: {text}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "the folder is gone");
}

#[test]
fn ctrl_c_takes_the_server_and_the_folder_with_it() {
    let temporary = tempfile::tempdir().unwrap();
    let child = demo(temporary.path(), &[]).spawn().unwrap();
    let log = || {
        let folder = std::fs::read_dir(temporary.path()).unwrap().flatten().next()?;
        // The server is there when its data are.
        std::fs::read_dir(folder.path().join("data")).ok()?.next()
    };
    eventually("the server of the demo is running", || log().is_some());
    let killed = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    // Its output ends when the server has ended too, which holds the other end of nothing.
    let ran = Ran::of(&child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (130, ""), "{ran:?}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "the folder is gone");
}
