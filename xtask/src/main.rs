//! The chores of the house, one module each: `test` (everything), `stories` (only the stories with real clients),
//! `clients-table` (what README.md says of them) and `kafka` (a real Kafka broker on loopback, to compare with).
//!
//! A chore runs other programs and says what it did; it must never hold logic that the product needs. Called by a
//! person, by `.ci/run`, and (`kafka`) by the harness of the stories.
#![expect(clippy::print_stdout, reason = "a chore talks to the person who started it")]

mod apis_table;
mod clients_table;
mod interop;
mod java;
mod javascript;
mod kafka;
mod process;
mod programs;
mod python;
mod steps;
mod stories;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The chores of the house", disable_version_flag = true)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Runs everything: Rust tests, then the stories with real clients against the release binary.
    Test(test::Options),
    /// Runs only the stories with real clients.
    Stories(stories::Options),
    /// Compares README.md's tables of clients and of who uses which API with what the last full run of the stories found.
    ClientsTable(clients_table::Options),
    /// Fetches, formats and starts a real Kafka broker on loopback, in the foreground.
    Kafka(kafka::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().chore {
        Chore::Test(options) => test::run(&options),
        Chore::Stories(options) => stories::run_alone(&options),
        Chore::ClientsTable(options) => clients_table::run(&options),
        Chore::Kafka(options) => kafka::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
