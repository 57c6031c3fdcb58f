//! What is known of a cluster and its groups at one moment. `None` is what could not be seen.

use std::collections::{BTreeMap, BTreeSet};

use milepost_model::{LeaderEpoch, Offset, PartitionIndex};

/// All that rules look at.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The cluster itself.
    pub cluster: ClusterFacts,
    /// Topics that groups have committed for, by name, those that are there and could be seen.
    pub topics: BTreeMap<String, TopicFacts>,
    /// The groups.
    pub groups: Vec<GroupFacts>,
}

/// The cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterFacts {
    /// Where one of its brokers is reached.
    pub address: String,
    /// How many brokers there are.
    pub brokers: usize,
    /// `offsets.retention.minutes`, in milliseconds.
    pub offsets_retention_ms: Option<i64>,
    /// `offset.metadata.max.bytes`.
    pub metadata_max_bytes: Option<i64>,
    /// `offsets.topic.num.partitions`.
    pub offsets_partitions: Option<usize>,
    /// The topic `__consumer_offsets`; none where there is none yet.
    pub offsets_topic: Option<TopicFacts>,
}

/// A topic.
#[derive(Clone, Debug, Default)]
pub struct TopicFacts {
    /// `cleanup.policy`.
    pub cleanup_policy: Option<String>,
    /// `retention.ms`; −1 is for ever.
    pub retention_ms: Option<i64>,
    /// `min.insync.replicas`.
    pub min_in_sync: Option<usize>,
    /// Its partitions, in order.
    pub partitions: Vec<Replicas>,
}

/// The replicas of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replicas {
    /// The partition.
    pub partition: PartitionIndex,
    /// How many there shall be.
    pub all: usize,
    /// How many of them have all that was acknowledged.
    pub in_sync: usize,
}

/// A group.
#[derive(Clone, Debug, Default)]
pub struct GroupFacts {
    /// Its name.
    pub group: String,
    /// Its state, by Kafka's name.
    pub state: Option<String>,
    /// How many members it has.
    pub members: Option<usize>,
    /// The topics that its members subscribe to.
    pub subscribed: Option<BTreeSet<String>>,
    /// Its partitions, in order.
    pub partitions: Vec<PartitionFacts>,
}

/// A partition of a group.
#[derive(Clone, Debug)]
pub struct PartitionFacts {
    /// The topic.
    pub topic: String,
    /// The partition.
    pub partition: PartitionIndex,
    /// Where the group is.
    pub position: Position,
    /// Where the log begins and ends.
    pub log: Log,
    /// Whether a member has it to read.
    pub has_reader: bool,
}

/// Where a group is in a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// There.
    Committed {
        /// The next offset to read.
        offset: Offset,
        /// The epoch that was committed with it.
        leader_epoch: Option<LeaderEpoch>,
        /// What was written beside it.
        metadata: String,
    },
    /// An open transaction is about to change it.
    Pending,
    /// It never committed.
    Never,
    /// That could not be seen.
    Unknown,
}

/// Where a log begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// There.
    Ends {
        /// The first offset that is still there.
        start: Offset,
        /// Behind the last.
        end: Offset,
        /// The epoch of its leader.
        leader_epoch: Option<LeaderEpoch>,
    },
    /// The topic or partition does not exist.
    Gone,
    /// That could not be seen.
    Unknown,
}

impl PartitionFacts {
    /// What is committed, if that is known and something.
    pub(crate) fn committed(&self) -> Option<Offset> {
        if let Position::Committed { offset, .. } = self.position { Some(offset) } else { None }
    }

    /// Both ends of the log, if they are known.
    pub(crate) fn ends(&self) -> Option<(Offset, Offset)> {
        if let Log::Ends { start, end, .. } = self.log { Some((start, end)) } else { None }
    }

    /// How far behind the group is, if that is known and it is not beyond the end.
    pub(crate) fn lag(&self) -> Option<i64> {
        let (_, end) = self.ends()?;
        Some(end.0 - self.committed()?.0).filter(|lag| *lag >= 0)
    }

    /// As commands name it.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.topic, self.partition)
    }
}
