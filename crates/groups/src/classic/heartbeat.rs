//! Heartbeat: a member is alive, and learns whether it has to join again.

use milepost_model::Ticket;

use crate::consumer::heartbeat_in_consumer_group;
use crate::request::Heartbeat;
use crate::turn::Turn;
use crate::view::GroupView;
use crate::{GroupError, GroupState, Reply};

/// Handles Heartbeat.
pub(crate) fn heartbeat(turn: &mut Turn<'_>, ticket: Ticket, request: &Heartbeat<'_>) {
    let hard = turn.hard.group(request.group_id);
    let result = match hard.and_then(|hard| Some((hard, hard.consumer()?))) {
        Some((hard, group)) => heartbeat_in_consumer_group(turn, hard, group, request),
        None => beat(turn, request),
    };
    turn.answer(hard, ticket, Reply::Heartbeat(result));
}

fn beat(turn: &mut Turn<'_>, request: &Heartbeat<'_>) -> Result<(), GroupError> {
    if request.group_id.is_empty() {
        return Err(GroupError::InvalidGroupId);
    }
    let hard = turn.hard.group(request.group_id);
    let view = GroupView::new(hard, turn.soft.group(request.group_id));
    let state = view.state();
    if state == GroupState::Empty {
        return Err(GroupError::UnknownMemberId);
    }
    let member = view.validate_member(request.member_id, request.group_instance_id)?;
    if request.generation != view.generation() {
        return Err(GroupError::IllegalGeneration);
    }
    let session_ms = member.session_ms();
    keep_session(turn, request.group_id, request.member_id, session_ms);
    match state {
        GroupState::PreparingRebalance => Err(GroupError::RebalanceInProgress),
        _ => Ok(()),
    }
}

/// A sign of life of a member. The schedule stays as it is: looking at the group too early does no harm.
pub(crate) fn keep_session(turn: &mut Turn<'_>, group_id: &str, member_id: &str, session_ms: u64) {
    let deadline = turn.now.monotonic.plus_ms(session_ms);
    if let Some(session) = turn.soft.session_mut(group_id, member_id) {
        session.deadline = session.deadline.max(deadline);
        return;
    }
    // The soft state was lost; taking it makes it anew, with this session beginning now.
    let group = turn.soft.take(group_id, turn.hard.group(group_id), turn.now);
    turn.soft.put_back(group);
}
