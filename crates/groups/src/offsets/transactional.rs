//! TxnOffsetCommit: offsets that take effect when the producer's transaction commits. Until then they are pending.
//!
//! Who says nothing about the group (neither member nor generation nor instance) is not fenced by it, only by the
//! epoch of its producer; who says something is checked as for a plain commit (KIP-447).

use std::sync::Arc;

use milepost_model::{Origin, Ticket};
use milepost_records::MAX_STRING_BYTES;

use super::commit::{check_offset, record_offsets};
use crate::consumer::{self, ConsumerGroup};
use crate::hard::HardGroup;
use crate::request::TxnOffsetCommit;
use crate::turn::Turn;
use crate::view::GroupView;
use crate::{GroupError, GroupState, Reply};

/// Handles TxnOffsetCommit. It does not prolong a member's session, as in Kafka.
pub(crate) fn txn_offset_commit(turn: &mut Turn<'_>, ticket: Ticket, request: &TxnOffsetCommit<'_>) {
    let hard = turn.hard.group(request.group_id);
    if let Err(error) = check(turn, hard, request) {
        turn.counts.note_refused_commit(error);
        turn.answer(hard, ticket, Reply::TxnOffsetCommit(Err(error)));
        return;
    }
    let group = hard.map_or_else(|| request.group_id.into(), |hard| Arc::clone(hard.id()));
    let refused = record_offsets(turn, &group, &request.offsets, None);
    turn.origin = Origin::Transactional(request.producer);
    turn.answer(hard, ticket, Reply::TxnOffsetCommit(Ok(refused)));
}

fn check(turn: &Turn<'_>, hard: Option<&HardGroup>, request: &TxnOffsetCommit<'_>) -> Result<(), GroupError> {
    if request.group_id.is_empty() || request.group_id.len() > MAX_STRING_BYTES {
        return Err(GroupError::InvalidGroupId);
    }
    match hard {
        None if request.generation.is_none() => Ok(()),
        None => Err(GroupError::GroupIdNotFound),
        Some(_) if says_nothing(request) => Ok(()),
        Some(group) => match group.consumer() {
            Some(consumer) => check_consumer(turn, consumer, request),
            None => check_classic(&GroupView::new(hard, turn.soft.group(request.group_id)), request),
        },
    }
}

/// Whether the request leaves out all that a group could be asked about (KAFKA-18060).
fn says_nothing(request: &TxnOffsetCommit<'_>) -> bool {
    request.generation.is_none()
        && request.member_id.unwrap_or_default().is_empty()
        && request.group_instance_id.is_none()
}

fn check_classic(view: &GroupView<'_>, request: &TxnOffsetCommit<'_>) -> Result<(), GroupError> {
    if request.generation.is_none() && view.state() == GroupState::Empty {
        return Ok(());
    }
    view.validate_member(request.member_id.unwrap_or_default(), request.group_instance_id)?;
    // A generation that no record holds would be handed out again after a restart. Kafka takes commits under it, and
    // producers have no other answer that tells them to join again.
    if request.generation != Some(view.generation()) || view.is_generation_unrecorded() {
        return Err(GroupError::IllegalGeneration);
    }
    Ok(())
}

fn check_consumer(
    turn: &Turn<'_>,
    group: &ConsumerGroup,
    request: &TxnOffsetCommit<'_>,
) -> Result<(), GroupError> {
    let committed = consumer::check_transactional_commit(group, request)?;
    for offset in &request.offsets {
        if check_offset(turn, offset).is_ok() {
            committed.check(offset.topic_id, offset.partition)?;
        }
    }
    Ok(())
}
