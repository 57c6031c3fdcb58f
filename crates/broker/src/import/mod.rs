//! Moving in: a new data folder that holds what the folder of a stopped Kafka broker holds.
//!
//! It goes through the source twice. The first pass reads and checks everything and writes nothing; the second appends
//! each batch as it is, with its offsets and leader epochs, through the log that every other batch goes through. Topics
//! come to exist last, all at once: until then the target is an empty server, and the same command goes on where it was
//! interrupted. Kafka's tools of every sort read the result, and Kafka's own rules for loading decide what is tolerated.
//!
//! It must never write to the source, add to a folder that has topics, or guess at what it cannot read. The command line
//! calls it.

mod batches;
mod error;
mod source;
mod survey;
mod target;

use std::path::PathBuf;

use milepost_model::Now;

pub use batches::{Batches, TornEnd};
pub use error::ImportError;
pub use source::is_brokers_folder;

use crate::config::BrokerSettings;
use crate::random::Random;

/// What to move.
#[derive(Clone, Debug)]
pub struct Import {
    /// The folder that Kafka's `log.dirs` names, of a broker that was stopped.
    pub from: PathBuf,
    /// The data folder to make.
    pub to: PathBuf,
    /// Which topics.
    pub scope: Scope,
    /// Whether a broker that did not stop cleanly will do.
    pub unclean: Unclean,
    /// Whether anything is written.
    pub mode: Mode,
}

/// Which topics are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Committed offsets, groups and users' topics.
    Everything,
    /// Committed offsets and groups.
    OffsetsOnly,
}

/// Whether a folder will do whose broker did not say that it stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclean {
    /// No.
    Refuse,
    /// Yes: what is there is taken, up to the last whole batch.
    Accept,
}

/// Whether anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The source is read and checked, and that is all.
    CheckOnly,
    /// It is moved in.
    Write,
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The first pass.
    Checking,
    /// The second.
    Writing,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The pass.
    pub stage: Stage,
    /// Partitions that are done in it.
    pub partitions: usize,
    /// Of so many.
    pub of: usize,
    /// Bytes that are done in it.
    pub bytes: u64,
}

/// What was moved, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The cluster's id, which stays the same, if the source says it.
    pub cluster_id: Option<String>,
    /// Partitions of `__consumer_offsets`.
    pub offsets_partitions: usize,
    /// Groups, as a server started on the result has them.
    pub groups: usize,
    /// Committed offsets, counted so.
    pub committed_offsets: usize,
    /// Users' topics by name, and how many partitions each has.
    pub topics: Vec<(String, usize)>,
    /// Bytes of all batches.
    pub bytes: u64,
    /// Transactions without an end, one for each producer and partition.
    pub open_transactions: usize,
    /// Topics that offsets are committed for and that were not moved.
    pub missing_topics: Vec<String>,
    /// Topics of Kafka's own that were not moved.
    pub left_out: Vec<String>,
    /// Ends that were no whole batch and were left out.
    pub torn_ends: Vec<TornEnd>,
}

/// Moves a broker's folder in.
///
/// # Errors
/// [`ImportError`]. Unless the last word was written the target has no topics, and the source is as it was in any case.
pub fn import(
    import: &Import,
    settings: &BrokerSettings,
    clock: &dyn Fn() -> Now,
    random: &mut dyn Random,
    tell: &mut dyn FnMut(Progress),
) -> Result<Imported, ImportError> {
    let source = source::find(&import.from, import.scope, import.unclean)?;
    let survey = survey::survey(&source, tell)?;
    if let (Unclean::Refuse, Some(torn)) = (import.unclean, survey.torn_ends.first()) {
        return Err(ImportError::damaged(
            &torn.path,
            torn.position,
            "the last batch is not whole (--accept-unclean takes what is before it)",
        ));
    }
    if import.mode == Mode::Write {
        target::write(&import.to, &source, &survey, settings, target::Surroundings { clock, random, tell })?;
    }
    Ok(Imported {
        cluster_id: source.cluster_id,
        offsets_partitions: source.offsets.partitions.len(),
        groups: survey.groups,
        committed_offsets: survey.committed_offsets,
        topics: source.topics.into_iter().map(|topic| (topic.name, topic.partitions.len())).collect(),
        bytes: survey.bytes,
        open_transactions: survey.open_transactions,
        missing_topics: survey.missing_topics.into_iter().collect(),
        left_out: source.left_out,
        torn_ends: survey.torn_ends,
    })
}
