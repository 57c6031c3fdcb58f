//! SyncGroup of a member that speaks the classic protocol: it is told what it has.

use std::sync::Arc;

use milepost_model::Ticket;
use milepost_records::offsets::consumer_group::MemberState;

use super::{Present, present};
use crate::consumer::{ConsumerGroup, embedded_protocol};
use crate::hard::HardGroup;
use crate::rebalance::Call;
use crate::request::SyncGroup;
use crate::turn::Turn;
use crate::view::CONSUMER;
use crate::{GroupError, Reply, Synced};

/// Handles SyncGroup for a consumer group.
pub(crate) fn sync_in_consumer_group(
    turn: &mut Turn<'_>,
    ticket: Ticket,
    hard: &HardGroup,
    group: &ConsumerGroup,
    request: &SyncGroup<'_>,
) {
    turn.soft.consumers.note_topics(&request.topics);
    let synced = sync(turn, hard, group, request);
    turn.answer(Some(hard), ticket, Reply::SyncGroup(synced));
}

fn sync(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    group: &ConsumerGroup,
    request: &SyncGroup<'_>,
) -> Result<Synced, GroupError> {
    let member = present(group, request.member_id, request.group_instance_id, request.generation)?;
    check_protocol(&member, request)?;
    // Who has joined already gives up first what it must, and is then told of the new target.
    let is_behind = group.target_epoch().epoch > member.current.epoch;
    if is_behind && member.current.state != MemberState::UnrevokedPartitions {
        return Err(member.call_back(turn, hard));
    }
    turn.soft.consumers.note_call(hard.id(), member.id, Call::Sync);
    member.keep_session(turn, hard);
    let subscription = member.classic.protocols.first().map(|(_, metadata)| metadata);
    let subscription = subscription.map_or(&[][..], |metadata| metadata);
    let assigned = member.current.assigned.partitions();
    Ok(Synced {
        protocol_type: request.protocol_type.map(Arc::from),
        protocol: request.protocol.map(Arc::from),
        assignment: embedded_protocol::encode(&assigned, &request.topics, subscription),
    })
}

fn check_protocol(member: &Present<'_>, request: &SyncGroup<'_>) -> Result<(), GroupError> {
    let known = member.classic.protocols.first().map(|(name, _)| &**name);
    let is_other_type = request.protocol_type.is_some_and(|asked| asked != CONSUMER);
    let is_other_protocol = request.protocol.is_some_and(|asked| Some(asked) != known);
    if is_other_type || is_other_protocol { Err(GroupError::InconsistentGroupProtocol) } else { Ok(()) }
}
