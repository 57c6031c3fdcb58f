//! `milepost group`: one file per verb.

mod change;
mod commit_times;
mod copy;
mod delete;
mod delete_offsets;
mod describe;
mod list;
mod members;
mod metadata_view;
mod peek;
mod plan_view;
mod reset;
mod select;
mod silent;
mod snapshot;
mod state;
mod transfer;
mod undelete;
mod unused;
mod watch;
mod words;

use clap::Subcommand;

pub(super) use change::StoreFlags;
pub(super) use select::Filter;

use crate::failure::Failure;

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Group {
    /// Lists groups, with their lag if wanted.
    List(list::List),
    /// Shows where groups are: partition by partition what is committed, and how far behind that is.
    Describe(describe::Describe),
    /// Shows the members of groups, and what each has to read.
    Members(members::Members),
    /// Shows the state, coordinator and epochs of groups.
    State(state::State),
    /// Watches groups on the terminal: how far behind they are, how fast they read, when they will have caught up.
    Watch(watch::Watch),
    /// Shows the records just before and after where a group is.
    Peek(peek::Peek),
    /// Moves a group to another place: earlier, later, to a time, to where another group is.
    Reset(reset::Reset),
    /// Makes a group that begins at chosen places.
    Create(reset::Create),
    /// Copies what one group has committed to another.
    Copy(copy::Copy),
    /// Deletes groups with all that they have committed.
    Delete(delete::Delete),
    /// Deletes what a group has committed for some topics.
    DeleteOffsets(delete_offsets::DeleteOffsets),
    /// Puts back what was deleted or has expired, as far as the log still shows it.
    Undelete(undelete::Undelete),
    /// Keeps what groups have committed, compares it, and puts it back.
    #[command(subcommand)]
    Snapshot(snapshot::SnapshotVerb),
    /// Writes what groups have committed to standard output, as a file that import and other tools read.
    Export(transfer::Export),
    /// Writes what a file says to groups.
    Import(transfer::Import),
}

/// Does what the verb says.
pub(crate) fn run(group: &Group) -> Result<(), Failure> {
    match group {
        Group::List(list) => list::run(list),
        Group::Describe(describe) => describe::run(describe),
        Group::Members(members) => members::run(members),
        Group::State(state) => state::run(state),
        Group::Watch(watch) => watch::run(watch),
        Group::Peek(peek) => peek::run(peek),
        Group::Reset(reset) => reset::run(reset),
        Group::Create(create) => reset::run_create(create),
        Group::Copy(copy) => copy::run(copy),
        Group::Delete(delete) => delete::run(delete),
        Group::DeleteOffsets(delete) => delete_offsets::run(delete),
        Group::Undelete(undelete) => undelete::run(undelete),
        Group::Snapshot(verb) => snapshot::run(verb),
        Group::Export(export) => transfer::run_export(export),
        Group::Import(import) => transfer::run_import(import),
    }
}
