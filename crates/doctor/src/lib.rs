//! What may go wrong with groups and their committed offsets, before it does: facts in, findings out.
//!
//! A rule is a file in `rules/`: an id that never changes, how bad it is, why that is so, and what finds it in the facts, with
//! the command that mends it. A rule says nothing about what is not known. This room must never ask a cluster, a clock or a
//! person: `admin` gathers the facts, and the command line shows the findings.

mod expiry;
mod facts;
mod finding;
mod rules;
#[cfg(test)]
mod testing;
mod time;

pub use expiry::expires;
pub use facts::{
    ClusterFacts, CommitFacts, Earlier, Facts, GroupFacts, GroupKind, Log, LogFacts, PartitionFacts,
    Position, Replicas, TopicFacts,
};
pub use finding::{Command, Finding, Fix, Severity, Subject};
pub use rules::{RULES, Rule, examine};
