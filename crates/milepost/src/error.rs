//! Why a store could not be opened, and why a call was refused.

use milepost_coordinator::Refusal;
use milepost_groups::{EmbeddedRefusal, GroupError};
use milepost_log::metadata::{LoadError, ProposeError};
use milepost_model::Generation;
use milepost_storage::AcquireError;

/// Why a folder could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is in use, of another format, damaged, or the operating system refused.
    #[error(transparent)]
    Acquire(#[from] AcquireError),
    /// Its logs cannot be recovered.
    #[error("the logs cannot be recovered: {0}")]
    Logs(#[from] milepost_log::OpenError),
    /// Its metadata cannot be read.
    #[error(transparent)]
    Metadata(#[from] LoadError),
    /// A new folder cannot be written.
    #[error("the data folder cannot be written: {0}")]
    Write(#[from] ProposeError),
    /// A new folder was not durable in time, or its disk failed.
    #[error("the data folder cannot be made durable: {0}")]
    NotDurable(#[from] Error),
}

/// Why a call was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Somebody took the group over since: the caller is a zombie and must stop working for the group. Nothing was
    /// stored.
    #[error("the generation is stale: the group is at generation {}", current.0)]
    StaleGeneration {
        /// The group's generation.
        current: Generation,
    },
    /// The group never had this generation, or was forgotten since. Nothing was stored.
    #[error("the group never had this generation")]
    UnknownGeneration {
        /// The group's generation; `None` when it has none.
        current: Option<Generation>,
    },
    /// The group's id is empty or longer than 32767 bytes.
    #[error("the group id is not valid")]
    InvalidGroup,
    /// A server wrote down members of the group. [`crate::OffsetStore::rebalance`] takes it over from them.
    #[error("the group has members, written down by a server; rebalance takes it over from them")]
    HasMembers,
    /// One of the offsets cannot be stored, so none was.
    #[error("offset {index} of the commit cannot be stored: {reason}")]
    Offset {
        /// Its place in the commit.
        index: usize,
        /// Why.
        reason: GroupError,
    },
    /// A partition, offset or leader epoch of the commit is negative. Nothing was stored.
    #[error("offset {index} of the commit holds a negative number")]
    Negative {
        /// Its place in the commit.
        index: usize,
    },
    /// The commit does not fit one batch (a megabyte). Nothing was stored.
    #[error("the commit does not fit one batch")]
    TooLarge,
    /// The disk is full. Nothing was stored; it heals without opening the folder again.
    #[error("the disk is full")]
    NoSpace,
    /// Too many calls wait. Nothing was stored; try again.
    #[error("too many calls wait")]
    Busy,
    /// The disk did not answer in time. The commit may still be stored, or not.
    #[error("the disk did not answer in time; what was written may still become durable")]
    TimedOut,
    /// The state had to be loaded again while the call waited. The commit may be stored, or not: ask what is
    /// committed.
    #[error("it is open whether this was stored; ask again what is committed")]
    Undecided,
    /// A log holds something that cannot be understood. Its groups are not served, because guessing could lose a position.
    #[error("the log of the group is damaged: {0}")]
    Damaged(String),
    /// The disk failed. Nothing is stored any more until the folder is opened again; what was acknowledged is safe, and
    /// whether this call was stored is open.
    #[error("storage failed: {0}; open the folder again to recover")]
    Poisoned(String),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

impl From<EmbeddedRefusal> for Error {
    fn from(refusal: EmbeddedRefusal) -> Self {
        match refusal {
            EmbeddedRefusal::InvalidGroupId => Self::InvalidGroup,
            EmbeddedRefusal::StaleGeneration { current } => Self::StaleGeneration { current },
            EmbeddedRefusal::UnknownGeneration { current } => Self::UnknownGeneration { current },
            EmbeddedRefusal::NonEmptyGroup => Self::HasMembers,
            EmbeddedRefusal::Offset(refused) => Self::Offset { index: refused.index, reason: refused.error },
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Loading | Refusal::Busy => Self::Busy,
            // The library writes nothing that belongs to a transaction, so no producer of it can be fenced.
            Refusal::NotCoordinator | Refusal::FencedProducer => Self::Undecided,
            Refusal::TimedOut => Self::TimedOut,
            Refusal::TooLarge => Self::TooLarge,
            Refusal::NoSpace => Self::NoSpace,
        }
    }
}
