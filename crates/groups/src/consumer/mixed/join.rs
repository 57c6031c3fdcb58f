//! JoinGroup to a consumer group, by a member that speaks the classic protocol. It is answered at once, with the epoch the
//! member is in then. The order of the checks and of the records is Kafka's.

use std::sync::Arc;

use milepost_model::{Generation, Ticket};
use milepost_records::MAX_STRING_BYTES;
use milepost_records::consumer_protocol::Subscription;

use crate::classic::{AfterAdoption, rebalance_timeout_ms};
use crate::consumer::heartbeat::{check_room, note_topics_checked, replace};
use crate::consumer::reconcile::{self, Subscription as Resubscription};
use crate::consumer::record::{ClassicMember, ConsumerMember, Epoch};
use crate::consumer::subscription::{self, Changed};
use crate::consumer::{ConsumerGroup, Draft, MigrationPolicy, downgrade, embedded_protocol, target};
use crate::hard::HardGroup;
use crate::rebalance::Call;
use crate::request::{JoinGroup, NewMember};
use crate::turn::Turn;
use crate::view::CONSUMER;
use crate::{GroupError, JoinRefused, Joined, Reply};

/// Handles JoinGroup for a consumer group that has members.
pub(crate) fn join_consumer_group(
    turn: &mut Turn<'_>,
    ticket: Ticket,
    hard: &HardGroup,
    group: &ConsumerGroup,
    request: &JoinGroup<'_>,
) {
    turn.soft.consumers.note_topics(&request.topics);
    let joined = check_room_and_protocols(turn, hard, group, request)
        .map_err(|error| JoinRefused { error, member_id: request.member_id.map(Arc::from) })
        .and_then(|()| join_with_id(turn, hard, group, request));
    turn.answer(Some(hard), ticket, Reply::JoinGroup(joined));
}

/// The id of the member: the one it has, or a UUID and nothing else.
fn member_id<'a>(request: &JoinGroup<'a>) -> &'a str {
    request.member_id.unwrap_or(request.bare_member_id)
}

fn check_room_and_protocols(
    turn: &Turn<'_>,
    hard: &HardGroup,
    group: &ConsumerGroup,
    request: &JoinGroup<'_>,
) -> Result<(), GroupError> {
    if turn.settings.consumer_migration_policy == MigrationPolicy::Disabled {
        return Err(GroupError::InconsistentGroupProtocol);
    }
    if member_id(request).len() > MAX_STRING_BYTES {
        return Err(GroupError::InvalidRequest);
    }
    let draft = Draft::of(Arc::clone(hard.id()), group);
    check_room(turn, &draft, member_id(request), request.group_instance_id)?;
    if supports(group, request) { Ok(()) } else { Err(GroupError::InconsistentGroupProtocol) }
}

/// Whether one of the member's protocols is supported by everybody who speaks the classic protocol.
fn supports(group: &ConsumerGroup, request: &JoinGroup<'_>) -> bool {
    let classic: Vec<_> = group.members().values().filter_map(|member| member.classic.as_ref()).collect();
    let is_common =
        |name: &str| classic.iter().all(|member| member.protocols.iter().any(|(known, _)| **known == *name));
    request.protocol_type == CONSUMER && request.protocols.iter().any(|protocol| is_common(protocol.name))
}

fn join_with_id(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    group: &ConsumerGroup,
    request: &JoinGroup<'_>,
) -> Result<Joined, JoinRefused> {
    let is_new = request.member_id.is_none() && request.group_instance_id.is_none();
    if is_new && request.new_member == NewMember::JoinsAgainWithId {
        let member_id = Some(member_id(request).into());
        return Err(JoinRefused { error: GroupError::MemberIdRequired, member_id });
    }
    join(turn, hard, group, request)
        .map_err(|error| JoinRefused { error, member_id: request.member_id.map(Arc::from) })
}

fn join(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    group: &ConsumerGroup,
    request: &JoinGroup<'_>,
) -> Result<Joined, GroupError> {
    let mut draft = Draft::of(Arc::clone(hard.id()), group);
    let known = group.members().get_key_value(member_id(request));
    let member_id = known.map_or_else(|| member_id(request).into(), |(id, _)| Arc::clone(id));
    let before = find_member(&mut draft, request, &member_id)?;
    let replaced = request.group_instance_id.and_then(|instance| group.static_member(instance));
    let is_last = |(_, member): (_, &Arc<ConsumerMember>)| {
        downgrade::is_due_by_replacement(group, member, turn.settings)
    };
    let becomes_classic = replaced.is_some_and(is_last);
    // All of a member's protocols have the same subscription.
    let metadata = request.protocols.first().map_or(&[][..], |protocol| protocol.metadata);
    let said = Subscription::decode(metadata).map_err(|_| GroupError::InconsistentGroupProtocol)?;
    let after = updated(before.as_deref(), request, &said);
    let settings = turn.settings;
    let changed = subscription::update_member(&mut draft, settings, &member_id, before.as_deref(), after)?;
    let topics = &*request.topics;
    if changed.subscription || !turn.soft.consumers.has_checked(request.group_id, topics.version()) {
        subscription::update_epoch(&mut draft, topics, changed.subscription);
    }
    let epoch = if becomes_classic {
        join_and_downgrade(turn, hard, draft, request, &member_id, changed, &said)?
    } else {
        target::update_target(&mut draft, topics, settings, turn.now);
        let current = move_on(&mut draft, request, &member_id, changed, &said)?;
        note_deadlines(turn, &draft, request, &member_id);
        note_topics_checked(turn, &draft, topics);
        turn.records.extend(draft.into_records());
        current
    };
    Ok(joined(request, member_id, epoch))
}

/// The member as it is; `None` if it is new. A static member without an id takes the place of its predecessor, whatever
/// protocol that spoke.
fn find_member(
    draft: &mut Draft<'_>,
    request: &JoinGroup<'_>,
    member_id: &Arc<str>,
) -> Result<Option<Arc<ConsumerMember>>, GroupError> {
    let Some(instance) = request.group_instance_id else { return Ok(draft.member(member_id).cloned()) };
    let known = draft.static_member(instance).map(|(id, member)| (Arc::clone(id), Arc::clone(member)));
    match (request.member_id, known) {
        (None, None) => Ok(None),
        (None, Some((id, member))) => {
            replace(draft, &id, &member, member_id);
            Ok(Some(member))
        }
        (Some(_), None) => Err(GroupError::UnknownMemberId),
        (Some(_), Some((id, _))) if id != *member_id => Err(GroupError::FencedInstanceId),
        (Some(_), Some((_, member))) => Ok(Some(member)),
    }
}

/// The member after its own words.
fn updated(
    before: Option<&ConsumerMember>,
    request: &JoinGroup<'_>,
    said: &Subscription<'_>,
) -> ConsumerMember {
    let protocols = request.protocols.iter().map(|protocol| (protocol.name.into(), protocol.metadata.into()));
    let member = before.cloned().unwrap_or_default();
    ConsumerMember {
        instance_id: request.group_instance_id.map(Arc::from).or(member.instance_id),
        rack_id: said.rack_id.map(Arc::from).or(member.rack_id),
        client_id: request.client_id.into(),
        client_host: request.client_host.into(),
        subscribed_topics: said.topics.iter().map(|topic| Arc::from(*topic)).collect(),
        subscribed_regex: None,
        rebalance_timeout_ms: Some(rebalance_timeout_ms(request)),
        server_assignor: member.server_assignor,
        classic: Some(ClassicMember {
            session_timeout_ms: request.session_timeout_ms,
            protocols: protocols.collect(),
        }),
    }
}

/// Moves the member towards its target. Returns the epoch it is in then.
fn move_on(
    draft: &mut Draft<'_>,
    request: &JoinGroup<'_>,
    member_id: &Arc<str>,
    changed: Changed,
    said: &Subscription<'_>,
) -> Result<Epoch, GroupError> {
    let owned = embedded_protocol::partitions(&said.owned, &request.topics);
    let how = if changed.subscription { Resubscription::Changed } else { Resubscription::AsBefore };
    let current = reconcile::reconcile(draft, &request.topics, member_id, how, Some(&owned))?;
    Ok(current.epoch)
}

/// The last member that spoke the consumer protocol is replaced by this one: the group is a classic one from now on. It
/// rebalances only if another assignment is needed.
fn join_and_downgrade(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    mut draft: Draft<'_>,
    request: &JoinGroup<'_>,
    member_id: &Arc<str>,
    changed: Changed,
    said: &Subscription<'_>,
) -> Result<Epoch, GroupError> {
    let (epoch, then) = if draft.target_epoch().epoch < draft.epoch() {
        (draft.current(member_id).epoch, AfterAdoption::Rebalance)
    } else {
        (move_on(&mut draft, request, member_id, changed, said)?, AfterAdoption::Stay)
    };
    let generation = hard.consumer().map_or(draft.epoch(), ConsumerGroup::epoch);
    downgrade::downgrade(turn, hard, draft, &[], generation, &request.topics, then);
    Ok(epoch)
}

fn note_deadlines(turn: &mut Turn<'_>, draft: &Draft<'_>, request: &JoinGroup<'_>, member_id: &Arc<str>) {
    let now = turn.now.monotonic;
    let group_id = draft.group_id();
    let after = |ms: i32| now.plus_ms(u64::try_from(ms).unwrap_or(0));
    let consumers = &mut turn.soft.consumers;
    consumers.end_revocation(group_id, member_id);
    consumers.note_call(group_id, member_id, Call::Join);
    consumers.note_call(group_id, member_id, Call::Sync);
    consumers.keep_session(group_id, member_id, after(request.session_timeout_ms));
    consumers.expect(group_id, member_id, Call::Sync, after(rebalance_timeout_ms(request)));
}

fn joined(request: &JoinGroup<'_>, member_id: Arc<str>, epoch: Epoch) -> Joined {
    Joined {
        generation: Generation(epoch.0),
        protocol_type: Some(CONSUMER.into()),
        protocol: request.protocols.first().map(|protocol| protocol.name.into()),
        leader: Arc::default(),
        member_id,
        skip_assignment: false,
        members: Vec::new(),
    }
}
