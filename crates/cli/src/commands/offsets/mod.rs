//! `milepost offsets`: one file or folder per verb. What the verbs have in common is where the log is read from.

mod dump;
mod history;
pub(super) mod ledger;
mod log;

use clap::Subcommand;

pub(super) use history::of_cluster;
pub(super) use log::TOPIC;

use crate::failure::Failure;

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Offsets {
    /// Shows the records of __consumer_offsets, from a cluster or from files.
    Dump(dump::Dump),
    /// Shows where a group was, commit by commit, as far back as the log still shows.
    History(history::OffsetsHistory),
}

/// Does what the verb says.
pub(crate) fn run(offsets: &Offsets) -> Result<(), Failure> {
    match offsets {
        Offsets::Dump(dump) => dump::run(dump),
        Offsets::History(history) => history::run(history),
    }
}
