//! Members of a consumer group that speak the classic protocol: JoinGroup moves them towards their target assignment,
//! SyncGroup tells them what they have, and Heartbeat whether to join again. Nobody leads.
//!
//! A member's generation is the epoch it is in. What the target asks of it is decided as for everybody else.

mod heartbeat;
mod join;
mod sync;

pub(crate) use heartbeat::heartbeat_in_consumer_group;
pub(crate) use join::join_consumer_group;
pub(crate) use sync::sync_in_consumer_group;

use std::sync::Arc;

use milepost_model::Generation;

use super::ConsumerGroup;
use super::record::{ClassicMember, ConsumerMember, CurrentAssignment};
use crate::GroupError;
use crate::hard::HardGroup;
use crate::rebalance::Call;
use crate::turn::Turn;

/// A member that speaks the classic protocol, and what it has.
struct Present<'a> {
    id: &'a Arc<str>,
    member: &'a ConsumerMember,
    classic: &'a ClassicMember,
    current: Arc<CurrentAssignment>,
}

/// The member, if it is the one it says it is, and in this generation.
fn present<'a>(
    group: &'a ConsumerGroup,
    member_id: &str,
    instance_id: Option<&str>,
    generation: Generation,
) -> Result<Present<'a>, GroupError> {
    let known = match instance_id {
        None => group.members().get_key_value(member_id),
        Some(instance) => group.static_member(instance),
    };
    let (id, member) = known.ok_or(GroupError::UnknownMemberId)?;
    if **id != *member_id {
        return Err(GroupError::FencedInstanceId);
    }
    let classic = member.classic.as_ref().ok_or(GroupError::UnknownMemberId)?;
    let current = group.current(id);
    if current.epoch.0 != generation.0 {
        return Err(GroupError::IllegalGeneration);
    }
    Ok(Present { id, member, classic, current })
}

impl Present<'_> {
    /// The member is given a full session.
    fn keep_session(&self, turn: &mut Turn<'_>, hard: &HardGroup) {
        let deadline = turn.now.monotonic.plus_ms(self.classic.session_ms());
        turn.soft.consumers.keep_session(hard.id(), self.id, deadline);
    }

    /// The member is told to join again, and has the time of its rebalance timeout for that.
    fn call_back(&self, turn: &mut Turn<'_>, hard: &HardGroup) -> GroupError {
        let deadline = turn.now.monotonic.plus_ms(self.member.rebalance_ms());
        turn.soft.consumers.expect(hard.id(), self.id, Call::Join, deadline);
        GroupError::RebalanceInProgress
    }
}
