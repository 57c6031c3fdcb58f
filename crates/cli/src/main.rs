//! The program `milepost`: flags in, rendering and exit codes out. Decides nothing about Kafka.

mod commands;
mod exit_code;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Where a consumer keeps its place: a Kafka-wire-compatible server for consumer offsets and the logs they point into.
#[derive(Debug, Parser)]
#[command(name = "milepost", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the server: data in ./milepost-data, listening on 127.0.0.1:9092, unless told otherwise.
    Serve(commands::serve::Serve),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match arguments.command {
        Command::Serve(serve) => commands::serve::run(&serve),
    }
}
