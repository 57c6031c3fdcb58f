//! What is committed and what is read back.

use std::sync::Arc;

use milepost_groups::{CommittedOffset, OffsetToCommit};
use milepost_model::{LeaderEpoch, Offset, PartitionIndex};

/// Where a group will read next in one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextOffset {
    pub(crate) topic: String,
    pub(crate) partition: PartitionIndex,
    offset: Offset,
    leader_epoch: Option<LeaderEpoch>,
    metadata: String,
}

impl NextOffset {
    /// The offset after the last record that was processed: the first one to read after a crash.
    pub fn new(topic: impl Into<String>, partition: PartitionIndex, offset: Offset) -> Self {
        Self { topic: topic.into(), partition, offset, leader_epoch: None, metadata: String::new() }
    }

    /// The same with the leader epoch of the last record that was processed (KIP-320), by which a client notices that
    /// the log was cut.
    #[must_use]
    pub fn with_leader_epoch(mut self, leader_epoch: LeaderEpoch) -> Self {
        self.leader_epoch = Some(leader_epoch);
        self
    }

    /// The same with words of the caller's own, at most 4096 UTF-16 units.
    #[must_use]
    pub fn with_metadata(mut self, metadata: impl Into<String>) -> Self {
        self.metadata = metadata.into();
        self
    }

    /// Whether one of its numbers is negative, and so none that a log has.
    pub(crate) fn is_negative(&self) -> bool {
        self.partition.0 < 0 || self.offset.0 < 0 || self.leader_epoch.is_some_and(|epoch| epoch.0 < 0)
    }

    pub(crate) fn to_request(&self) -> OffsetToCommit<'_> {
        OffsetToCommit {
            topic: &self.topic,
            topic_id: None,
            partition: self.partition,
            offset: self.offset,
            leader_epoch: self.leader_epoch,
            metadata: &self.metadata,
        }
    }
}

/// The committed offset of one partition, in a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct CommittedPartition {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition.
    pub partition: PartitionIndex,
    /// What was committed.
    pub committed: CommittedOffset,
}
