//! What an administrator does with groups and their offsets, on any Kafka cluster.
//!
//! Everything that changes something is a plan first: a pure function of facts (what is committed, where the logs begin
//! and end) makes a value that can be printed, compared and tested without a cluster. [`collect`] and [`gather`] get the facts,
//! [`execute`] carries a plan out and reads back what came of it.
//!
//! This room must never print, ask a person, or read a clock: the time comes in. Whether somebody agreed is the command
//! line's business, which calls it.

pub mod checkup;
pub mod collect;
pub mod commit_metadata;
pub mod execute;
mod facts;
pub mod formats;
pub mod gather;
pub mod history;
mod lag;
pub mod ledger;
mod name_map;
pub mod peek;
pub mod plan;
mod reason;
pub mod same_topic;
pub mod snapshot;
pub mod target;
mod topic_filter;
pub mod watch;

pub use facts::{GroupFacts, LogFacts, Logs, PartitionFacts, Position, Totals};
pub use lag::{Lag, Standing};
pub use name_map::NameMap;
pub use reason::{Cause, Reason};
pub use target::Target;
pub use topic_filter::TopicFilter;
