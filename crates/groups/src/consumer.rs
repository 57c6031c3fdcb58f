//! The consumer group protocol of KIP-848: one heartbeat in which a member says what it is and has, and is told what it shall
//! have. The coordinator assigns; members give up and take partitions one by one.
//!
//! Everything here reads the hard state and decides records. A [`Draft`] is the group as those records will leave it, so
//! that one decision can rest on the one before.
//!
//! - `record`, `codec`: what the records say. `state`: the group that they make.
//! - `heartbeat`: one heartbeat from its checks to its answer; `subscription`, `target` and `reconcile` are its three steps,
//!   `assignor` and `regex` what they rest on. `leave`: members go.
//! - `upgrade` and `downgrade`: a classic group becomes a consumer group, and the other way round. `mixed`: members that
//!   speak the classic protocol, whose bytes are `embedded_protocol`.
//! - `soft`, `timers`: sessions and other deadlines. `offsets`, `describe`: what else is asked about such a group.

mod assignor;
mod codec;
mod describe;
mod downgrade;
mod draft;
mod embedded_protocol;
mod heartbeat;
mod leave;
mod mixed;
mod offsets;
mod policy;
mod reconcile;
mod record;
mod regex;
mod soft;
mod state;
mod subscription;
mod target;
mod timers;
mod topics;
mod upgrade;

pub use assignor::Assignor;
pub use policy::MigrationPolicy;
pub use record::{
    Assignment, ClassicMember, ConsumerChange, ConsumerMember, ConsumerRecord, CurrentAssignment, Epoch,
    GroupEpoch, OwnedPartitions, ResolvedRegex, TargetEpoch,
};
pub use regex::NamePattern;
pub use topics::{ClusterTopic, ClusterTopics, GroupConfig};

pub(crate) use codec::{decode, encode};
pub(crate) use describe::describe_consumer_group;
pub(crate) use draft::Draft;
pub(crate) use heartbeat::consumer_group_heartbeat;
pub(crate) use leave::leave_consumer_group;
pub(crate) use mixed::{heartbeat_in_consumer_group, join_consumer_group, sync_in_consumer_group};
pub(crate) use offsets::{check_commit, check_fetch, check_transactional_commit};
pub(crate) use soft::ConsumerSoft;
pub(crate) use state::ConsumerGroup;
pub(crate) use timers::{on_consumer_group_deadline, on_consumer_group_loaded};
