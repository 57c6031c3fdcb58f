//! Where groups have read up to: everything that they have committed.

use std::collections::BTreeMap;

use milepost_model::{LeaderEpoch, Offset, PartitionIndex};
use milepost_wire::messages::offset_commit::OffsetCommitRequestPartition;

use super::each::{PerGroup, each_group};
use crate::cluster::Cluster;
use crate::error::ClientError;
use crate::offset_fetch::{self, Said, Wanted};
use crate::topic_partition::TopicPartition;

/// What a group has committed for a partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Committed {
    /// The next offset to read.
    pub offset: Offset,
    /// The leader's epoch of the record before it, where whoever committed said it.
    pub leader_epoch: Option<LeaderEpoch>,
    /// What whoever committed wrote beside it; mostly empty.
    pub metadata: String,
}

impl Committed {
    /// As OffsetCommit has it.
    pub(crate) fn in_request(&self, index: PartitionIndex) -> OffsetCommitRequestPartition<'_> {
        OffsetCommitRequestPartition {
            partition_index: index.0,
            committed_offset: self.offset.0,
            committed_leader_epoch: self.leader_epoch.map_or(-1, |epoch| epoch.0),
            committed_metadata: Some(&self.metadata),
        }
    }
}

/// What is done about offsets that an open transaction is about to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// They are read as they were before it.
    Passed,
    /// The partition is refused with UNSTABLE_OFFSET_COMMIT.
    Refused,
}

/// What one group has committed, and of which partitions that cannot be said now.
pub type Commits = BTreeMap<TopicPartition, Result<Committed, ClientError>>;

/// All that these groups have committed. A group that is not there has committed nothing.
///
/// # Errors
/// When nobody can be asked. What is wrong with one group or partition is in its own result.
pub fn committed(
    cluster: &mut Cluster,
    groups: &[&str],
    pending: Pending,
) -> Result<PerGroup<Commits>, ClientError> {
    let said = each_group(cluster, groups, |connection, of_it, deadline, found| {
        offset_fetch::ask(connection, of_it, Wanted::All, pending, deadline, found)
    })?;
    Ok(said.into_iter().map(|(group, said)| (group, said.map(commits))).collect())
}

fn commits(said: Said) -> Commits {
    said.into_iter().filter_map(|(place, outcome)| Some((place, outcome.transpose()?))).collect()
}
