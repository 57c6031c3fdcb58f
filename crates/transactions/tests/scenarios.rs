//! The scenario files of tests/transactions: what is asked of a shard of transactions, and what it writes, wants and
//! answers.
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
use milepost_transactions::{TransactionSettings, TransactionVersion};

const FOLDER: &str = "transactions";

fn settings(text: &str) -> TransactionSettings {
    let mut settings = TransactionSettings::default();
    for (key, value) in scenario_files::settings(text) {
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
    scenario_files::written(text, |line| print::lines(&command::run(&mut machine, line)))
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
            for (index, line) in lines.iter().enumerate() {
                command::run(&mut machine, line);
                if index == lost_after {
                    machine.restart();
                }
            }
        }
    }
}
