//! What may be asked of a shard of groups. Names borrow from the connection's buffer.
//!
//! Everything a decision needs comes with the request: fresh random text for member ids, the client's address, and
//! what the client's version of the protocol expects, as enums. Wire numbers such as −1 are `None` here already.

use std::sync::Arc;

use milepost_model::{Generation, LeaderEpoch, Offset, PartitionIndex, ProducerIdentity, TopicId};

use crate::GroupState;
use crate::consumer::{Assignment, ClusterTopics, Epoch};

/// One request to a shard.
#[derive(Clone, Debug)]
pub enum Request<'a> {
    /// A member wants to take part in the group.
    JoinGroup(JoinGroup<'a>),
    /// A member asks for its assignment; the leader brings everybody's.
    SyncGroup(SyncGroup<'a>),
    /// A member says that it is alive.
    Heartbeat(Heartbeat<'a>),
    /// Members leave.
    LeaveGroup(LeaveGroup<'a>),
    /// A member of a consumer group (KIP-848) says what it is and has.
    ConsumerGroupHeartbeat(ConsumerGroupHeartbeat<'a>),
    /// What is there to know about one consumer group?
    DescribeConsumerGroup(DescribeGroup<'a>),
    /// Offsets are committed.
    OffsetCommit(OffsetCommit<'a>),
    /// Offsets are committed within a producer's transaction.
    TxnOffsetCommit(TxnOffsetCommit<'a>),
    /// Committed offsets are asked for.
    OffsetFetch(OffsetFetch<'a>),
    /// Which groups are there?
    ListGroups(ListGroups),
    /// What is there to know about one group?
    DescribeGroup(DescribeGroup<'a>),
    /// Groups without members are deleted, offsets and all.
    DeleteGroups(DeleteGroups<'a>),
    /// Committed offsets are deleted.
    OffsetDelete(OffsetDelete<'a>),
    /// The embedded library asks.
    Embedded(EmbeddedRequest<'a>),
}

/// JoinGroup.
#[derive(Clone, Debug)]
pub struct JoinGroup<'a> {
    /// The group; empty is refused.
    pub group_id: &'a str,
    /// The member's id; `None` for a new member.
    pub member_id: Option<&'a str>,
    /// The id of a static member (KIP-345).
    pub group_instance_id: Option<&'a str>,
    /// The client's own name.
    pub client_id: &'a str,
    /// The client's address as it shall be recorded, such as `/10.0.0.5`.
    pub client_host: &'a str,
    /// "consumer" for consumers.
    pub protocol_type: &'a str,
    /// The protocols (assignors) the member supports, best first.
    pub protocols: Vec<JoinProtocol<'a>>,
    /// How long the member may be silent.
    pub session_timeout_ms: i32,
    /// How long the group waits for the member when it rebalances; `None`: the session timeout.
    pub rebalance_timeout_ms: Option<i32>,
    /// Fresh random text, a UUID: the end of the member's id, should it get a new one.
    pub member_id_suffix: &'a str,
    /// The same in Kafka's own text form of a UUID: the whole id of a new member of a consumer group.
    pub bare_member_id: &'a str,
    /// What a new dynamic member can handle.
    pub new_member: NewMember,
    /// What a static leader that comes back can handle.
    pub static_leader: StaticLeader,
    /// The topics of the cluster, as they are now: a consumer group may have members that speak this protocol.
    pub topics: Arc<ClusterTopics>,
}

/// One protocol of a joining member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinProtocol<'a> {
    /// Its name, such as "range".
    pub name: &'a str,
    /// The member's bytes for it.
    pub metadata: &'a [u8],
}

/// What a new dynamic member gets (KIP-394).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewMember {
    /// JoinGroup from version 4: it is given an id and told to join again with it.
    JoinsAgainWithId,
    /// Older versions: it joins at once.
    JoinsAtOnce,
}

/// What a returning static leader of a stable group is told (KIP-814).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticLeader {
    /// JoinGroup from version 9: that it leads and need not assign.
    CanSkipAssignment,
    /// Older versions: the former leader's id, so that it does not assign.
    SeesFormerLeader,
}

/// SyncGroup.
#[derive(Clone, Debug)]
pub struct SyncGroup<'a> {
    /// The group.
    pub group_id: &'a str,
    /// The member.
    pub member_id: &'a str,
    /// The id of a static member.
    pub group_instance_id: Option<&'a str>,
    /// The generation that JoinGroup answered.
    pub generation: Generation,
    /// The protocol type, from version 5.
    pub protocol_type: Option<&'a str>,
    /// The protocol, from version 5.
    pub protocol: Option<&'a str>,
    /// From the leader: what each member gets. Empty from followers.
    pub assignments: Vec<MemberAssignment<'a>>,
    /// The topics of the cluster, as they are now.
    pub topics: Arc<ClusterTopics>,
}

/// What the leader assigned to one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberAssignment<'a> {
    /// The member.
    pub member_id: &'a str,
    /// Its part, in bytes only clients understand.
    pub assignment: &'a [u8],
}

/// Heartbeat.
#[derive(Clone, Debug)]
pub struct Heartbeat<'a> {
    /// The group.
    pub group_id: &'a str,
    /// The member.
    pub member_id: &'a str,
    /// The id of a static member.
    pub group_instance_id: Option<&'a str>,
    /// The generation the member is in.
    pub generation: Generation,
    /// The topics of the cluster, as they are now.
    pub topics: Arc<ClusterTopics>,
}

/// LeaveGroup.
#[derive(Clone, Debug)]
pub struct LeaveGroup<'a> {
    /// The group.
    pub group_id: &'a str,
    /// Who leaves.
    pub members: Vec<LeavingMember<'a>>,
    /// The topics of the cluster, as they are now.
    pub topics: Arc<ClusterTopics>,
}

/// One member that leaves.
#[derive(Clone, Copy, Debug)]
pub struct LeavingMember<'a> {
    /// Its id; `None` with a group instance id: an administrator removes that static member.
    pub member_id: Option<&'a str>,
    /// The id of a static member.
    pub group_instance_id: Option<&'a str>,
}

/// ConsumerGroupHeartbeat. What is `None` is as it was.
#[derive(Clone, Debug)]
pub struct ConsumerGroupHeartbeat<'a> {
    /// The group; empty is refused.
    pub group_id: &'a str,
    /// The member's id, which it chose itself (the edge does so for older clients).
    pub member_id: &'a str,
    /// Whether it comes, stays or goes.
    pub step: HeartbeatStep,
    /// The id of a static member.
    pub instance_id: Option<&'a str>,
    /// Where it runs.
    pub rack_id: Option<&'a str>,
    /// The client's own name.
    pub client_id: &'a str,
    /// The client's address as it shall be recorded, such as `/10.0.0.5`.
    pub client_host: &'a str,
    /// How long it may take to give up partitions.
    pub rebalance_timeout_ms: Option<i32>,
    /// The topics it subscribes to by name.
    pub subscribed_topics: Option<Vec<&'a str>>,
    /// The regular expression it subscribes to; empty for none.
    pub subscribed_regex: Option<&'a str>,
    /// The assignor it prefers.
    pub server_assignor: Option<&'a str>,
    /// The partitions it owns.
    pub owned: Option<Assignment>,
    /// The topics of the cluster, as they are now.
    pub topics: Arc<ClusterTopics>,
}

/// Whether a member comes, stays or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeartbeatStep {
    /// Epoch 0: it joins, or joins again.
    Join,
    /// It is in this epoch.
    Stay(Epoch),
    /// It goes.
    Leave(HowToLeave),
}

/// How a member goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowToLeave {
    /// Epoch −1.
    ForGood,
    /// Epoch −2: a static member is restarted, and keeps what it has for the time of its session.
    ForAWhile,
}

/// OffsetCommit. The edge has checked that the topics exist.
#[derive(Clone, Debug)]
pub struct OffsetCommit<'a> {
    /// The group; may be empty.
    pub group_id: &'a str,
    /// The member; `None` (or "") for someone outside group management.
    pub member_id: Option<&'a str>,
    /// The id of a static member.
    pub group_instance_id: Option<&'a str>,
    /// The member's generation, or its epoch in a consumer group; `None` (a negative number on the wire) for someone
    /// outside group management.
    pub generation: Option<Generation>,
    /// How long to keep the offsets, if the client says so (versions 2 to 4 only).
    pub retention_ms: Option<i64>,
    /// What a member of a group that does not exist is told.
    pub missing_group: MissingGroup,
    /// The offsets, in the request's order. Those of one topic follow each other.
    pub offsets: Vec<OffsetToCommit<'a>>,
}

/// TxnOffsetCommit. The edge has checked that the topics exist, and that the partition of `__consumer_offsets` is part of
/// the transaction.
#[derive(Clone, Debug)]
pub struct TxnOffsetCommit<'a> {
    /// The group; empty is refused.
    pub group_id: &'a str,
    /// The member; `None` (or "") for someone outside group management.
    pub member_id: Option<&'a str>,
    /// The id of a static member.
    pub group_instance_id: Option<&'a str>,
    /// The member's generation, or its epoch in a consumer group; `None` (a negative number on the wire) for someone
    /// outside group management.
    pub generation: Option<Generation>,
    /// Whose transaction it is.
    pub producer: ProducerIdentity,
    /// The offsets, in the request's order. Those of one topic follow each other.
    pub offsets: Vec<OffsetToCommit<'a>>,
}

/// What OffsetCommit answers a member of a group that does not exist. It tells which versions of the protocol the client
/// speaks: older ones cannot be used by members of consumer groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingGroup {
    /// Version 9 and later.
    GroupIdNotFound,
    /// Older versions.
    IllegalGeneration,
}

/// One offset to commit.
#[derive(Clone, Copy, Debug)]
pub struct OffsetToCommit<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// The topic's identity, where known.
    pub topic_id: Option<TopicId>,
    /// The partition.
    pub partition: PartitionIndex,
    /// The offset; any number a client chose.
    pub offset: Offset,
    /// The epoch of the last consumed record's leader.
    pub leader_epoch: Option<LeaderEpoch>,
    /// The client's own words; empty for none.
    pub metadata: &'a str,
}

/// OffsetFetch for one group.
#[derive(Clone, Debug)]
pub struct OffsetFetch<'a> {
    /// The group; may be empty.
    pub group_id: &'a str,
    /// Which partitions.
    pub partitions: PartitionsToFetch<'a>,
    /// What to do about open transactions.
    pub stability: Stability,
    /// Who asks, if a member of a consumer group does.
    pub member_id: Option<&'a str>,
    /// Its epoch.
    pub member_epoch: Option<Epoch>,
}

/// Which committed offsets are asked for.
#[derive(Clone, Debug)]
pub enum PartitionsToFetch<'a> {
    /// Everything the group has committed.
    All,
    /// These, answered in this order.
    Named(Vec<PartitionToFetch<'a>>),
}

/// One partition whose committed offset is asked for.
#[derive(Clone, Copy, Debug)]
pub struct PartitionToFetch<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// The topic's identity: an offset stored for another one counts as never committed. `None`: any.
    pub topic_id: Option<TopicId>,
    /// The partition.
    pub partition: PartitionIndex,
}

/// What OffsetFetch does about offsets inside open transactions (KIP-447).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stability {
    /// Answers what is committed now.
    CommittedNow,
    /// Refuses partitions that an open transaction may change.
    RequireStable,
}

/// ListGroups. A filter that is there and empty matches nothing.
#[derive(Clone, Debug, Default)]
pub struct ListGroups {
    /// Only groups in one of these states.
    pub states: Option<Vec<GroupState>>,
    /// Only groups of one of these types.
    pub types: Option<Vec<GroupType>>,
}

/// The kind of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupType {
    /// The members assign (JoinGroup and SyncGroup), or there are none, only offsets.
    Classic,
    /// The coordinator assigns (KIP-848), also if members speak the classic protocol.
    Consumer,
}

/// DescribeGroups, for one group.
#[derive(Clone, Copy, Debug)]
pub struct DescribeGroup<'a> {
    /// The group.
    pub group_id: &'a str,
}

/// DeleteGroups, for those groups of the request that live in this shard. They go in one batch.
#[derive(Clone, Debug)]
pub struct DeleteGroups<'a> {
    /// The groups.
    pub group_ids: Vec<&'a str>,
}

/// OffsetDelete. The edge has checked that the topics exist.
#[derive(Clone, Debug)]
pub struct OffsetDelete<'a> {
    /// The group; empty is refused.
    pub group_id: &'a str,
    /// The partitions whose offsets go.
    pub partitions: Vec<PartitionToDelete<'a>>,
}

/// One partition whose committed offset shall go.
#[derive(Clone, Copy, Debug)]
pub struct PartitionToDelete<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// The partition.
    pub partition: PartitionIndex,
}

/// What the embedded library asks about one group. Each answer names the group's generation afterwards.
#[derive(Clone, Debug)]
pub enum EmbeddedRequest<'a> {
    /// The caller takes the group over: it gets the next generation, and nobody else has it.
    Rebalance {
        /// The group; empty is refused.
        group_id: &'a str,
    },
    /// Offsets are committed, all of them or none.
    Commit {
        /// The group.
        group_id: &'a str,
        /// Must be the present one.
        generation: Generation,
        /// The offsets. Those of one topic follow each other.
        offsets: Vec<OffsetToCommit<'a>>,
    },
    /// Which generation is it?
    Generation {
        /// The group.
        group_id: &'a str,
    },
    /// Every committed offset of the group goes; its generation stays.
    DeleteOffsets {
        /// The group.
        group_id: &'a str,
    },
    /// The group goes, its generation too: the next one is the first again.
    Forget {
        /// The group.
        group_id: &'a str,
    },
}

impl<'a> EmbeddedRequest<'a> {
    /// The group it is about.
    #[must_use]
    pub fn group_id(&self) -> &'a str {
        match self {
            Self::Rebalance { group_id }
            | Self::Commit { group_id, .. }
            | Self::Generation { group_id }
            | Self::DeleteOffsets { group_id }
            | Self::Forget { group_id } => group_id,
        }
    }
}
