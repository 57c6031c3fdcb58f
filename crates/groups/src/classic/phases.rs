//! How a rebalance goes from phase to phase, whatever drove it: a join, a leave, or time.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::Generation;

use crate::admin::group_tombstones;
use crate::hard::HardGroup;
use crate::rebalance::{
    Call, InitialDelay, Joiner, Joining, Phase, Rebalance, Sessions, Waiting, metadata_for,
};
use crate::reply::{JoinRefused, Joined, JoinedMember};
use crate::soft::{SoftGroup, Unsynced};
use crate::turn::Turn;
use crate::{GroupError, Reply};

/// The rebalance of a group; from its records, if none is going on.
pub(super) fn rebalance_of<'a>(hard: Option<&HardGroup>, group: &'a mut SoftGroup) -> &'a mut Rebalance {
    rebalance_and_sessions(hard, group).0
}

/// The rebalance of a group and, beside it, the sessions of its members.
pub(super) fn rebalance_and_sessions<'a>(
    hard: Option<&HardGroup>,
    group: &'a mut SoftGroup,
) -> (&'a mut Rebalance, &'a mut Sessions) {
    let classic = hard.and_then(|hard| hard.classic()).map(Arc::as_ref);
    let rebalance = group.rebalance.get_or_insert_with(|| Rebalance::settled(classic));
    (rebalance, &mut group.sessions)
}

/// After a member came, changed or went: begins a rebalance, or ends the join phase if that was all it waited for.
pub(super) fn rebalance_or_complete(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group: &mut SoftGroup) {
    match rebalance_of(hard, group).phase {
        Phase::Joining(_) => complete_if_all_joined(turn, hard, group),
        Phase::Settled | Phase::Syncing => begin(turn, hard, group, Began::WithMembers),
    }
}

/// Whether the group that begins to rebalance was empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Began {
    /// It was: further members are given time to come.
    Empty,
    /// It had members: each of them is waited for.
    WithMembers,
}

/// Begins the join phase. Members that wait for an assignment are told to join again.
pub(super) fn begin(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group: &mut SoftGroup, began: Began) {
    let now = turn.now;
    group.unsynced = None;
    if matches!(rebalance_of(hard, group).phase, Phase::Syncing) {
        cancel_syncs(turn, hard, group);
    }
    let rebalance = rebalance_of(hard, group);
    if began == Began::Empty {
        let delay_ms = turn.settings.initial_rebalance_delay_ms;
        let remaining_ms = rebalance.rebalance_ms().saturating_sub(delay_ms);
        rebalance.phase = Phase::Joining(Joining {
            deadline: now.monotonic.plus_ms(delay_ms),
            initial: Some(InitialDelay { delay_ms, remaining_ms, has_new_member: false }),
        });
        if delay_ms == 0 {
            complete_join_phase(turn, hard, group);
        }
        return;
    }
    let deadline = now.monotonic.plus_ms(rebalance.rebalance_ms());
    rebalance.phase = Phase::Joining(Joining { deadline, initial: None });
    complete_if_all_joined(turn, hard, group);
}

/// Tells members in SyncGroup that there is nothing to be had, and gives up what was assigned to them before.
fn cancel_syncs(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group: &mut SoftGroup) {
    let SoftGroup { rebalance: Some(rebalance), sessions, .. } = group else { return };
    for (member_id, joiner) in &mut rebalance.members {
        joiner.member.assignment = Arc::default();
        if !joiner.is_waiting_in(Call::Sync) {
            continue;
        }
        let ticket = joiner.waiting.take().and_then(|waiting| waiting.ticket);
        if let Some(session) = sessions.get_mut(member_id) {
            session.deadline = turn.now.monotonic.plus_ms(joiner.member.session_ms());
        }
        if let Some(ticket) = ticket {
            turn.release(hard, ticket, Reply::SyncGroup(Err(GroupError::RebalanceInProgress)));
        }
    }
}

/// Ends the join phase if everybody is there and nobody is expected. The wait of an empty group ends by time only.
pub(super) fn complete_if_all_joined(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group: &mut SoftGroup) {
    let Some(rebalance) = &group.rebalance else { return };
    let Phase::Joining(Joining { initial: None, .. }) = &rebalance.phase else { return };
    let all_joined = rebalance.members.values().all(|joiner| joiner.is_waiting_in(Call::Join));
    if all_joined && group.pending_joins.is_empty() {
        complete_join_phase(turn, hard, group);
    }
}

/// Ends the join phase: dynamic members that did not come are removed, a leader and a protocol are chosen, and the
/// next generation is handed out. Without members left, the group is recorded as empty.
fn complete_join_phase(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group: &mut SoftGroup) {
    let SoftGroup { rebalance: Some(rebalance), sessions, .. } = group else { return };
    rebalance
        .members
        .retain(|_, joiner| joiner.waiting.is_some() || joiner.member.group_instance_id.is_some());
    sessions.retain(|member_id, _| rebalance.members.contains_key(member_id));
    if rebalance.members.is_empty() {
        record_empty(turn, group);
        return;
    }
    if !rebalance.elect_leader() {
        // Only static members are left and none of them came. They are waited for once more, until their sessions end.
        let deadline = turn.now.monotonic.plus_ms(rebalance.rebalance_ms().max(1));
        rebalance.phase = Phase::Joining(Joining { deadline, initial: None });
        return;
    }
    rebalance.generation = rebalance.generation.next();
    rebalance.is_unrecorded = true;
    rebalance.protocol = rebalance.vote(sessions);
    rebalance.phase = Phase::Syncing;
    for joiner in rebalance.members.values() {
        if let Some(session) = sessions.get_mut(&joiner.member.member_id) {
            session.deadline = turn.now.monotonic.plus_ms(joiner.member.session_ms());
        }
    }
    let members: BTreeSet<_> = rebalance.members.keys().cloned().collect();
    let deadline = turn.now.monotonic.plus_ms(rebalance.rebalance_ms().max(1));
    group.unsynced = Some(Unsynced { deadline, members });
    answer_joins(turn, hard, group);
}

/// The last member is gone: that, and the generation it happened in, is written down.
fn record_empty(turn: &mut Turn<'_>, group: &mut SoftGroup) {
    let Some(mut rebalance) = group.rebalance.take() else { return };
    rebalance.generation = rebalance.generation.next();
    rebalance.leader = None;
    rebalance.protocol = None;
    group.sessions.clear();
    turn.record_group(group, rebalance.to_classic(Some(turn.now.wall)));
}

/// Somebody outside group management takes the group over: whoever is in it is gone, and the group is recorded as
/// empty under its next generation, which is returned.
///
/// The record names no protocol type: a server that opens the log later then keeps each offset for its retention from
/// its commit on, instead of from when the group became empty.
pub(crate) fn take_over(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group_id: &str) -> Generation {
    let mut group = turn.soft.take(group_id, hard, turn.now);
    let members: Vec<_> = rebalance_of(hard, &mut group).members.keys().cloned().collect();
    remove_members(turn, hard, &mut group, &members);
    group.pending_joins.clear();
    group.unsynced = None;
    let rebalance = rebalance_of(hard, &mut group);
    rebalance.protocol_type = None;
    if let Some((hard, consumer)) = hard.and_then(|hard| Some((hard, hard.consumer()?))) {
        // Its epochs were generations too: none of them comes back.
        rebalance.generation = rebalance.generation.max(Generation(consumer.epoch().0));
        turn.records.extend(group_tombstones(hard));
    }
    let generation = rebalance.generation.next();
    record_empty(turn, &mut group);
    turn.soft.put_back(group);
    generation
}

/// Answers everybody who waits in JoinGroup.
fn answer_joins(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group: &mut SoftGroup) {
    let SoftGroup { rebalance: Some(rebalance), sessions, .. } = group else { return };
    let mut tickets = Vec::new();
    for (member_id, joiner) in &mut rebalance.members {
        if joiner.is_waiting_in(Call::Join) {
            let ticket = joiner.waiting.take().and_then(|waiting| waiting.ticket);
            tickets.extend(ticket.map(|ticket| (ticket, Arc::clone(member_id))));
        }
        joiner.is_new = false;
    }
    for (ticket, member_id) in tickets {
        let joined = joined(rebalance, sessions, &member_id);
        turn.release(hard, ticket, Reply::JoinGroup(Ok(joined)));
    }
}

/// What a member is told about the present generation.
pub(super) fn joined(rebalance: &Rebalance, sessions: &Sessions, member_id: &Arc<str>) -> Joined {
    let leads = rebalance.leads(member_id);
    let members = if leads { members_for_leader(rebalance, sessions) } else { Vec::new() };
    Joined {
        generation: rebalance.generation,
        protocol_type: rebalance.protocol_type.clone(),
        protocol: rebalance.protocol.clone(),
        leader: rebalance.leader.clone().unwrap_or_default(),
        member_id: Arc::clone(member_id),
        skip_assignment: false,
        members,
    }
}

fn members_for_leader(rebalance: &Rebalance, sessions: &Sessions) -> Vec<JoinedMember> {
    let protocol = rebalance.protocol.as_deref().unwrap_or_default();
    let member = |(member_id, joiner): (&Arc<str>, &Joiner)| JoinedMember {
        member_id: Arc::clone(member_id),
        group_instance_id: joiner.member.group_instance_id.clone(),
        metadata: metadata_for(sessions, member_id, protocol).cloned().unwrap_or_default(),
    };
    rebalance.members.iter().map(member).collect()
}

/// Removes members, telling those who wait why. The caller then lets the others rebalance.
pub(super) fn remove_members(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    member_ids: &[Arc<str>],
) {
    for member_id in member_ids {
        group.sessions.remove(member_id);
        group.note_synced(member_id);
        let removed = rebalance_of(hard, group).members.remove(member_id);
        if let Some(waiting) = removed.and_then(|joiner| joiner.waiting) {
            refuse(turn, hard, waiting, GroupError::UnknownMemberId, member_id);
        }
    }
}

/// Answers a waiting member with an error.
pub(super) fn refuse(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    waiting: Waiting,
    error: GroupError,
    member_id: &Arc<str>,
) {
    let Some(ticket) = waiting.ticket else { return };
    let reply = match waiting.call {
        Call::Join => Reply::JoinGroup(Err(JoinRefused { error, member_id: Some(Arc::clone(member_id)) })),
        Call::Sync => Reply::SyncGroup(Err(error)),
    };
    turn.release(hard, ticket, reply);
}

/// Time passed for a group: sessions and unused ids end, phases too.
pub(crate) fn on_group_deadline(turn: &mut Turn<'_>, group_id: &Arc<str>) {
    let hard = turn.hard.group(group_id);
    let now = turn.now.monotonic;
    let mut group = turn.soft.take(group_id, hard, turn.now);
    let before = group.pending_joins.len();
    group.pending_joins.retain(|_, deadline| *deadline > now);
    let expired = group.expired_members(now);
    if !expired.is_empty() {
        remove_members(turn, hard, &mut group, &expired);
        rebalance_or_complete(turn, hard, &mut group);
    } else if group.pending_joins.len() < before {
        complete_if_all_joined(turn, hard, &mut group);
    }
    end_join_phase_if_due(turn, hard, &mut group);
    remove_unsynced_if_due(turn, hard, &mut group);
    turn.soft.put_back(group);
}

fn end_join_phase_if_due(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group: &mut SoftGroup) {
    let now = turn.now.monotonic;
    let Some(Rebalance { phase: Phase::Joining(joining), .. }) = &mut group.rebalance else { return };
    if joining.deadline > now {
        return;
    }
    if let Some(initial) = &mut joining.initial
        && initial.has_new_member
        && initial.remaining_ms > 0
    {
        let next_ms = turn.settings.initial_rebalance_delay_ms.min(initial.remaining_ms);
        initial.remaining_ms = initial.remaining_ms.saturating_sub(initial.delay_ms);
        initial.delay_ms = next_ms;
        initial.has_new_member = false;
        joining.deadline = now.plus_ms(next_ms);
        return;
    }
    complete_join_phase(turn, hard, group);
}

/// Whoever did not fetch its assignment in time is removed, and the others rebalance (KAFKA-12890).
fn remove_unsynced_if_due(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group: &mut SoftGroup) {
    let now = turn.now.monotonic;
    let Some(unsynced) = group.unsynced.take_if(|unsynced| unsynced.deadline <= now) else { return };
    let member_ids: Vec<_> = unsynced.members.into_iter().collect();
    remove_members(turn, hard, group, &member_ids);
    rebalance_or_complete(turn, hard, group);
}

/// A group's records were replayed: its members' sessions begin anew, and a group larger than the settings allow
/// rebalances.
pub(crate) fn on_group_loaded(turn: &mut Turn<'_>, hard: &HardGroup) {
    let Some(classic) = hard.classic().filter(|classic| !classic.members.is_empty()) else { return };
    let mut group = turn.soft.take(hard.id(), Some(hard), turn.now);
    if classic.members.len() > turn.settings.max_size && group.rebalance.is_none() {
        begin(turn, Some(hard), &mut group, Began::WithMembers);
    }
    turn.soft.put_back(group);
}
