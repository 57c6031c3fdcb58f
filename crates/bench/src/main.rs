//! The program `bench`: drives a server as N clients would and prints rates and latencies, or measures the disk alone.
//!
//! It knows the server by its wire protocol only, so that one command measures milepost and Kafka alike. It must never
//! reach into the rooms of the broker, and it says when it is itself the limit.

mod client;
mod cluster;
mod commits;
mod disk;
mod error;
mod generator;
mod load;
mod produce;
mod report;
mod tally;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::BenchError;

/// Exit code when the measurement could not be made.
const FAILED: u8 = 1;
/// Exit code when the server answered some requests with an error; the figures are printed all the same.
const SERVER_ERRORS: u8 = 3;

/// Measures a Kafka-compatible server over real connections.
///
/// Exit codes: 0 measured; 1 could not be measured; 2 the flags are wrong; 3 measured, but the server answered some
/// requests with an error.
#[derive(Debug, Parser)]
#[command(name = "bench", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Commits offsets: many connections, each with a group of its own and a fixed number of commits in flight.
    Commits(commits::Commits),
    /// Produces batches as fast as the server takes them. Runs beside `commits` to disturb it.
    Produce(produce::Produce),
    /// Writes and syncs a file, as a journal does, and prints what one round costs.
    Disk(disk::Disk),
}

fn main() -> ExitCode {
    let result = match &Arguments::parse().command {
        Command::Commits(commits) => commits::run(commits),
        Command::Produce(produce) => produce::run(produce),
        Command::Disk(disk) => disk::run(disk),
    };
    match result.and_then(|report| {
        let mut out = std::io::stdout().lock();
        out.write_all(report.text.as_bytes()).and_then(|()| out.flush()).map_err(BenchError::Print)?;
        Ok(report.server_errors)
    }) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(SERVER_ERRORS),
        Err(error) => {
            // Nobody is left to tell when standard error is gone as well.
            let _told = writeln!(std::io::stderr(), "bench: {error}");
            ExitCode::from(FAILED)
        }
    }
}
