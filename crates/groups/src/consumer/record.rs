//! What the records of a consumer group say, as values that hard state is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use milepost_model::{PartitionIndex, Timestamp, TopicId};
use milepost_records::offsets::consumer_group::MemberState;

/// An epoch of a group: of its membership, of its target assignment, or the one a member has reached. They are one
/// counter, and are compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(pub i32);

impl Epoch {
    /// Of a member that has just come.
    pub const JOINING: Self = Self(0);
    /// Of a group before its first record, and of the empty assignment it has then (KAFKA-20268).
    pub const FIRST: Self = Self(1);
    /// Of a member that is no more.
    pub const GONE: Self = Self(-1);
    /// Of a static member that left and will be back. It is below every epoch that anybody can have.
    pub const AWAY: Self = Self(-2);

    /// The next one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// One record of a consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerRecord {
    /// The group.
    pub group: Arc<str>,
    /// What changes.
    pub change: ConsumerChange,
}

/// What one record changes. `None` removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsumerChange {
    /// The group epoch.
    Group(Option<GroupEpoch>),
    /// The subscribed topics as Kafka 4.0 kept them: bytes that nobody reads any more.
    OldTopics(Option<Arc<[u8]>>),
    /// What a member said about itself.
    Member(Arc<str>, Option<Arc<ConsumerMember>>),
    /// The epoch of the target assignment.
    TargetEpoch(Option<TargetEpoch>),
    /// What a member shall have.
    Target(Arc<str>, Option<Arc<Assignment>>),
    /// What a member has.
    Current(Arc<str>, Option<Arc<CurrentAssignment>>),
    /// What topics a regular expression means.
    Regex(Arc<str>, Option<Arc<ResolvedRegex>>),
}

/// The group epoch, and the state of the topics it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEpoch {
    /// The epoch.
    pub epoch: Epoch,
    /// A hash of the subscribed topics' ids and partitions.
    pub metadata_hash: i64,
}

/// Which group epoch the target assignment was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetEpoch {
    /// The epoch.
    pub epoch: Epoch,
    /// When it was made; `None`: unknown, or it is the empty one of a group without members.
    pub made_at: Option<Timestamp>,
}

/// What a member said about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerMember {
    /// The id of a static member.
    pub instance_id: Option<Arc<str>>,
    /// Where it runs.
    pub rack_id: Option<Arc<str>>,
    /// The client's own name.
    pub client_id: Arc<str>,
    /// The client's address.
    pub client_host: Arc<str>,
    /// The topics it subscribes to by name.
    pub subscribed_topics: BTreeSet<Arc<str>>,
    /// The regular expression it subscribes to.
    pub subscribed_regex: Option<Arc<str>>,
    /// How long it may take to give up partitions.
    pub rebalance_timeout_ms: Option<i32>,
    /// The assignor it prefers.
    pub server_assignor: Option<Arc<str>>,
    /// Of a member that speaks the classic protocol.
    pub classic: Option<ClassicMember>,
}

impl ConsumerMember {
    /// The rebalance timeout as a length of time; nonsense counts as 0.
    pub(crate) fn rebalance_ms(&self) -> u64 {
        self.rebalance_timeout_ms.and_then(|timeout_ms| u64::try_from(timeout_ms).ok()).unwrap_or(0)
    }
}

/// What is kept of a member that speaks the classic protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicMember {
    /// How long it may be silent.
    pub session_timeout_ms: i32,
    /// Its protocols and its bytes for each.
    pub protocols: Vec<(Arc<str>, Arc<[u8]>)>,
}

impl ClassicMember {
    /// The session timeout as a length of time; nonsense in a foreign record counts as 0.
    pub(crate) fn session_ms(&self) -> u64 {
        u64::try_from(self.session_timeout_ms).unwrap_or(0)
    }
}

/// Partitions by topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment(pub BTreeMap<TopicId, BTreeSet<PartitionIndex>>);

impl Assignment {
    /// How many partitions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.values().all(BTreeSet::is_empty)
    }

    pub(crate) fn insert(&mut self, topic: TopicId, partition: PartitionIndex) {
        self.0.entry(topic).or_default().insert(partition);
    }

    pub(crate) fn contains(&self, topic: TopicId, partition: PartitionIndex) -> bool {
        self.0.get(&topic).is_some_and(|partitions| partitions.contains(&partition))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (TopicId, PartitionIndex)> + '_ {
        self.0.iter().flat_map(|(topic, partitions)| partitions.iter().map(|partition| (*topic, *partition)))
    }
}

impl FromIterator<(TopicId, PartitionIndex)> for Assignment {
    fn from_iter<I: IntoIterator<Item = (TopicId, PartitionIndex)>>(partitions: I) -> Self {
        let mut assignment = Self::default();
        partitions.into_iter().for_each(|(topic, partition)| assignment.insert(topic, partition));
        assignment
    }
}

/// Partitions by topic, each with the epoch since which it is the member's (KIP-1251).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedPartitions(pub BTreeMap<TopicId, BTreeMap<PartitionIndex, Epoch>>);

impl OwnedPartitions {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.values().all(BTreeMap::is_empty)
    }

    /// The same without the epochs.
    #[must_use]
    pub fn partitions(&self) -> Assignment {
        self.iter().map(|(topic, partition, _)| (topic, partition)).collect()
    }

    pub(crate) fn insert(&mut self, topic: TopicId, partition: PartitionIndex, epoch: Epoch) {
        self.0.entry(topic).or_default().insert(partition, epoch);
    }

    pub(crate) fn epoch(&self, topic: TopicId, partition: PartitionIndex) -> Option<Epoch> {
        self.0.get(&topic)?.get(&partition).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (TopicId, PartitionIndex, Epoch)> + '_ {
        self.0.iter().flat_map(|(topic, partitions)| {
            partitions.iter().map(|(partition, epoch)| (*topic, *partition, *epoch))
        })
    }
}

/// What a member has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentAssignment {
    /// The epoch the member has reached.
    pub epoch: Epoch,
    /// The one before, which it may still name if our answer got lost.
    pub previous_epoch: Epoch,
    /// How far it is on its way to the target.
    pub state: MemberState,
    /// What it has.
    pub assigned: OwnedPartitions,
    /// What it must still give up. Until then nobody else gets it.
    pub pending_revocation: OwnedPartitions,
}

impl Default for CurrentAssignment {
    /// Of a member that has just come.
    fn default() -> Self {
        Self {
            epoch: Epoch::JOINING,
            previous_epoch: Epoch(-1),
            state: MemberState::Stable,
            assigned: OwnedPartitions::default(),
            pending_revocation: OwnedPartitions::default(),
        }
    }
}

impl CurrentAssignment {
    /// Whether the member has all that this target assignment gives it.
    pub(crate) fn is_reconciled_to(&self, target: Epoch) -> bool {
        self.state == MemberState::Stable && self.epoch == target
    }

    /// The same in an epoch of its own.
    pub(crate) fn moved_to(&self, epoch: Epoch) -> Self {
        Self { epoch, previous_epoch: self.epoch, ..self.clone() }
    }
}

/// What topics a regular expression meant when it was last looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRegex {
    /// The names that match.
    pub topics: BTreeSet<Arc<str>>,
    /// Which state of the cluster's topics was looked at; it only grows.
    pub version: i64,
    /// When.
    pub resolved_at: Timestamp,
}
