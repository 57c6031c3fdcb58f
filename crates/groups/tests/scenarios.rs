//! The scenario files of tests/scenarios: what is asked of a shard of groups, and what it writes and answers.
//!
//! `UPDATE_EXPECT=1` rewrites the expected lines. Beside those, every scenario is run again once for each of its lines
//! with the soft state lost after that line: answers may differ then, but nothing that must always be true may break.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]
#![allow(clippy::disallowed_methods, reason = "the scenarios are files")]

mod harness;

use std::fs;
use std::path::{Path, PathBuf};

use harness::{Machine, command, print};
use milepost_groups::{GroupSettings, MigrationPolicy};

/// What stands in front of an expected line.
const INDENT: &str = "    ";

fn scenario_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    files.sort();
    assert!(!files.is_empty(), "no scenarios in {}", folder.display());
    files
}

/// The lines of a file that are commands, with their numbers.
fn commands(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_command = |line: &str| !line.trim().is_empty() && !line.starts_with('#') && !line.starts_with(' ');
    text.lines().enumerate().filter(move |(_, line)| is_command(line))
}

fn settings(text: &str) -> GroupSettings {
    let mut settings = GroupSettings::default();
    for (_, line) in commands(text).filter(|(_, line)| line.starts_with("set ")) {
        let (key, value) = line["set ".len()..].split_once('=').expect("set key=value");
        let number = || value.parse::<i64>().unwrap_or_else(|_| panic!("{key}={value} is no number"));
        match key {
            "group.initial.rebalance.delay.ms" => {
                settings.initial_rebalance_delay_ms = number().unsigned_abs();
            }
            "group.consumer.session.timeout.ms" => {
                settings.consumer_session_ms = number().unsigned_abs();
            }
            "group.consumer.max.size" => settings.consumer_max_size = usize::try_from(number()).unwrap(),
            "group.consumer.assignment.interval.ms" => {
                settings.consumer_assignment_interval_ms = number().unsigned_abs();
            }
            "group.consumer.migration.policy" => {
                let policy = MigrationPolicy::ALL.into_iter().find(|policy| policy.name() == value);
                settings.consumer_migration_policy = policy.expect("a policy");
            }
            "group.max.size" => settings.max_size = usize::try_from(number()).unwrap(),
            "offsets.retention.minutes" => settings.offsets_retention_ms = number() * 60_000,
            "offset.metadata.max.bytes" => {
                settings.offset_metadata_max_units = usize::try_from(number()).unwrap();
            }
            other => panic!("there is no setting '{other}' here"),
        }
    }
    settings
}

/// Runs a scenario and returns it with the lines it brought.
fn run(text: &str) -> String {
    let mut machine = Machine::new(settings(text));
    let mut members = 0;
    let mut written = String::new();
    let commands: Vec<usize> = commands(text).map(|(number, _)| number).collect();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with(INDENT) {
            continue;
        }
        written += line;
        written.push('\n');
        if commands.contains(&number) && !line.starts_with("set ") {
            let step = command::run(&mut machine, line, &mut members);
            for brought in print::lines(&step) {
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
        let lines: Vec<_> = commands(&text).filter(|(_, line)| !line.starts_with("set ")).collect();
        for lost_after in 0..lines.len() {
            let mut machine = Machine::new(settings(&text));
            let mut members = 0;
            for (index, (_, line)) in lines.iter().enumerate() {
                // Whoever would be forgotten was told of the restart instead.
                if index > lost_after && line.starts_with("forget ") {
                    continue;
                }
                command::run(&mut machine, line, &mut members);
                if index == lost_after {
                    machine.restart();
                }
            }
        }
    }
}
