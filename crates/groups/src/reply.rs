//! What a shard of groups answers. "Never committed" is `None`, an error is a [`GroupError`]; no wire numbers.

use std::sync::Arc;

use milepost_model::{Generation, PartitionIndex};

use crate::consumer::{Assignment, Assignor, ConsumerMember, Epoch};
use crate::{CommittedOffset, EmbeddedRefusal, GroupError, GroupState, GroupType};

/// One answer; each kind of request has its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// To JoinGroup.
    JoinGroup(Result<Joined, JoinRefused>),
    /// To SyncGroup.
    SyncGroup(Result<Synced, GroupError>),
    /// To Heartbeat.
    Heartbeat(Result<(), GroupError>),
    /// To LeaveGroup: one result for each member of the request, in its order.
    LeaveGroup(Result<Vec<Result<(), GroupError>>, GroupError>),
    /// To ConsumerGroupHeartbeat.
    ConsumerGroupHeartbeat(Result<ConsumerHeartbeat, GroupError>),
    /// To ConsumerGroupDescribe.
    DescribeConsumerGroup(Result<DescribedConsumerGroup, GroupError>),
    /// To OffsetCommit: what was *not* stored; all else was. An error: nothing was.
    OffsetCommit(Result<Vec<OffsetRefused>, GroupError>),
    /// To TxnOffsetCommit: what was *not* stored; all else is pending. An error: nothing was.
    TxnOffsetCommit(Result<Vec<OffsetRefused>, GroupError>),
    /// To OffsetFetch for named partitions: one result for each, in the request's order.
    OffsetFetch(Vec<Result<Option<CommittedOffset>, GroupError>>),
    /// To OffsetFetch for all partitions.
    OffsetFetchAll(Vec<FetchedTopic>),
    /// To OffsetFetch: the member that asks is not (or no longer) what it says.
    OffsetFetchRefused(GroupError),
    /// To ListGroups, by group id.
    ListGroups(Vec<ListedGroup>),
    /// To DescribeGroups.
    DescribeGroup(Result<DescribedGroup, GroupError>),
    /// To DeleteGroups: one result for each group of the request, in its order.
    DeleteGroups(Vec<Result<(), GroupError>>),
    /// To OffsetDelete: one result for each partition of the request, in its order. An error: nothing was deleted.
    OffsetDelete(Result<Vec<Result<(), GroupError>>, GroupError>),
    /// To the embedded library: the group's generation afterwards; `None` when it has none.
    Embedded(Result<Option<Generation>, EmbeddedRefusal>),
}

/// What a member of a consumer group is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerHeartbeat {
    /// The member.
    pub member_id: Arc<str>,
    /// The epoch it is in now; [`Epoch::GONE`] or [`Epoch::AWAY`] when it left.
    pub epoch: Epoch,
    /// How often it shall ask; 0 when it left.
    pub heartbeat_interval_ms: i32,
    /// What it has now, if that changed or it may not know.
    pub assignment: Option<Assignment>,
}

/// All about one consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedConsumerGroup {
    /// Its state.
    pub state: GroupState,
    /// The group epoch.
    pub epoch: Epoch,
    /// The epoch of the target assignment.
    pub target_epoch: Epoch,
    /// The assignor in use.
    pub assignor: Assignor,
    /// The members, by id.
    pub members: Vec<DescribedConsumer>,
}

/// One member of a described consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedConsumer {
    /// Its id.
    pub member_id: Arc<str>,
    /// What it said about itself.
    pub member: ConsumerMember,
    /// The epoch it is in.
    pub epoch: Epoch,
    /// What it has, what it must still give up included.
    pub assignment: Assignment,
    /// What it shall have.
    pub target: Assignment,
}

/// A join that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The group's generation.
    pub generation: Generation,
    /// The group's protocol type.
    pub protocol_type: Option<Arc<str>>,
    /// The protocol that was chosen.
    pub protocol: Option<Arc<str>>,
    /// The leader's member id.
    pub leader: Arc<str>,
    /// This member's id.
    pub member_id: Arc<str>,
    /// To the leader: whether everybody keeps what they have, and the leader need not assign.
    pub skip_assignment: bool,
    /// To the leader: everybody, by member id. Empty to followers.
    pub members: Vec<JoinedMember>,
}

/// A member, as the leader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedMember {
    /// Its id.
    pub member_id: Arc<str>,
    /// The id of a static member.
    pub group_instance_id: Option<Arc<str>>,
    /// Its bytes for the chosen protocol.
    pub metadata: Arc<[u8]>,
}

/// A join that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinRefused {
    /// Why.
    pub error: GroupError,
    /// The id to use from now on, with [`GroupError::MemberIdRequired`]; else the id the member came with, if any.
    pub member_id: Option<Arc<str>>,
}

/// A member's assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synced {
    /// The group's protocol type.
    pub protocol_type: Option<Arc<str>>,
    /// The protocol that was chosen.
    pub protocol: Option<Arc<str>>,
    /// What the leader assigned; empty when it left the member out.
    pub assignment: Arc<[u8]>,
}

/// An offset that was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetRefused {
    /// Its place in the request's list.
    pub index: usize,
    /// Why.
    pub error: GroupError,
}

/// The committed offsets of a group in one topic.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchedTopic {
    /// The topic's name.
    pub topic: Arc<str>,
    /// Its partitions with a committed offset, ascending.
    pub partitions: Vec<FetchedPartition>,
}

/// The committed offset of a group in one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchedPartition {
    /// The partition.
    pub partition: PartitionIndex,
    /// The offset. `None` is not possible without an error: what has no offset is not listed.
    pub offset: Result<CommittedOffset, GroupError>,
}

/// A group in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedGroup {
    /// The group.
    pub group_id: Arc<str>,
    /// Its protocol type; `None` for one that only stores offsets.
    pub protocol_type: Option<Arc<str>>,
    /// Its state.
    pub state: GroupState,
    /// Its type.
    pub group_type: GroupType,
}

/// All about one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedGroup {
    /// The group.
    pub group_id: Arc<str>,
    /// Its state.
    pub state: GroupState,
    /// Its protocol type; `None` for one that only stores offsets.
    pub protocol_type: Option<Arc<str>>,
    /// The protocol that was chosen; only of a stable group.
    pub protocol: Option<Arc<str>>,
    /// The members, by id.
    pub members: Vec<DescribedMember>,
}

/// One member of a described group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedMember {
    /// Its id.
    pub member_id: Arc<str>,
    /// The id of a static member.
    pub group_instance_id: Option<Arc<str>>,
    /// The client's own name.
    pub client_id: Arc<str>,
    /// Its address.
    pub client_host: Arc<str>,
    /// Its bytes for the chosen protocol; only of a stable group.
    pub metadata: Option<Arc<[u8]>>,
    /// What it was assigned.
    pub assignment: Arc<[u8]>,
}
