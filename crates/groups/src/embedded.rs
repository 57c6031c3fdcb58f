//! What the embedded library asks: groups without members, fenced by their generation alone.
//!
//! A program that has no server between itself and the log has no sessions either. Whoever takes a group over gets the
//! next generation, and a commit must name exactly the present one. The records are those of a classic group that is
//! empty, so a server that opens the log afterwards sees nothing new. No request of the wire comes here.

use std::sync::Arc;

use milepost_model::{Generation, Ticket};
use milepost_records::MAX_STRING_BYTES;

use crate::admin::{record_deletion, state_of};
use crate::classic;
use crate::hard::HardGroup;
use crate::offsets::{check_offset, offset_record, offset_tombstones};
use crate::turn::Turn;
use crate::{EmbeddedRefusal, EmbeddedRequest, GroupState, OffsetRefused, OffsetToCommit, Reply};

/// Handles a request of the embedded library.
pub(crate) fn embedded(turn: &mut Turn<'_>, ticket: Ticket, request: &EmbeddedRequest<'_>) {
    let group_id = request.group_id();
    let hard = turn.hard.group(group_id);
    let result = decide(turn, hard, request);
    let is_fenced = matches!(result, Err(EmbeddedRefusal::StaleGeneration { .. }));
    turn.counts.fenced_commits += u64::from(is_fenced);
    turn.answer(hard, ticket, Reply::Embedded(result));
}

fn decide(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    request: &EmbeddedRequest<'_>,
) -> Result<Option<Generation>, EmbeddedRefusal> {
    let group_id = request.group_id();
    if group_id.is_empty() || group_id.len() > MAX_STRING_BYTES {
        return Err(EmbeddedRefusal::InvalidGroupId);
    }
    let present = hard.and_then(HardGroup::classic).map(|classic| classic.generation);
    match request {
        EmbeddedRequest::Rebalance { .. } => Ok(Some(classic::take_over(turn, hard, group_id))),
        EmbeddedRequest::Generation { .. } => Ok(present),
        EmbeddedRequest::Commit { generation, offsets, .. } => {
            check_generation(*generation, present)?;
            check_empty(turn, hard)?;
            commit(turn, group_id, hard, offsets)?;
            Ok(present)
        }
        EmbeddedRequest::DeleteOffsets { .. } => {
            check_empty(turn, hard)?;
            let tombstones = hard.map(|group| offset_tombstones(turn.hard, group));
            turn.records.extend(tombstones.into_iter().flatten());
            Ok(present)
        }
        EmbeddedRequest::Forget { .. } => {
            check_empty(turn, hard)?;
            if let Some(group) = hard {
                record_deletion(turn, group);
            }
            Ok(None)
        }
    }
}

/// What members have is changed by nobody but them, until somebody takes the group over.
fn check_empty(turn: &Turn<'_>, hard: Option<&HardGroup>) -> Result<(), EmbeddedRefusal> {
    match hard.map(|group| state_of(turn, group)) {
        None | Some(GroupState::Empty) => Ok(()),
        Some(_) => Err(EmbeddedRefusal::NonEmptyGroup),
    }
}

/// The generation must be the present one. One that is lower belongs to somebody who was replaced; one that is higher
/// was never handed out, or before the group was forgotten.
fn check_generation(asked: Generation, present: Option<Generation>) -> Result<(), EmbeddedRefusal> {
    match present {
        Some(current) if asked == current => Ok(()),
        Some(current) if asked < current => Err(EmbeddedRefusal::StaleGeneration { current }),
        current => Err(EmbeddedRefusal::UnknownGeneration { current }),
    }
}

/// Records all of the offsets, or none: a refused one refuses the others.
fn commit(
    turn: &mut Turn<'_>,
    group_id: &str,
    hard: Option<&HardGroup>,
    offsets: &[OffsetToCommit<'_>],
) -> Result<(), EmbeddedRefusal> {
    for (index, offset) in offsets.iter().enumerate() {
        check_offset(turn, offset)
            .map_err(|error| EmbeddedRefusal::Offset(OffsetRefused { index, error }))?;
    }
    let group = hard.map_or_else(|| group_id.into(), |hard| Arc::clone(hard.id()));
    for offset in offsets {
        let topic = turn.hard.shared_topic(offset.topic);
        turn.records.push(offset_record(&group, topic, offset, turn.now.wall, None));
    }
    Ok(())
}
