//! The cleaner: of each key the last record stays. One pass over one log, as a machine that is told how far to go.
//!
//! A pass first maps the keys of the dirty segments to their last offsets, and then writes all segments up to there
//! anew, group by group. The new segments stand beside the old ones until a checkpoint that names them is durable;
//! only then are they read, and only then do the old files go. So a crash finds either the old or the new, and no
//! journal entry is needed. What a pass may touch is decided in [`candidate`], what stays of a batch in [`filter`], and
//! what a batch is to its transaction in [`transactions`].
//!
//! It must never touch the last segment or anything that is not durable or not stable, throw away what it cannot read,
//! or change what a reader of the log's end state sees. `logset::cleaning` drives it.

mod candidate;
mod filter;
mod key_map;
mod outputs;
mod pass;
mod transactions;

pub(crate) use candidate::{Candidate, candidate, is_early_due, sealed_share_is_enough};
pub(crate) use pass::{Pass, PassError, PassProgress};

use crate::segment::{Segment, SegmentId};

/// New segments that take the place of old ones once a checkpoint names them.
#[derive(Debug)]
pub(crate) struct Replacement {
    /// The old ones, neighbours in the log.
    pub(crate) removed: Vec<SegmentId>,
    /// The new ones, in order; none when nothing was kept.
    pub(crate) added: Vec<Segment>,
    pub(crate) stage: ReplacementStage,
}

/// How far a replacement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplacementStage {
    /// Its files are written. The next checkpoint names them.
    Written,
    /// The running checkpoint names them.
    InCheckpoint,
    /// A durable checkpoint names them, and every later one must too.
    Durable,
}
