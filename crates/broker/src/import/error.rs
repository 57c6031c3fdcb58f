//! Why nothing, or not all, was moved in.

use std::fmt;
use std::path::{Path, PathBuf};

use milepost_coordinator::Failure;
use milepost_log::metadata::{LoadError, ProposeError};
use milepost_log::{AppendError, OpenError, ReadError};
use milepost_model::{Offset, PartitionIndex};
use milepost_storage::AcquireError;

/// Why an import ended. The source is as it was in any case; the target has topics only after a success.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file or folder of the source cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// There is nothing to move in.
    #[error("there is no folder __consumer_offsets-0 in {}: name the folder that Kafka's log.dirs names", .0.display())]
    NoOffsets(PathBuf),
    /// The source is a folder of this program.
    #[error("{} is a data folder of milepost already: start the server on it, or on a copy of it", .0.display())]
    Ours(PathBuf),
    /// The broker runs, or crashed.
    #[error(
        "{} has no .kafka_cleanshutdown: its broker still runs, or did not stop cleanly. Stop it; if it crashed, start and \
         stop it once more, or take what is there as it is with --accept-unclean",
        .0.display()
    )]
    Unclean(PathBuf),
    /// The broker was stopped in the middle of replacing a segment.
    #[error("{} is left of a cleaning that a crash interrupted: start and stop the broker once more", .0.display())]
    HalfCleaned(PathBuf),
    /// A partition is not there.
    #[error(
        "{topic} has a folder for partition {last}, but none for partition {missing}: gather the partitions of all brokers \
         in one folder first"
    )]
    MissingPartition {
        /// The topic.
        topic: String,
        /// The first that is missing.
        missing: PartitionIndex,
        /// The highest that is there.
        last: PartitionIndex,
    },
    /// A group lies where another number of partitions would not put it.
    #[error(
        "group {group:?} lies in {place}, but with {partitions} partitions its place is {expected}: folders of \
         __consumer_offsets are missing"
    )]
    OtherCount {
        /// The group.
        group: String,
        /// Where it was found.
        place: String,
        /// How many partitions were found.
        partitions: usize,
        /// Where it belongs.
        expected: PartitionIndex,
    },
    /// The partitions of a topic do not have the same topic id, or a file does not say one.
    #[error("{}: {reason}", path.display())]
    TopicId {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A segment is damaged, or of a format from before Kafka 0.11.
    #[error("{} is damaged at byte {position}: {reason}", path.display())]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// Where.
        position: u64,
        /// What is wrong.
        reason: String,
    },
    /// A record of `__consumer_offsets` cannot be understood, so Kafka would not load it either.
    #[error("{0}")]
    Record(#[from] Failure),
    /// The target cannot be opened.
    #[error("the target: {0}")]
    Acquire(#[from] AcquireError),
    /// The target cannot be recovered.
    #[error("the target: {0}")]
    Open(#[from] OpenError),
    /// The target's metadata cannot be read.
    #[error("the target: {0}")]
    Metadata(#[from] LoadError),
    /// The target is in use.
    #[error("{} has topics already; name a folder that does not exist yet", .0.display())]
    NotEmpty(PathBuf),
    /// The target holds part of something else.
    #[error(
        "{place} holds an unfinished import of other data (at offset {offset}); remove the folder, or name another one"
    )]
    OtherData {
        /// The partition.
        place: String,
        /// Where they differ.
        offset: Offset,
    },
    /// The target cannot be written. The same command goes on from here once it can.
    #[error("{place} cannot be written: {reason}")]
    Write {
        /// What was being written.
        place: String,
        /// Why not.
        reason: String,
    },
}

impl ImportError {
    pub(super) fn read(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }

    pub(super) fn damaged(path: &Path, position: u64, reason: impl fmt::Display) -> Self {
        Self::Damaged { path: path.to_owned(), position, reason: reason.to_string() }
    }

    pub(super) fn write(place: &str, reason: impl fmt::Display) -> Self {
        Self::Write { place: place.to_owned(), reason: reason.to_string() }
    }
}

impl From<ProposeError> for ImportError {
    fn from(error: ProposeError) -> Self {
        Self::write("the metadata", error)
    }
}

/// An append that failed, of this partition.
pub(super) fn of_append(place: &str) -> impl FnOnce(AppendError) -> ImportError {
    move |error| ImportError::write(place, error)
}

/// A read in the target that failed, of this partition.
pub(super) fn of_read(place: &str) -> impl FnOnce(ReadError) -> ImportError {
    move |error| ImportError::write(place, error)
}
