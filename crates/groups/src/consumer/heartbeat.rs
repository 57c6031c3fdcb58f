//! ConsumerGroupHeartbeat. The order of the checks and of the records is Kafka's.

use std::sync::Arc;

use milepost_model::Ticket;
use milepost_records::MAX_STRING_BYTES;
use milepost_records::offsets::consumer_group::MemberState;

use super::reconcile::{self, Subscription};
use super::record::{Assignment, ConsumerChange, ConsumerMember, CurrentAssignment, Epoch};
use super::topics::ClusterTopics;
use super::{Assignor, Draft, leave, subscription, target, upgrade};
use crate::hard::HardGroup;
use crate::request::{ConsumerGroupHeartbeat, HeartbeatStep, HowToLeave};
use crate::turn::Turn;
use crate::view::GroupView;
use crate::{ConsumerHeartbeat, GroupError, GroupRecord, GroupState, Record, Reply};

/// Handles ConsumerGroupHeartbeat.
pub(crate) fn consumer_group_heartbeat(
    turn: &mut Turn<'_>,
    ticket: Ticket,
    request: &ConsumerGroupHeartbeat<'_>,
) {
    let hard = turn.hard.group(request.group_id);
    turn.soft.consumers.note_topics(&request.topics);
    let result = check_request(turn, request).and_then(|()| match request.step {
        HeartbeatStep::Leave(how) => leave::leave(turn, hard, request, how),
        HeartbeatStep::Join => beat(turn, hard, request, Epoch::JOINING),
        HeartbeatStep::Stay(epoch) => beat(turn, hard, request, epoch),
    });
    turn.answer(hard, ticket, Reply::ConsumerGroupHeartbeat(result));
}

fn check_request(turn: &Turn<'_>, request: &ConsumerGroupHeartbeat<'_>) -> Result<(), GroupError> {
    let names = [Some(request.member_id), Some(request.group_id), request.instance_id, request.rack_id];
    let is_fit = |name: &str| !name.is_empty() && name.len() <= MAX_STRING_BYTES;
    if !names.into_iter().flatten().all(is_fit) {
        return Err(GroupError::InvalidRequest);
    }
    if request.step == HeartbeatStep::Leave(HowToLeave::ForAWhile) && request.instance_id.is_none() {
        return Err(GroupError::InvalidRequest);
    }
    if request.step == HeartbeatStep::Join {
        let owns_nothing = request.owned.as_ref().is_some_and(Assignment::is_empty);
        let subscribes = request.subscribed_topics.is_some() || request.subscribed_regex.is_some();
        if request.rebalance_timeout_ms.is_none() || !owns_nothing || !subscribes {
            return Err(GroupError::InvalidRequest);
        }
    }
    let topics = request.subscribed_topics.iter().flatten().copied();
    let mut texts = topics.chain(request.subscribed_regex).chain([request.client_id, request.client_host]);
    if texts.any(|text| text.len() > MAX_STRING_BYTES) {
        return Err(GroupError::InvalidRequest);
    }
    let is_known = |name: &&str| {
        turn.settings.consumer_assignors.iter().any(|assignor: &Assignor| assignor.name() == *name)
    };
    match request.server_assignor {
        Some(name) if !is_known(&name) => Err(GroupError::UnsupportedAssignor),
        _ => Ok(()),
    }
}

/// A member joins or stays.
fn beat(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    request: &ConsumerGroupHeartbeat<'_>,
    epoch: Epoch,
) -> Result<ConsumerHeartbeat, GroupError> {
    let Opened { mut draft, upgraded } = open_group(turn, hard, request, epoch)?;
    check_room(turn, &draft, request.member_id, request.instance_id)?;
    let member_id = draft
        .members()
        .get_key_value(request.member_id)
        .map_or_else(|| request.member_id.into(), |(known, _)| Arc::clone(known));
    let before = find_member(&mut draft, request, &member_id, epoch)?;
    let assigned_before = draft.current(&member_id);
    let after = updated(before.as_deref(), request);
    let changed =
        subscription::update_member(&mut draft, turn.settings, &member_id, before.as_deref(), after)?;
    let topics = &*request.topics;
    if changed.needs_assignment || !turn.soft.consumers.has_checked(request.group_id, topics.version()) {
        subscription::update_epoch(&mut draft, topics, changed.needs_assignment);
    }
    target::update_target(&mut draft, topics, turn.settings, turn.now);
    let how = if changed.subscription { Subscription::Changed } else { Subscription::AsBefore };
    let current = reconcile::reconcile(&mut draft, topics, &member_id, how, request.owned.as_ref())?;
    if let Some(classic) = upgraded {
        upgrade::take_over(turn, classic, &draft);
    }
    note_deadlines(turn, &draft, &member_id, &assigned_before, &current);
    note_topics_checked(turn, &draft, topics);
    let is_told = epoch == Epoch::JOINING || is_full(request) || current.assigned != assigned_before.assigned;
    turn.records.extend(draft.into_records());
    Ok(ConsumerHeartbeat {
        member_id,
        epoch: current.epoch,
        heartbeat_interval_ms: topics
            .config_of(request.group_id)
            .heartbeat_interval_ms
            .unwrap_or(turn.settings.consumer_heartbeat_interval_ms),
        assignment: is_told.then(|| current.assigned.partitions()),
    })
}

/// A group to be decided about.
struct Opened<'a> {
    draft: Draft<'a>,
    /// The classic group that it was until now.
    upgraded: Option<&'a HardGroup>,
}

/// The group; only who joins makes a new one. An empty classic group gives way, one with members becomes a consumer group.
fn open_group<'a>(
    turn: &mut Turn<'_>,
    hard: Option<&'a HardGroup>,
    request: &ConsumerGroupHeartbeat<'_>,
    epoch: Epoch,
) -> Result<Opened<'a>, GroupError> {
    let opened = |draft| Ok(Opened { draft, upgraded: None });
    if let Some((hard, group)) = hard.and_then(|hard| Some((hard, hard.consumer()?))) {
        return opened(Draft::of(Arc::clone(hard.id()), group));
    }
    if epoch != Epoch::JOINING {
        return Err(GroupError::GroupIdNotFound);
    }
    let Some(hard) = hard else { return opened(Draft::new(request.group_id.into(), Vec::new())) };
    if GroupView::new(Some(hard), turn.soft.group(request.group_id)).state() != GroupState::Empty {
        let draft = upgrade::upgraded(turn, hard, &request.topics)?;
        return Ok(Opened { draft, upgraded: Some(hard) });
    }
    let tombstone = Record::Group(GroupRecord { group: Arc::clone(hard.id()), classic: None });
    opened(Draft::new(Arc::clone(hard.id()), vec![tombstone]))
}

/// A member that is there already takes no further room, nor does one that comes in a static member's place (KAFKA-20601).
pub(super) fn check_room(
    turn: &Turn<'_>,
    draft: &Draft<'_>,
    member_id: &str,
    instance_id: Option<&str>,
) -> Result<(), GroupError> {
    let is_there = draft.member(member_id).is_some()
        || instance_id.is_some_and(|instance| draft.static_member(instance).is_some());
    if is_there || draft.members().len() < turn.settings.consumer_max_size {
        Ok(())
    } else {
        Err(GroupError::GroupMaxSizeReached)
    }
}

/// The member as it is; `None` if it is new. A static member that comes back takes the place of the one that left.
fn find_member(
    draft: &mut Draft<'_>,
    request: &ConsumerGroupHeartbeat<'_>,
    member_id: &Arc<str>,
    epoch: Epoch,
) -> Result<Option<Arc<ConsumerMember>>, GroupError> {
    let Some(instance) = request.instance_id else {
        let member = draft.member(member_id).cloned();
        if member.is_none() && epoch != Epoch::JOINING {
            return Err(GroupError::UnknownMemberId);
        }
        check_epoch(&draft.current(member_id), request, epoch)?;
        return Ok(member);
    };
    let known = draft.static_member(instance).map(|(id, member)| (Arc::clone(id), Arc::clone(member)));
    match known {
        None if epoch == Epoch::JOINING => Ok(draft.member(member_id).cloned()),
        None => Err(GroupError::UnknownMemberId),
        Some((id, member)) if epoch == Epoch::JOINING => {
            // One that speaks the other protocol says nothing when it goes.
            if member.classic.is_none() && draft.current(&id).epoch != Epoch::AWAY {
                return Err(GroupError::UnreleasedInstanceId);
            }
            replace(draft, &id, &member, member_id);
            Ok(Some(member))
        }
        Some((id, _)) if id != *member_id => Err(GroupError::FencedInstanceId),
        Some((id, member)) => {
            check_epoch(&draft.current(&id), request, epoch)?;
            Ok(Some(member))
        }
    }
}

/// Whether a member may still be in this epoch: in the present one, or in the one before if the answer that told it of
/// the present one may have been lost, which what it owns must not contradict. Joining is always possible (KAFKA-19233).
fn check_epoch(
    current: &CurrentAssignment,
    request: &ConsumerGroupHeartbeat<'_>,
    epoch: Epoch,
) -> Result<(), GroupError> {
    if epoch == Epoch::JOINING || epoch == current.epoch {
        return Ok(());
    }
    let owns_no_more = |owned: &Assignment| {
        owned.iter().all(|(topic, partition)| current.assigned.epoch(topic, partition).is_some())
    };
    let is_late = epoch < current.epoch
        && epoch == current.previous_epoch
        && request.owned.as_ref().is_some_and(owns_no_more);
    if is_late { Ok(()) } else { Err(GroupError::FencedMemberEpoch) }
}

/// A static member is back under another member id: it inherits all that its predecessor had.
pub(super) fn replace(
    draft: &mut Draft<'_>,
    old_id: &Arc<str>,
    member: &Arc<ConsumerMember>,
    new_id: &Arc<str>,
) {
    let current = CurrentAssignment {
        epoch: Epoch::JOINING,
        previous_epoch: Epoch::JOINING,
        ..CurrentAssignment::clone(&draft.current(old_id))
    };
    let target = draft.target(old_id).cloned().unwrap_or_default();
    leave::remove(draft, old_id);
    draft.write(ConsumerChange::Member(Arc::clone(new_id), Some(Arc::clone(member))));
    draft.write(ConsumerChange::Target(Arc::clone(new_id), Some(target)));
    draft.write(ConsumerChange::Current(Arc::clone(new_id), Some(Arc::new(current))));
}

/// The member after its own words: what it leaves out stays as it was.
fn updated(before: Option<&ConsumerMember>, request: &ConsumerGroupHeartbeat<'_>) -> ConsumerMember {
    let mut member = before.cloned().unwrap_or_default();
    let set = |field: &mut Option<Arc<str>>, said: Option<&str>| {
        if let Some(said) = said.filter(|said| field.as_deref() != Some(*said)) {
            *field = Some(said.into());
        }
    };
    set(&mut member.instance_id, request.instance_id);
    set(&mut member.rack_id, request.rack_id);
    set(&mut member.server_assignor, request.server_assignor);
    if let Some(topics) = &request.subscribed_topics {
        member.subscribed_topics = topics.iter().map(|name| Arc::from(*name)).collect();
    }
    match request.subscribed_regex {
        Some("") => member.subscribed_regex = None,
        regex => set(&mut member.subscribed_regex, regex),
    }
    if request.rebalance_timeout_ms.is_some() {
        member.rebalance_timeout_ms = request.rebalance_timeout_ms;
    }
    if *member.client_id != *request.client_id {
        member.client_id = request.client_id.into();
    }
    if *member.client_host != *request.client_host {
        member.client_host = request.client_host.into();
    }
    member.classic = None;
    member
}

/// Whether the request says everything, as a member does that is not sure what we know: it is told everything too.
fn is_full(request: &ConsumerGroupHeartbeat<'_>) -> bool {
    request.rebalance_timeout_ms.is_some()
        && (request.subscribed_topics.is_some() || request.subscribed_regex.is_some())
        && request.owned.is_some()
}

fn note_deadlines(
    turn: &mut Turn<'_>,
    draft: &Draft<'_>,
    member_id: &Arc<str>,
    before: &CurrentAssignment,
    current: &CurrentAssignment,
) {
    let now = turn.now;
    let consumers = &mut turn.soft.consumers;
    let group_id = draft.group_id();
    let session_ms = consumers.session_ms(group_id, turn.settings);
    consumers.keep_session(group_id, member_id, now.monotonic.plus_ms(session_ms));
    if current.state != MemberState::UnrevokedPartitions {
        consumers.end_revocation(group_id, member_id);
    } else if current != before {
        let timeout_ms = draft.member(member_id).map_or(0, |member| member.rebalance_ms());
        consumers.begin_revocation(group_id, member_id, now.monotonic.plus_ms(timeout_ms), current.epoch);
    }
}

/// The group is up to date with the topics, but for regular expressions that are yet to be looked up.
pub(super) fn note_topics_checked(turn: &mut Turn<'_>, draft: &Draft<'_>, topics: &ClusterTopics) {
    // What was decided may turn out never to have been written. Then the next request looks again.
    if !draft.has_records() {
        turn.soft.consumers.note_checked(draft.group_id(), topics.version());
    }
    if super::timers::wants_resolution(draft, turn.settings, topics, turn.now) {
        turn.soft.consumers.resolve_at(draft.group_id(), turn.now.monotonic);
    }
}
