//! A static member that comes back without its member id, after a restart (KIP-345): the new instance takes the old
//! one's place, and the old one is fenced.

use std::sync::Arc;

use milepost_model::Ticket;

use super::join::{self, Join};
use super::phases::{self, rebalance_of};
use crate::hard::HardGroup;
use crate::rebalance::{Phase, Waiting, metadata_for};
use crate::request::{JoinGroup, StaticLeader};
use crate::soft::{Session, SoftGroup};
use crate::turn::Turn;
use crate::{GroupError, Joined, Member};

/// Puts the new instance in the former one's place. A stable group whose protocol stays the same does not rebalance: the
/// new id is written down, and the member goes on in the present generation.
pub(super) fn replace(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    ticket: Ticket,
    request: &JoinGroup<'_>,
    former_id: &Arc<str>,
    member_id: &Arc<str>,
) -> Join {
    let former_leader = rebalance_of(hard, group).leader.clone();
    take_place(turn, hard, group, request, former_id, member_id);
    let (rebalance, sessions) = phases::rebalance_and_sessions(hard, group);
    let stays = match rebalance.phase {
        Phase::Settled => rebalance.vote(sessions) == rebalance.protocol,
        Phase::Joining(_) | Phase::Syncing => false,
    };
    if stays {
        record_replacement(turn, hard, group);
        let (rebalance, sessions) = phases::rebalance_and_sessions(hard, group);
        let joined = phases::joined(rebalance, sessions, member_id);
        return Join::Answered(Box::new(go_on(joined, request, former_leader)));
    }
    let rebalance = rebalance_of(hard, group);
    rebalance.note_join(member_id, Waiting::join(ticket));
    turn.soft.park(ticket, &group.id);
    phases::rebalance_or_complete(turn, hard, group);
    Join::Parked
}

fn take_place(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    request: &JoinGroup<'_>,
    former_id: &Arc<str>,
    member_id: &Arc<str>,
) {
    let rebalance = rebalance_of(hard, group);
    let Some(mut joiner) = rebalance.members.remove(former_id) else { return };
    let waited = joiner.waiting.take();
    joiner.member = Member {
        member_id: Arc::clone(member_id),
        client_id: request.client_id.into(),
        client_host: request.client_host.into(),
        rebalance_timeout_ms: join::rebalance_timeout_ms(request),
        session_timeout_ms: request.session_timeout_ms,
        ..joiner.member
    };
    let session_ms = joiner.member.session_ms();
    if rebalance.leads(former_id) {
        rebalance.leader = Some(Arc::clone(member_id));
    }
    rebalance.members.insert(Arc::clone(member_id), joiner);
    group.sessions.remove(former_id);
    let deadline = turn.now.monotonic.plus_ms(session_ms);
    let session = Session { deadline, protocols: join::protocols(request) };
    group.sessions.insert(Arc::clone(member_id), session);
    if let Some(unsynced) = &mut group.unsynced
        && unsynced.members.remove(former_id)
    {
        unsynced.members.insert(Arc::clone(member_id));
    }
    if let Some(waited) = waited {
        phases::refuse(turn, hard, waited, GroupError::FencedInstanceId, former_id);
    }
}

/// Writes the group down with the new id and what the member subscribes to now.
fn record_replacement(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group: &mut SoftGroup) {
    let (rebalance, sessions) = phases::rebalance_and_sessions(hard, group);
    let protocol = rebalance.protocol.as_deref().unwrap_or_default();
    for (member_id, joiner) in &mut rebalance.members {
        if let Some(metadata) = metadata_for(sessions, member_id, protocol) {
            joiner.member.subscription = Arc::clone(metadata);
        }
    }
    let since = hard.and_then(|hard| hard.classic()).and_then(|classic| classic.state_timestamp);
    let classic = rebalance.to_classic(since);
    turn.record_group(group, classic);
}

/// What the new instance is told. A leader must not assign again: either it is told so (KIP-814), or it is led to
/// believe that another member leads.
fn go_on(joined: Joined, request: &JoinGroup<'_>, former_leader: Option<Arc<str>>) -> Joined {
    match request.static_leader {
        StaticLeader::CanSkipAssignment => {
            Joined { skip_assignment: joined.leader == joined.member_id, ..joined }
        }
        StaticLeader::SeesFormerLeader => {
            let leader = former_leader.unwrap_or_else(|| Arc::clone(&joined.leader));
            Joined { leader, members: Vec::new(), ..joined }
        }
    }
}
