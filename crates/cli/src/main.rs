//! The program `milepost`: flags in, rendering and exit codes out. Decides nothing about Kafka.

mod clock;
mod cluster_flags;
mod commands;
mod confirm;
mod exit_code;
mod failure;
mod interrupt;
mod json;
mod output;
mod palette;
mod progress;
mod quote;
mod report;
mod settings;
mod table;
mod visible;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Where a consumer keeps its place: a Kafka-wire-compatible server for consumer offsets and the logs they point into,
/// and a command line for any Kafka cluster.
#[derive(Debug, Parser)]
#[command(name = "milepost", version, propagate_version = true, after_help = exit_code::HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the server: data in ./milepost-data, listening on 127.0.0.1:9092, unless told otherwise.
    Serve(commands::serve::Serve),
    /// Tells the story in one command: commits, a crash, and what is read again after it. Needs nothing and leaves
    /// nothing.
    Demo(commands::demo::Demo),
    /// Makes a data folder of what a stopped Kafka broker's folder holds: committed offsets, groups, topics.
    Import(commands::import::Import),
    /// Makes, lists, describes and deletes topics, on any Kafka cluster.
    #[command(subcommand)]
    Topic(commands::topic::Topic),
    /// Lists, describes and moves groups and their committed offsets, on any Kafka cluster.
    #[command(subcommand)]
    Group(commands::group::Group),
    /// Shows what is in the log of committed offsets, of any Kafka cluster or of a broker's files.
    #[command(subcommand)]
    Offsets(commands::offsets::Offsets),
    /// Looks for what may go wrong with groups and their offsets, on any Kafka cluster. Changes nothing.
    Doctor(commands::doctor::Doctor),
    /// Writes records from standard input to a topic, one a line.
    Produce(commands::produce::Produce),
    /// Writes the records of topics to standard output, one a line.
    Consume(commands::consume::Consume),
    /// Prints the script that lets a shell complete commands, flags, and names of groups and topics.
    #[command(visible_alias = "completions")]
    Completion(commands::completion::Completion),
    /// Prints a manual page, or writes those of all commands.
    Man(commands::man::Man),
}

fn main() -> ExitCode {
    commands::completion::answer(Arguments::command);
    let arguments = Arguments::parse();
    match arguments.command {
        Command::Serve(serve) => commands::serve::run(&serve),
        Command::Demo(demo) => failure::exit(commands::demo::run(&demo)),
        Command::Import(import) => failure::exit(commands::import::run(&import)),
        Command::Topic(topic) => failure::exit(commands::topic::run(&topic)),
        Command::Group(group) => failure::exit(commands::group::run(&group)),
        Command::Offsets(offsets) => failure::exit(commands::offsets::run(&offsets)),
        Command::Doctor(doctor) => failure::exit(commands::doctor::run(&doctor)),
        Command::Produce(produce) => failure::exit(commands::produce::run(&produce)),
        Command::Consume(consume) => failure::exit(commands::consume::run(&consume)),
        Command::Completion(completion) => failure::exit(commands::completion::run(&completion)),
        Command::Man(man) => failure::exit(commands::man::run(&man, Arguments::command())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
