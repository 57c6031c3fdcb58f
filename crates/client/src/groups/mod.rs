//! What an administrator does with groups: list, describe, and read, write and delete what they have committed. Many at
//! once, in batched requests, each coordinator asked for its own; what is wrong with one never hides the others.
//!
//! Results are maps of everything that was asked for. Whoever has tens of thousands of groups asks for some hundred at a
//! time, which is what keeps memory bounded.

mod alter;
mod commits;
mod delete;
mod delete_offsets;
mod describe;
mod each;
mod list;
mod share_offsets;

pub use alter::alter;
pub use commits::{Commits, Committed, Pending, committed};
pub use delete::delete;
pub use delete_offsets::delete_offsets;
pub use describe::{
    Assigned, ConnectWorker, ConnectorTasks, GroupDescription, GroupEpochs, MemberDescription, StreamsMember,
    StreamsTasks, StreamsTopology, Subtopology, Tasks, Work, describe,
};
pub use each::PerGroup;
pub use list::{GroupListing, ListFilter, Listed, list};
pub use share_offsets::{ShareOffsets, ShareStart, share_offsets};

use std::fmt;

/// Which protocol a group speaks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKind {
    /// JoinGroup and SyncGroup; also groups without members that only store offsets.
    Classic,
    /// KIP-848.
    Consumer,
    /// KIP-932.
    Share,
    /// KIP-1071.
    Streams,
    /// One that is not known here, by the broker's name for it.
    Other(String),
}

impl GroupKind {
    /// The broker's name for it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Classic => "classic",
            Self::Consumer => "consumer",
            Self::Share => "share",
            Self::Streams => "streams",
            Self::Other(name) => name,
        }
    }

    /// From the broker's name for it, in whatever case.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "classic" => Self::Classic,
            "consumer" => Self::Consumer,
            "share" => Self::Share,
            "streams" => Self::Streams,
            _ => Self::Other(name.to_owned()),
        }
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
