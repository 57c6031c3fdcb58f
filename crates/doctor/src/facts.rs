//! What is known of a cluster and its groups at one moment. `None` is what could not be seen.

use std::collections::{BTreeMap, BTreeSet};

use milepost_model::{LeaderEpoch, Offset, PartitionIndex, Timestamp};

/// All that rules look at.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The cluster itself.
    pub cluster: ClusterFacts,
    /// Topics that groups have committed for, by name, those that are there and could be seen.
    pub topics: BTreeMap<String, TopicFacts>,
    /// The groups.
    pub groups: Vec<GroupFacts>,
    /// When all this was looked at.
    pub now: Option<Timestamp>,
    /// A look before this one, if there was one.
    pub earlier: Option<Earlier>,
    /// The log of committed offsets, those of its partitions that were read whole.
    pub logs: Vec<LogFacts>,
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

/// The groups at a look before.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// How long before.
    pub(crate) ms: i64,
    groups: BTreeMap<String, GroupFacts>,
}

impl Earlier {
    /// What was seen this long before.
    #[must_use]
    pub fn new(ms: i64, groups: Vec<GroupFacts>) -> Self {
        Self { ms, groups: groups.into_iter().map(|group| (group.group.clone(), group)).collect() }
    }

    /// The same group then.
    pub(crate) fn group(&self, name: &str) -> Option<&GroupFacts> {
        self.groups.get(name)
    }

    /// The same partition then.
    pub(crate) fn partition(&self, group: &str, one: &PartitionFacts) -> Option<&PartitionFacts> {
        let partitions = &self.group(group)?.partitions;
        let place = |one: &PartitionFacts| (one.topic.clone(), one.partition);
        let found = partitions.binary_search_by_key(&place(one), place).ok()?;
        partitions.get(found)
    }
}

/// A partition of the log of committed offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogFacts {
    /// Which.
    pub partition: PartitionIndex,
    /// Its bytes, as they are stored.
    pub bytes: u64,
    /// Its records.
    pub records: usize,
    /// How many positions of groups these come down to.
    pub live: usize,
    /// How many batches have records that cannot be read.
    pub unreadable: usize,
    /// Where the last of these records lies.
    pub last_unreadable: Option<Offset>,
}

/// What the log tells of one position, as far back as it was not compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitFacts {
    /// What was committed last.
    pub offset: Offset,
    /// When.
    pub last: Timestamp,
    /// When it expires, if whoever committed asked for a time of its own.
    pub expires: Option<Timestamp>,
    /// How many commits are left in the log.
    pub commits: u32,
    /// The most of them in one minute.
    pub most_a_minute: u32,
    /// How many of them went forward.
    pub moves: u32,
    /// How many of them went back.
    pub rewinds: u32,
    /// The last that did: from where, to where, and when.
    pub last_rewind: Option<(Offset, Offset, Timestamp)>,
    /// How many commits in a row did not change it.
    pub unmoved: u32,
}

impl CommitFacts {
    /// Of a position whose first commit is about to be counted.
    #[must_use]
    pub fn first(offset: Offset, time: Timestamp) -> Self {
        Self {
            offset,
            last: time,
            expires: None,
            commits: 0,
            most_a_minute: 0,
            moves: 0,
            rewinds: 0,
            last_rewind: None,
            unmoved: 0,
        }
    }
}

/// Which expiry a group's offsets have, by what its members speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// No member was ever seen: offsets are all there is of it.
    OffsetsOnly,
    /// Consumers that share out partitions among themselves.
    Classic,
    /// The workers of Kafka Connect, which share out connectors and tasks.
    Connect,
    /// Others that share out something.
    ClassicOther,
    /// The coordinator shares partitions out (KIP-848).
    Consumer,
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
    /// `segment.bytes`.
    pub segment_bytes: Option<u64>,
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
    /// Of what kind it is.
    pub kind: Option<GroupKind>,
    /// Since when it has been empty, where the log of committed offsets says that.
    pub empty_since: Option<Timestamp>,
    /// The epoch that its members are to be in, if it is one that has epochs.
    pub epoch: Option<i32>,
    /// Members that are still in an older one, and in which.
    pub members_behind: BTreeMap<String, i32>,
    /// How often it was shared out anew since one of its positions last moved forward.
    pub rounds_without_progress: u32,
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
    /// What the log of committed offsets tells of it, where that was read.
    pub commits: Option<CommitFacts>,
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

    /// How many records wait for the group, if that is known and some do. The last offset may be the marker of a transaction,
    /// which nobody reads, so one alone does not count.
    pub(crate) fn waiting(&self) -> Option<i64> {
        self.lag().filter(|lag| *lag > 1)
    }

    /// As commands name it.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.topic, self.partition)
    }
}
