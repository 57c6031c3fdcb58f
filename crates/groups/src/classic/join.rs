//! JoinGroup. The order of the checks is Kafka's.

use std::sync::Arc;

use milepost_model::Ticket;
use milepost_records::MAX_STRING_BYTES;

use super::phases::{self, Began, rebalance_of};
use super::static_member;
use crate::admin::group_tombstones;
use crate::consumer::join_consumer_group;
use crate::hard::HardGroup;
use crate::rebalance::{Phase, Protocol, Waiting, has_same_protocols};
use crate::request::{JoinGroup, NewMember};
use crate::settings::{MAX_MEMBER_ID_PREFIX_BYTES, MAX_PENDING_JOINS, NEW_MEMBER_JOIN_TIMEOUT_MS};
use crate::soft::{Session, SoftGroup};
use crate::turn::Turn;
use crate::view::GroupView;
use crate::{ClassicGroup, GroupError, JoinRefused, Joined, Member, Reply};

/// What became of a join.
pub(super) enum Join {
    /// It is answered with the generation of now.
    Answered(Box<Joined>),
    /// It waits for the join phase to end.
    Parked,
    /// It is refused.
    Refused(JoinRefused),
}

impl Join {
    pub(super) fn refused(error: GroupError, member_id: Option<Arc<str>>) -> Self {
        Self::Refused(JoinRefused { error, member_id })
    }
}

/// Handles JoinGroup.
pub(crate) fn join_group(turn: &mut Turn<'_>, ticket: Ticket, request: &JoinGroup<'_>) {
    let hard = turn.hard.group(request.group_id);
    if let Err(error) = check_request(turn, request) {
        let refused = JoinRefused { error, member_id: request.member_id.map(Arc::from) };
        turn.answer(hard, ticket, Reply::JoinGroup(Err(refused)));
        return;
    }
    let consumer = hard.and_then(|hard| Some((hard, hard.consumer()?)));
    if let Some((hard, consumer)) = consumer.filter(|(_, consumer)| !consumer.members().is_empty()) {
        join_consumer_group(turn, ticket, hard, consumer, request);
        return;
    }
    let mut group = turn.soft.take(request.group_id, hard, turn.now);
    let join = join_checked(turn, hard, &mut group, ticket, request);
    let is_taken_in = match join {
        Join::Answered(joined) => {
            turn.answer(hard, ticket, Reply::JoinGroup(Ok(*joined)));
            true
        }
        Join::Parked => true,
        Join::Refused(refused) => {
            let is_taken_in = refused.error == GroupError::MemberIdRequired;
            turn.answer(hard, ticket, Reply::JoinGroup(Err(refused)));
            is_taken_in
        }
    };
    if is_taken_in && hard.is_none_or(|hard| hard.classic().is_none()) {
        // A consumer group without members gives way.
        if let Some(hard) = hard.filter(|hard| hard.consumer().is_some()) {
            turn.records.extend(group_tombstones(hard));
        }
        // From its first join on a record says that the group exists; Kafka writes the same one for a new group.
        let empty = ClassicGroup { state_timestamp: Some(turn.now.wall), ..ClassicGroup::default() };
        turn.record_group(&mut group, empty);
    }
    turn.soft.put_back(group);
}

fn check_request(turn: &Turn<'_>, request: &JoinGroup<'_>) -> Result<(), GroupError> {
    if request.group_id.is_empty() || request.group_id.len() > MAX_STRING_BYTES {
        return Err(GroupError::InvalidGroupId);
    }
    let allowed = turn.settings.min_session_timeout_ms..=turn.settings.max_session_timeout_ms;
    if !allowed.contains(&request.session_timeout_ms) {
        return Err(GroupError::InvalidSessionTimeout);
    }
    let names = [request.client_id, request.client_host, request.protocol_type];
    let protocols = request.protocols.iter().map(|protocol| protocol.name);
    let mut all = names.into_iter().chain(request.group_instance_id).chain(protocols);
    if all.any(|name| name.len() > MAX_STRING_BYTES) {
        return Err(GroupError::InvalidRequest);
    }
    Ok(())
}

fn join_checked(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    ticket: Ticket,
    request: &JoinGroup<'_>,
) -> Join {
    let member_id = request.member_id.map(Arc::<str>::from);
    if hard.is_none() && member_id.is_some() {
        return Join::refused(GroupError::UnknownMemberId, member_id);
    }
    if !has_room(turn, hard, group, request) {
        if let Some(member_id) = member_id {
            drop_member(turn, hard, group, &member_id);
        }
        return Join::refused(GroupError::GroupMaxSizeReached, None);
    }
    if !has_common_protocol(hard, group, request) {
        return Join::refused(GroupError::InconsistentGroupProtocol, member_id);
    }
    match member_id {
        None => join_new(turn, hard, group, ticket, request),
        Some(member_id) => join_known(turn, hard, group, ticket, request, &member_id),
    }
}

fn has_common_protocol(hard: Option<&HardGroup>, group: &mut SoftGroup, request: &JoinGroup<'_>) -> bool {
    let (rebalance, sessions) = phases::rebalance_and_sessions(hard, group);
    rebalance.supports(sessions, request.protocol_type, &request.protocols)
}

/// Whether `group.max.size` leaves room. While members join, those who wait are counted, so that a group that was too
/// large shrinks; a member that is in the group already takes no further room (KAFKA-20601).
fn has_room(
    turn: &Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    request: &JoinGroup<'_>,
) -> bool {
    let max_size = turn.settings.max_size;
    let rebalance = rebalance_of(hard, group);
    let by_instance = request.group_instance_id.and_then(|instance| rebalance.static_member(instance));
    let by_id = request.member_id.and_then(|member_id| rebalance.members.get(member_id));
    let known = by_id.or(by_instance);
    match rebalance.phase {
        Phase::Settled if rebalance.members.is_empty() => true,
        Phase::Joining(_) => {
            known.is_some_and(|joiner| joiner.waiting.is_some()) || rebalance.waiting_in_join() < max_size
        }
        Phase::Settled | Phase::Syncing => known.is_some() || rebalance.members.len() < max_size,
    }
}

/// A member that found no room is out of the group.
fn drop_member(turn: &mut Turn<'_>, hard: Option<&HardGroup>, group: &mut SoftGroup, member_id: &Arc<str>) {
    group.pending_joins.remove(member_id);
    if group.sessions.contains_key(member_id) {
        phases::remove_members(turn, hard, group, std::slice::from_ref(member_id));
        phases::rebalance_or_complete(turn, hard, group);
    }
}

fn join_new(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    ticket: Ticket,
    request: &JoinGroup<'_>,
) -> Join {
    let member_id = new_member_id(request);
    if let Some(instance) = request.group_instance_id {
        let known = rebalance_of(hard, group).static_member(instance);
        let former = known.map(|joiner| Arc::clone(&joiner.member.member_id));
        return match former {
            Some(former) => static_member::replace(turn, hard, group, ticket, request, &former, &member_id),
            None => add_member(turn, hard, group, ticket, request, member_id),
        };
    }
    match request.new_member {
        NewMember::JoinsAtOnce => add_member(turn, hard, group, ticket, request, member_id),
        NewMember::JoinsAgainWithId if group.pending_joins.len() >= MAX_PENDING_JOINS => {
            Join::refused(GroupError::GroupMaxSizeReached, None)
        }
        NewMember::JoinsAgainWithId => {
            let timeout_ms = u64::try_from(request.session_timeout_ms).unwrap_or(0);
            let deadline = turn.now.monotonic.plus_ms(timeout_ms);
            group.pending_joins.insert(Arc::clone(&member_id), deadline);
            Join::refused(GroupError::MemberIdRequired, Some(member_id))
        }
    }
}

/// The id of a new member: the client's name (a static member's instance id) and the random text, as Kafka makes it.
fn new_member_id(request: &JoinGroup<'_>) -> Arc<str> {
    let name = request.group_instance_id.unwrap_or(request.client_id);
    let prefix = &name[..name.floor_char_boundary(MAX_MEMBER_ID_PREFIX_BYTES)];
    format!("{prefix}-{}", request.member_id_suffix).into()
}

fn join_known(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    ticket: Ticket,
    request: &JoinGroup<'_>,
    member_id: &Arc<str>,
) -> Join {
    if request.group_instance_id.is_none() && group.pending_joins.contains_key(member_id) {
        return add_member(turn, hard, group, ticket, request, Arc::clone(member_id));
    }
    let valid = GroupView::new(hard, Some(group)).validate_member(member_id, request.group_instance_id);
    if let Err(error) = valid {
        return Join::refused(error, Some(Arc::clone(member_id)));
    }
    let (rebalance, sessions) = phases::rebalance_and_sessions(hard, group);
    let is_unchanged = has_same_protocols(sessions, member_id, &request.protocols);
    let must_rebalance = match rebalance.phase {
        Phase::Joining(_) => true,
        Phase::Syncing => !is_unchanged,
        Phase::Settled => rebalance.leads(member_id) || !is_unchanged,
    };
    if !must_rebalance {
        // It probably did not get the first answer, so it gets the same again.
        return Join::Answered(Box::new(phases::joined(rebalance, sessions, member_id)));
    }
    rejoin(turn, hard, group, ticket, request, member_id);
    Join::Parked
}

/// A member of the group joins (again), with the protocols and timeouts it has now.
pub(super) fn rejoin(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    ticket: Ticket,
    request: &JoinGroup<'_>,
    member_id: &Arc<str>,
) {
    let rebalance = rebalance_of(hard, group);
    let waited = rebalance.note_join(member_id, Waiting::join(ticket));
    if let Some(joiner) = rebalance.members.get_mut(member_id) {
        joiner.member.session_timeout_ms = request.session_timeout_ms;
        joiner.member.rebalance_timeout_ms = rebalance_timeout_ms(request);
    }
    if let Some(session) = group.sessions.get_mut(member_id) {
        session.protocols = protocols(request);
    }
    turn.soft.park(ticket, &group.id);
    if let Some(waited) = waited {
        // The same member asks twice: the first request is of a connection it gave up, most likely.
        phases::refuse(turn, hard, waited, GroupError::RebalanceInProgress, member_id);
    }
    phases::rebalance_or_complete(turn, hard, group);
}

fn add_member(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    group: &mut SoftGroup,
    ticket: Ticket,
    request: &JoinGroup<'_>,
    member_id: Arc<str>,
) -> Join {
    group.pending_joins.remove(&member_id);
    let deadline = turn.now.monotonic.plus_ms(NEW_MEMBER_JOIN_TIMEOUT_MS);
    let session = Session { deadline, protocols: protocols(request) };
    group.sessions.insert(Arc::clone(&member_id), session);
    turn.soft.park(ticket, &group.id);
    let rebalance = rebalance_of(hard, group);
    let was_empty = rebalance.members.is_empty();
    if was_empty {
        rebalance.protocol_type = Some(request.protocol_type.into());
    }
    rebalance.add(member(request, member_id), Waiting::join(ticket));
    if let Phase::Joining(joining) = &mut rebalance.phase
        && let Some(initial) = &mut joining.initial
    {
        initial.has_new_member = true;
    }
    match rebalance.phase {
        Phase::Settled if was_empty => phases::begin(turn, hard, group, Began::Empty),
        _ => phases::rebalance_or_complete(turn, hard, group),
    }
    Join::Parked
}

fn member(request: &JoinGroup<'_>, member_id: Arc<str>) -> Member {
    Member {
        member_id,
        group_instance_id: request.group_instance_id.map(Arc::from),
        client_id: request.client_id.into(),
        client_host: request.client_host.into(),
        rebalance_timeout_ms: rebalance_timeout_ms(request),
        session_timeout_ms: request.session_timeout_ms,
        subscription: Arc::default(),
        assignment: Arc::default(),
    }
}

/// A record has no way to say −1 but "the session timeout", so neither has the state.
pub(crate) fn rebalance_timeout_ms(request: &JoinGroup<'_>) -> i32 {
    request.rebalance_timeout_ms.filter(|timeout_ms| *timeout_ms != -1).unwrap_or(request.session_timeout_ms)
}

pub(super) fn protocols(request: &JoinGroup<'_>) -> Arc<[Protocol]> {
    let protocol = |protocol: &crate::JoinProtocol<'_>| Protocol {
        name: protocol.name.into(),
        metadata: protocol.metadata.into(),
    };
    request.protocols.iter().map(protocol).collect()
}
