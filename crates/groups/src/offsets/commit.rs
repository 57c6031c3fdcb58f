//! OffsetCommit, the hot path: for each offset one lookup of its topic, if it is not the one before, and one record.

use std::sync::Arc;

use milepost_model::{Ticket, Timestamp};
use milepost_records::MAX_STRING_BYTES;

use crate::classic;
use crate::consumer::{self, ConsumerGroup};
use crate::request::{MissingGroup, OffsetCommit, OffsetToCommit};
use crate::turn::Turn;
use crate::view::GroupView;
use crate::{CommittedOffset, GroupError, GroupState, Member, OffsetRecord, OffsetRefused, Record, Reply};

/// Handles OffsetCommit.
pub(crate) fn offset_commit(turn: &mut Turn<'_>, ticket: Ticket, request: &OffsetCommit<'_>) {
    let hard = turn.hard.group(request.group_id);
    let view = GroupView::new(hard, turn.soft.group(request.group_id));
    let committer = match hard {
        _ if request.group_id.len() > MAX_STRING_BYTES => Err(GroupError::InvalidGroupId),
        None => check_missing(request),
        Some(group) => match group.consumer() {
            Some(consumer) => check_consumer(turn, consumer, request),
            None => check_existing(&view, request),
        },
    };
    let session_ms = match committer {
        Ok(Committer::Member(member)) => Some(member.session_ms()),
        Ok(Committer::Outsider) => None,
        Err(error) => {
            turn.counts.note_refused_commit(error);
            turn.answer(hard, ticket, Reply::OffsetCommit(Err(error)));
            return;
        }
    };
    if let (Some(session_ms), Some(member_id)) = (session_ms, request.member_id) {
        classic::keep_session(turn, request.group_id, member_id, session_ms);
    }
    let group = hard.map_or_else(|| request.group_id.into(), |hard| Arc::clone(hard.id()));
    let expire_timestamp = request.retention_ms.map(|retention_ms| turn.now.wall.plus_ms(retention_ms));
    let refused = record_offsets(turn, &group, &request.offsets, expire_timestamp);
    turn.answer(hard, ticket, Reply::OffsetCommit(Ok(refused)));
}

/// Who commits.
enum Committer<'a> {
    /// A member of the present generation.
    Member(&'a Member),
    /// Somebody whose session this does not prolong: an administrator, a consumer that assigns itself, a member of a
    /// consumer group.
    Outsider,
}

/// A group that does not exist comes into being by a commit from outside group management; the member is not looked at.
fn check_missing<'a>(request: &OffsetCommit<'_>) -> Result<Committer<'a>, GroupError> {
    match (request.generation, request.missing_group) {
        (None, _) => Ok(Committer::Outsider),
        (Some(_), MissingGroup::GroupIdNotFound) => Err(GroupError::GroupIdNotFound),
        (Some(_), MissingGroup::IllegalGeneration) => Err(GroupError::IllegalGeneration),
    }
}

/// A partition that a member with an older epoch may not commit refuses all of them, as in Kafka. What is too long is
/// refused by itself, before that is looked at.
fn check_consumer<'a>(
    turn: &Turn<'_>,
    group: &ConsumerGroup,
    request: &OffsetCommit<'_>,
) -> Result<Committer<'a>, GroupError> {
    let committed = consumer::check_commit(group, request)?;
    for offset in &request.offsets {
        if check_offset(turn, offset).is_ok() {
            committed.check(offset.topic_id, offset.partition)?;
        }
    }
    Ok(Committer::Outsider)
}

fn check_existing<'a>(view: &GroupView<'a>, request: &OffsetCommit<'_>) -> Result<Committer<'a>, GroupError> {
    let state = view.state();
    if request.generation.is_none() && state == GroupState::Empty {
        // Consumers that assign themselves may well send their instance id along (KAFKA-14201).
        return Ok(Committer::Outsider);
    }
    let member_id = request.member_id.unwrap_or_default();
    // Also refuses who commits from outside while the group has members: "" is nobody's id.
    let member = view.validate_member(member_id, request.group_instance_id)?;
    if request.generation != Some(view.generation()) {
        return Err(GroupError::IllegalGeneration);
    }
    // A generation that no record holds would be handed out again after a restart, so nothing may be committed under
    // it: before its SyncGroup, as in Kafka, and also when the group began to rebalance again before that.
    if state == GroupState::CompletingRebalance || view.is_generation_unrecorded() {
        return Err(GroupError::RebalanceInProgress);
    }
    Ok(Committer::Member(member))
}

/// Makes the records. Returns what is refused by itself.
pub(super) fn record_offsets(
    turn: &mut Turn<'_>,
    group: &Arc<str>,
    offsets: &[OffsetToCommit<'_>],
    expire_timestamp: Option<Timestamp>,
) -> Vec<OffsetRefused> {
    let now = turn.now.wall;
    let mut refused = Vec::new();
    let mut topic: Option<Arc<str>> = None;
    turn.records.reserve(offsets.len());
    for (index, offset) in offsets.iter().enumerate() {
        if let Err(error) = check_offset(turn, offset) {
            refused.push(OffsetRefused { index, error });
            continue;
        }
        let topic = match &topic {
            Some(known) if **known == *offset.topic => Arc::clone(known),
            _ => Arc::clone(topic.insert(turn.hard.shared_topic(offset.topic))),
        };
        turn.records.push(offset_record(group, topic, offset, now, expire_timestamp));
    }
    refused
}

/// Whether a record can hold the offset.
pub(crate) fn check_offset(turn: &Turn<'_>, offset: &OffsetToCommit<'_>) -> Result<(), GroupError> {
    if offset.topic.len() > MAX_STRING_BYTES {
        return Err(GroupError::InvalidRequest);
    }
    let longest = turn.settings.offset_metadata_max_units;
    // A string has at least as many bytes as UTF-16 units, so most need not be counted.
    let metadata = offset.metadata;
    if metadata.len() > MAX_STRING_BYTES
        || (metadata.len() > longest && metadata.encode_utf16().count() > longest)
    {
        return Err(GroupError::OffsetMetadataTooLarge);
    }
    Ok(())
}

/// The record of a committed offset.
pub(crate) fn offset_record(
    group: &Arc<str>,
    topic: Arc<str>,
    offset: &OffsetToCommit<'_>,
    now: Timestamp,
    expire_timestamp: Option<Timestamp>,
) -> Record {
    Record::Offset(OffsetRecord {
        group: Arc::clone(group),
        topic,
        partition: offset.partition,
        committed: Some(committed(offset, now, expire_timestamp)),
    })
}

fn committed(
    offset: &OffsetToCommit<'_>,
    now: Timestamp,
    expire_timestamp: Option<Timestamp>,
) -> CommittedOffset {
    let committed = CommittedOffset::new(offset.offset, now)
        .with_leader_epoch(offset.leader_epoch)
        .with_topic_id(offset.topic_id);
    if offset.metadata.is_empty() && expire_timestamp.is_none() {
        return committed;
    }
    committed.with_metadata(offset.metadata).with_expire_timestamp(expire_timestamp)
}
