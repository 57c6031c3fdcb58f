//! The decoded records of a shard's log, which are also the values that hard state is made of.
//!
//! They hold only what their bytes can say (an offset with an expiry has no leader epoch, say), so that the live
//! state and a replay of the log are the same. The bytes themselves are the business of `codec`.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use milepost_model::{Generation, LeaderEpoch, Offset, PartitionIndex, Timestamp, TopicId};

use crate::consumer::ConsumerRecord;

/// A record. Cheap to clone: its names and values are shared.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A committed offset, or its tombstone.
    Offset(OffsetRecord),
    /// A classic group, or its tombstone.
    Group(GroupRecord),
    /// One of the records of a consumer group, or its tombstone.
    Consumer(ConsumerRecord),
}

impl Record {
    /// The group the record is about.
    #[must_use]
    pub fn group(&self) -> &Arc<str> {
        match self {
            Self::Offset(record) => &record.group,
            Self::Group(record) => &record.group,
            Self::Consumer(record) => &record.group,
        }
    }
}

/// A committed offset.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetRecord {
    /// The group.
    pub group: Arc<str>,
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition.
    pub partition: PartitionIndex,
    /// What was committed; `None` deletes it.
    pub committed: Option<CommittedOffset>,
}

/// A classic group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRecord {
    /// The group.
    pub group: Arc<str>,
    /// Its state; `None` deletes it.
    pub classic: Option<Arc<ClassicGroup>>,
}

/// What a consumer committed for a partition. 48 bytes, plus the metadata if there is any.
#[derive(Clone, PartialEq)]
pub struct CommittedOffset {
    offset: Offset,
    commit_timestamp: Timestamp,
    /// −1 for none: a whole `Option` would cost four bytes in each of many millions of entries.
    leader_epoch: i32,
    topic_id: TopicId,
    detail: Option<Arc<Detail>>,
}

/// What few commits have.
#[derive(Debug, PartialEq)]
struct Detail {
    metadata: Box<str>,
    expire_timestamp: Option<Timestamp>,
}

impl CommittedOffset {
    /// An offset committed at `commit_timestamp`, with nothing else known about it.
    #[must_use]
    pub fn new(offset: Offset, commit_timestamp: Timestamp) -> Self {
        Self { offset, commit_timestamp, leader_epoch: -1, topic_id: TopicId::ZERO, detail: None }
    }

    /// The same with the epoch of the last consumed record's leader.
    #[must_use]
    pub fn with_leader_epoch(mut self, leader_epoch: Option<LeaderEpoch>) -> Self {
        self.leader_epoch = leader_epoch.map_or(-1, |epoch| epoch.0);
        self
    }

    /// The same with the topic's identity.
    #[must_use]
    pub fn with_topic_id(mut self, topic_id: Option<TopicId>) -> Self {
        self.topic_id = topic_id.unwrap_or(TopicId::ZERO);
        self
    }

    /// The same with the client's words.
    #[must_use]
    pub fn with_metadata(mut self, metadata: &str) -> Self {
        let expire_timestamp = self.expire_timestamp();
        self.detail = Detail::shared(metadata, expire_timestamp);
        self
    }

    /// The same with an expiry of its own. The record's old format has no room for a leader epoch and a topic id then,
    /// so they are dropped here as well.
    #[must_use]
    pub fn with_expire_timestamp(mut self, expire_timestamp: Option<Timestamp>) -> Self {
        self.detail = Detail::shared(self.metadata(), expire_timestamp);
        if expire_timestamp.is_some() {
            self.leader_epoch = -1;
            self.topic_id = TopicId::ZERO;
        }
        self
    }

    /// The offset: where to read next. Any number a client chose.
    #[must_use]
    pub fn offset(&self) -> Offset {
        self.offset
    }

    /// The epoch of the last consumed record's leader (KIP-320).
    #[must_use]
    pub fn leader_epoch(&self) -> Option<LeaderEpoch> {
        (self.leader_epoch != -1).then_some(LeaderEpoch(self.leader_epoch))
    }

    /// The client's own words, empty if there are none.
    #[must_use]
    pub fn metadata(&self) -> &str {
        self.detail.as_ref().map_or("", |detail| &detail.metadata)
    }

    /// When it was committed.
    #[must_use]
    pub fn commit_timestamp(&self) -> Timestamp {
        self.commit_timestamp
    }

    /// When it expires, if the client chose that itself.
    #[must_use]
    pub fn expire_timestamp(&self) -> Option<Timestamp> {
        self.detail.as_ref().and_then(|detail| detail.expire_timestamp)
    }

    /// The identity of the topic it was committed for, if it was known.
    #[must_use]
    pub fn topic_id(&self) -> Option<TopicId> {
        (!self.topic_id.is_zero()).then_some(self.topic_id)
    }
}

impl fmt::Debug for CommittedOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommittedOffset")
            .field("offset", &self.offset.0)
            .field("leader_epoch", &self.leader_epoch().map(|epoch| epoch.0))
            .field("metadata", &self.metadata())
            .field("commit_timestamp", &self.commit_timestamp.0)
            .field("expire_timestamp", &self.expire_timestamp().map(|time| time.0))
            .field("topic_id", &self.topic_id().map(|id| id.to_string()))
            .finish()
    }
}

impl Detail {
    fn shared(metadata: &str, expire_timestamp: Option<Timestamp>) -> Option<Arc<Self>> {
        if metadata.is_empty() && expire_timestamp.is_none() {
            return None;
        }
        Some(Arc::new(Self { metadata: metadata.into(), expire_timestamp }))
    }
}

/// A classic group as its last rebalance left it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassicGroup {
    /// "consumer" for consumers; `None` for a group that never had a member.
    pub protocol_type: Option<Arc<str>>,
    /// The generation.
    pub generation: Generation,
    /// The protocol that was chosen; `None` without members.
    pub protocol: Option<Arc<str>>,
    /// The leader's member id; `None` without members.
    pub leader: Option<Arc<str>>,
    /// When the group came into this state.
    pub state_timestamp: Option<Timestamp>,
    /// The members.
    pub members: Members,
}

impl ClassicGroup {
    /// The member of this id.
    #[must_use]
    pub fn member(&self, member_id: &str) -> Option<&Member> {
        let index = self.members.binary_search_by(|member| (*member.member_id).cmp(member_id)).ok()?;
        Some(&self.members[index])
    }
}

/// Members in the order of their ids, whatever the order in the record; each id once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(Vec<Member>);

impl From<Vec<Member>> for Members {
    fn from(mut members: Vec<Member>) -> Self {
        members.sort_by(|one, other| one.member_id.cmp(&other.member_id));
        members.dedup_by(|one, other| one.member_id == other.member_id);
        Self(members)
    }
}

impl Deref for Members {
    type Target = [Member];

    fn deref(&self) -> &[Member] {
        &self.0
    }
}

/// A member of a classic group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The id the coordinator gave it.
    pub member_id: Arc<str>,
    /// The id of a static member, which its operator gave it.
    pub group_instance_id: Option<Arc<str>>,
    /// The client's own name.
    pub client_id: Arc<str>,
    /// The client's address.
    pub client_host: Arc<str>,
    /// How long the group waits for it in a rebalance.
    pub rebalance_timeout_ms: i32,
    /// How long it may be silent.
    pub session_timeout_ms: i32,
    /// Its bytes for the chosen protocol.
    pub subscription: Arc<[u8]>,
    /// What the leader assigned to it.
    pub assignment: Arc<[u8]>,
}

impl Member {
    /// The session timeout as a length of time; nonsense in a foreign record counts as 0.
    pub(crate) fn session_ms(&self) -> u64 {
        u64::try_from(self.session_timeout_ms).unwrap_or(0)
    }

    /// The rebalance timeout as a length of time; a client may have sent nonsense, which counts as 0.
    pub(crate) fn rebalance_ms(&self) -> u64 {
        u64::try_from(self.rebalance_timeout_ms).unwrap_or(0)
    }
}
