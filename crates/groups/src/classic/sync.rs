//! SyncGroup. The leader's is what makes a rebalance last: it is written down, and answers everybody who waits.

use std::sync::Arc;

use milepost_model::Ticket;

use super::phases;
use crate::consumer::sync_in_consumer_group;
use crate::hard::HardGroup;
use crate::rebalance::{Call, Rebalance, Waiting, metadata_for};
use crate::request::SyncGroup;
use crate::soft::SoftGroup;
use crate::turn::Turn;
use crate::view::GroupView;
use crate::{GroupError, GroupState, MemberAssignment, Reply, Synced};

/// Handles SyncGroup.
pub(crate) fn sync_group(turn: &mut Turn<'_>, ticket: Ticket, request: &SyncGroup<'_>) {
    let hard = turn.hard.group(request.group_id);
    if let Some((hard, group)) = hard.and_then(|hard| Some((hard, hard.consumer()?))) {
        sync_in_consumer_group(turn, ticket, hard, group, request);
        return;
    }
    let view = GroupView::new(hard, turn.soft.group(request.group_id));
    if let Err(error) = check(&view, request) {
        turn.answer(hard, ticket, Reply::SyncGroup(Err(error)));
        return;
    }
    let state = view.state();
    let mut group = turn.soft.take(request.group_id, hard, turn.now);
    group.note_synced(request.member_id);
    if state == GroupState::Stable {
        answer_stable(turn, hard, &mut group, ticket, request);
    } else {
        await_assignment(turn, hard, &mut group, ticket, request);
    }
    turn.soft.put_back(group);
}

fn check(view: &GroupView<'_>, request: &SyncGroup<'_>) -> Result<(), GroupError> {
    if request.group_id.is_empty() {
        return Err(GroupError::InvalidGroupId);
    }
    if view.state() == GroupState::Empty {
        return Err(GroupError::UnknownMemberId);
    }
    view.validate_member(request.member_id, request.group_instance_id)?;
    if request.generation != view.generation() {
        return Err(GroupError::IllegalGeneration);
    }
    let differs = |asked: Option<&str>, known: Option<&Arc<str>>| {
        asked.zip(known).is_some_and(|(asked, known)| *asked != **known)
    };
    if differs(request.protocol_type, view.protocol_type()) || differs(request.protocol, view.protocol()) {
        return Err(GroupError::InconsistentGroupProtocol);
    }
    if view.state() == GroupState::PreparingRebalance {
        return Err(GroupError::RebalanceInProgress);
    }
    Ok(())
}

/// Everybody has an assignment: the member gets the one it has.
fn answer_stable(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    ticket: Ticket,
    request: &SyncGroup<'_>,
) {
    let view = GroupView::new(hard, None);
    let Some(member) = view.member(request.member_id) else { return };
    group.restart_session(member, turn.now);
    let synced = Synced {
        protocol_type: view.protocol_type().cloned(),
        protocol: view.protocol().cloned(),
        assignment: Arc::clone(&member.assignment),
    };
    turn.answer(hard, ticket, Reply::SyncGroup(Ok(synced)));
}

/// The member waits for the leader's assignment; the leader brings it.
fn await_assignment(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    ticket: Ticket,
    request: &SyncGroup<'_>,
) {
    let Some(rebalance) = &mut group.rebalance else { return };
    let leads = rebalance.leads(request.member_id);
    let Some(joiner) = rebalance.members.get_mut(request.member_id) else { return };
    let member_id = Arc::clone(&joiner.member.member_id);
    let waited = joiner.waiting.replace(Waiting::sync(ticket));
    turn.soft.park(ticket, &group.id);
    if let Some(waited) = waited {
        phases::refuse(turn, hard, waited, GroupError::RebalanceInProgress, &member_id);
    }
    if leads {
        complete(turn, hard, group, &request.assignments);
    }
}

/// The rebalance is done: its outcome is written down, and everybody who waits gets its part.
fn complete(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    assignments: &[MemberAssignment<'_>],
) {
    let Some(mut rebalance) = group.rebalance.take() else { return };
    assign(&mut rebalance, group, assignments);
    let classic = rebalance.to_classic(Some(turn.now.wall));
    for joiner in rebalance.members.values_mut().filter(|joiner| joiner.is_waiting_in(Call::Sync)) {
        group.restart_session(&joiner.member, turn.now);
        let Some(ticket) = joiner.waiting.take().and_then(|waiting| waiting.ticket) else { continue };
        let synced = Synced {
            protocol_type: classic.protocol_type.clone(),
            protocol: classic.protocol.clone(),
            assignment: Arc::clone(&joiner.member.assignment),
        };
        turn.release(hard, ticket, Reply::SyncGroup(Ok(synced)));
    }
    turn.counts.group_completed_rebalances += 1;
    turn.record_group(group, classic);
}

/// Gives each member its part; whoever the leader left out gets nothing.
fn assign(rebalance: &mut Rebalance, group: &SoftGroup, assignments: &[MemberAssignment<'_>]) {
    let protocol = rebalance.protocol.as_deref().unwrap_or_default();
    for (member_id, joiner) in &mut rebalance.members {
        let metadata = metadata_for(&group.sessions, member_id, protocol);
        joiner.member.subscription = metadata.cloned().unwrap_or_default();
        joiner.member.assignment = Arc::default();
    }
    for assigned in assignments {
        if let Some(joiner) = rebalance.members.get_mut(assigned.member_id) {
            joiner.member.assignment = assigned.assignment.into();
        }
    }
}
