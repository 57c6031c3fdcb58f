//! Consumer offsets inside a Rust program: where to read next, durable, and safe from zombies.
//!
//! This is the offset store of the milepost server without the server: the same records, the same replay, the same log
//! in the same data folder. A server may open the folder later and shows the groups; the library opens a server's
//! folder just as well. Only one of them at a time: the folder is locked.
//!
//! ```
//! use milepost::{Error, NextOffset, Offset, OffsetStore, PartitionIndex};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let store = OffsetStore::open(folder.path())?;
//!
//! // Whoever works for the group takes it over first, and is alone in it from then on.
//! let generation = store.rebalance("billing")?;
//! store.commit("billing", generation, [NextOffset::new("orders", PartitionIndex(0), Offset(42))])?;
//!
//! let committed = store.committed("billing", "orders", PartitionIndex(0))?.expect("it was committed");
//! assert_eq!(committed.offset(), Offset(42));
//! // "Never committed" is never a number.
//! assert_eq!(store.committed("billing", "orders", PartitionIndex(1))?, None);
//!
//! // Another instance takes over. The first one, should it wake up again, is refused.
//! let newer = store.rebalance("billing")?;
//! let late = store.commit("billing", generation, [NextOffset::new("orders", PartitionIndex(0), Offset(43))]);
//! assert_eq!(late, Err(Error::StaleGeneration { current: newer }));
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! - What a call returned is durable: it survives the end of the process and, with [`Durability::Sync`] (the default),
//!   a loss of power. What was refused was not stored. Three errors leave that open and say so:
//!   [`Error::TimedOut`], [`Error::Undecided`] and [`Error::Poisoned`].
//! - A commit is stored whole or not at all, and only under exactly the present generation of its group. A generation
//!   is durable before [`OffsetStore::rebalance`] returns it, and never handed out again, also not after a restart or
//!   after [`OffsetStore::delete`]. Only [`OffsetStore::forget_group`] resets it.
//! - What is read is durable too, so a crash never takes back what was read.
//!
//! Topics are names here. They need not exist anywhere, and no topic id is stored with an offset.
//!
//! # Threads
//!
//! [`OffsetStore`] is cheap to clone and may be used from any number of threads and tasks. Commits from many of them
//! share one disk wait: the caller that finds no flush running performs one for all that gathered; who comes meanwhile
//! waits for the next. There is no thread for that. (The engine has one for its housekeeping on a real disk.)
//! [`OffsetStore::commit_async`] gives the same as a [`CommitFuture`], for any executor. The future that finds no
//! flush running performs it inside its `poll`, which then takes a disk wait; where that must not be, poll it on a
//! thread that may block.
//!
//! # What it leaves to the server
//!
//! Offsets do not expire while the library has the folder. A server does expire them, `offsets.retention.minutes` after
//! their commit, and with its last offset the group and its generation.
//!
//! # Space
//!
//! Every commit is a record. A log that has grown far beyond its live records is compacted a little with each call,
//! so that it stays below twice its live bytes or 16 MiB; [`OffsetStore::compact`] does it at once.

mod call;
mod compaction;
mod engine;
mod error;
mod next_offset;
mod open;
mod options;
mod shared;
mod store;

pub use call::CommitFuture;
pub use compaction::Compaction;
pub use error::{Error, OpenError};
pub use next_offset::{CommittedPartition, NextOffset};
pub use options::{DEFAULT_TIMEOUT_MS, Options, Surroundings};
pub use store::OffsetStore;

pub use milepost_groups::{CommittedOffset, GroupError};
pub use milepost_log::RecoveryReport;
pub use milepost_model::{Generation, LeaderEpoch, Offset, PartitionIndex};
pub use milepost_storage::{AcquireError, Durability, TornTail};
