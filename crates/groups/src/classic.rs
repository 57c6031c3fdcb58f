//! The classic group protocol: members join, the leader assigns, everybody fetches its part, heartbeats keep sessions.

mod heartbeat;
mod join;
mod leave;
mod migration;
mod phases;
mod static_member;
mod sync;

pub(crate) use heartbeat::{heartbeat, keep_session};
pub(crate) use join::{join_group, rebalance_timeout_ms};
pub(crate) use leave::leave_group;
pub(crate) use migration::{
    Adopted, AdoptedProtocol, AfterAdoption, HandedOver, HandedOverMember, adopt, end_handed_over, hand_over,
};
pub(crate) use phases::{on_group_deadline, on_group_loaded, take_over};
pub(crate) use sync::sync_group;
