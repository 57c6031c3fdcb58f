//! The scenario files of tests/scenarios: what is asked of a shard of groups, and what it writes and answers.
//!
//! `scenario_files` compares. Beside that, every scenario is run again once for each of its lines with the soft state lost
//! after that line: answers may differ then, but nothing that must always be true may break.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]
#![allow(clippy::disallowed_methods, reason = "the scenarios are files")]

mod harness;
#[path = "../../../tests/scenario_files.rs"]
mod scenario_files;

use std::fs;

use harness::{Machine, command, print};
use milepost_groups::{GroupSettings, MigrationPolicy};

const FOLDER: &str = "scenarios";

fn settings(text: &str) -> GroupSettings {
    let mut settings = GroupSettings::default();
    for (key, value) in scenario_files::settings(text) {
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
            "group.consumer.regex.refresh.interval.ms" => {
                settings.consumer_regex_refresh_interval_ms = number().unsigned_abs();
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
    scenario_files::written(text, |line| print::lines(&command::run(&mut machine, line, &mut members)))
}

#[test]
fn scenarios_bring_what_they_say() {
    scenario_files::check(FOLDER, run);
}

#[test]
fn losing_soft_state_at_any_moment_is_harmless() {
    for path in scenario_files::files(FOLDER) {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = scenario_files::commands(&text).collect();
        for lost_after in 0..lines.len() {
            let mut machine = Machine::new(settings(&text));
            let mut members = 0;
            for (index, line) in lines.iter().enumerate() {
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
