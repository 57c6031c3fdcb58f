//! The scenario files of tests/transactions: what is asked of a shard of transactions, and what it writes, wants and
//! answers.
//!
//! `UPDATE_EXPECT=1` rewrites the expected lines. Beside those, every scenario is run again once for each of its lines
//! with the soft state lost after that line: answers may differ then, but nothing that must always be true may break.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]
#![allow(clippy::disallowed_methods, reason = "the scenarios are files")]

mod harness;

use std::fs;
use std::path::{Path, PathBuf};

use harness::{Machine, command, print};
use milepost_transactions::{TransactionSettings, TransactionVersion};

/// What stands in front of an expected line.
const INDENT: &str = "    ";

fn scenario_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transactions");
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    files.sort();
    assert!(!files.is_empty(), "no scenarios in {}", folder.display());
    files
}

fn is_command(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with(['#', ' ']) && !line.starts_with("set ")
}

fn settings(text: &str) -> TransactionSettings {
    let mut settings = TransactionSettings::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("set ")) {
        let (key, value) = line.split_once('=').expect("set key=value");
        match key {
            "transaction.max.timeout.ms" => settings.max_timeout_ms = value.parse().unwrap(),
            "transaction.two.phase.commit.enable" => {
                settings.is_two_phase_commit_enabled = value.parse().unwrap();
            }
            "transactional.id.expiration.ms" => settings.expiration_ms = value.parse().unwrap(),
            "transaction.version" => {
                settings.transaction_version = TransactionVersion(value.parse().unwrap());
            }
            other => panic!("there is no setting '{other}' here"),
        }
    }
    settings
}

/// Runs a scenario and returns it with the lines it brought.
fn run(text: &str) -> String {
    let mut machine = Machine::new(settings(text));
    let mut written = String::new();
    for line in text.lines().filter(|line| !line.starts_with(INDENT)) {
        written += &format!("{line}\n");
        if is_command(line) {
            for brought in print::lines(&command::run(&mut machine, line)) {
                written += &format!("{INDENT}{brought}\n");
            }
        }
    }
    written
}

#[test]
fn scenarios_bring_what_they_say() {
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut failures = Vec::new();
    for path in scenario_files() {
        let text = fs::read_to_string(&path).unwrap();
        let written = run(&text);
        if written == text {
            continue;
        }
        if is_update {
            fs::write(&path, written).unwrap();
        } else {
            let differs = written.lines().zip(text.lines()).position(|(now, then)| now != then);
            let at = differs.unwrap_or_else(|| written.lines().count().min(text.lines().count()));
            failures.push(format!(
                "{}:{}\n  expected: {}\n  got:      {}",
                path.display(),
                at + 1,
                text.lines().nth(at).unwrap_or("(the end)"),
                written.lines().nth(at).unwrap_or("(the end)")
            ));
        }
    }
    assert!(failures.is_empty(), "UPDATE_EXPECT=1 rewrites them.\n{}", failures.join("\n"));
}

#[test]
fn losing_soft_state_at_any_moment_is_harmless() {
    for path in scenario_files() {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| is_command(line)).collect();
        for lost_after in 0..lines.len() {
            let mut machine = Machine::new(settings(&text));
            for (index, line) in lines.iter().enumerate() {
                command::run(&mut machine, line);
                if index == lost_after {
                    machine.restart();
                }
            }
        }
    }
}
