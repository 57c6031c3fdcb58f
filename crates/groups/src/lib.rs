//! The pure machine of groups and their committed offsets: requests become records and replies.
//!
//! [`Groups`] is the [`Shard`](milepost_model::Shard) of one partition of `__consumer_offsets`. The runtime in
//! `coordinator` drives it, for the broker, the embedded library, recovery and the simulator alike.
//!
//! It must never read a clock, make a random number, or touch a file, a socket or a thread: all of that comes in with
//! the request. What is to last changes in `hard` only, by the replay of a record; handlers get it to read. All else
//! (`soft`) may be lost at any moment, and members then rejoin.
//!
//! - [`Request`] and [`Reply`]: what may be asked and what is answered; [`GroupError`] says why not.
//! - `classic`: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, and the phases of a rebalance.
//! - `consumer`: ConsumerGroupHeartbeat and ConsumerGroupDescribe, the protocol of KIP-848.
//! - `offsets`: OffsetCommit, OffsetFetch, OffsetDelete. `admin`: ListGroups, DescribeGroups, DeleteGroups.
//! - `embedded`: what the embedded library asks, which has generations but no members.
//! - `expiry`: what nobody uses any more goes.

mod admin;
mod classic;
mod codec;
mod consumer;
mod counts;
mod embedded;
mod error;
mod expiry;
mod hard;
mod offsets;
mod rebalance;
mod record;
mod reply;
mod request;
mod settings;
mod shard;
mod soft;
mod turn;
mod view;

pub use consumer::{
    Assignment, Assignor, ClassicMember, ClusterTopic, ClusterTopics, ConsumerChange, ConsumerMember,
    ConsumerRecord, CurrentAssignment, Epoch, GroupConfig, GroupEpoch, MigrationPolicy, NamePattern,
    OwnedPartitions, ResolvedRegex, TargetEpoch,
};
pub use counts::{GroupCensus, GroupCounts};
pub use error::{EmbeddedRefusal, GroupError};
pub use milepost_model::partition_for;
pub use record::{ClassicGroup, CommittedOffset, GroupRecord, Member, Members, OffsetRecord, Record};
pub use reply::{
    ConsumerHeartbeat, DescribedConsumer, DescribedConsumerGroup, DescribedGroup, DescribedMember,
    FetchedPartition, FetchedTopic, JoinRefused, Joined, JoinedMember, ListedGroup, OffsetRefused, Reply,
    Synced,
};
pub use request::{
    ConsumerGroupHeartbeat, DeleteGroups, DescribeGroup, EmbeddedRequest, GroupType, Heartbeat,
    HeartbeatStep, HowToLeave, JoinGroup, JoinProtocol, LeaveGroup, LeavingMember, ListGroups,
    MemberAssignment, MissingGroup, NewMember, OffsetCommit, OffsetDelete, OffsetFetch, OffsetToCommit,
    PartitionToDelete, PartitionToFetch, PartitionsToFetch, Request, Stability, StaticLeader, SyncGroup,
    TxnOffsetCommit,
};
pub use settings::GroupSettings;
pub use shard::Groups;
pub use view::GroupState;
