//! LeaveGroup: members go, of their own will or an administrator's.

use std::sync::Arc;

use milepost_model::Ticket;

use super::phases;
use crate::consumer::leave_consumer_group;
use crate::hard::HardGroup;
use crate::request::{LeaveGroup, LeavingMember};
use crate::soft::SoftGroup;
use crate::turn::Turn;
use crate::view::GroupView;
use crate::{GroupError, Reply};

/// Handles LeaveGroup.
pub(crate) fn leave_group(turn: &mut Turn<'_>, ticket: Ticket, request: &LeaveGroup<'_>) {
    let hard = turn.hard.group(request.group_id);
    if request.group_id.is_empty() {
        turn.answer(hard, ticket, Reply::LeaveGroup(Err(GroupError::InvalidGroupId)));
        return;
    }
    if let Some((hard, group)) = hard.and_then(|hard| Some((hard, hard.consumer()?))) {
        let results = leave_consumer_group(turn, hard, group, request);
        turn.answer(Some(hard), ticket, Reply::LeaveGroup(Ok(results)));
        return;
    }
    let mut group = turn.soft.take(request.group_id, hard, turn.now);
    let results: Vec<_> =
        request.members.iter().map(|member| leave(turn, hard, &mut group, member)).collect();
    if results.iter().any(|result| matches!(result, Ok(Left::Member))) {
        phases::rebalance_or_complete(turn, hard, &mut group);
    } else if results.iter().any(Result::is_ok) {
        phases::complete_if_all_joined(turn, hard, &mut group);
    }
    turn.soft.put_back(group);
    let results = results.into_iter().map(|result| result.map(|_| ())).collect();
    turn.answer(hard, ticket, Reply::LeaveGroup(Ok(results)));
}

/// Who left.
enum Left {
    /// A member.
    Member,
    /// Somebody who was given an id and never came back with it.
    PendingJoin,
}

fn leave(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    leaving: &LeavingMember<'_>,
) -> Result<Left, GroupError> {
    if let Some(member_id) = leaving.member_id
        && group.pending_joins.remove(member_id).is_some()
    {
        return Ok(Left::PendingJoin);
    }
    let view = GroupView::new(hard, Some(group));
    let member = match (leaving.member_id, leaving.group_instance_id) {
        (Some(member_id), instance) => view.validate_member(member_id, instance)?,
        (None, Some(instance)) => view.static_member(instance).ok_or(GroupError::UnknownMemberId)?,
        (None, None) => return Err(GroupError::UnknownMemberId),
    };
    let member_id = Arc::clone(&member.member_id);
    phases::remove_members(turn, hard, group, &[member_id]);
    Ok(Left::Member)
}
