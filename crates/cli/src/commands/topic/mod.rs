//! `milepost topic`: one file per verb.

mod create;
mod delete;
mod describe;
mod list;

use clap::Subcommand;

use crate::failure::Failure;

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Topic {
    /// Makes a topic, and returns when it can be used.
    Create(create::Create),
    /// Lists the topics.
    List(list::List),
    /// Shows the partitions, offsets and settings of topics.
    Describe(describe::Describe),
    /// Deletes topics with all their records.
    Delete(delete::Delete),
}

/// Does what the verb says.
pub(crate) fn run(topic: &Topic) -> Result<(), Failure> {
    match topic {
        Topic::Create(create) => create::run(create),
        Topic::List(list) => list::run(list),
        Topic::Describe(describe) => describe::run(describe),
        Topic::Delete(delete) => delete::run(delete),
    }
}
