//! Who may commit and fetch offsets of a consumer group: members, in the epoch they are in.

use milepost_model::{Generation, PartitionIndex, TopicId};

use super::ConsumerGroup;
use super::record::{ConsumerMember, CurrentAssignment, Epoch};
use crate::GroupError;
use crate::request::{MissingGroup, OffsetCommit, OffsetFetch, TxnOffsetCommit};

/// What a committer may commit.
#[derive(Debug)]
pub(crate) enum Committed {
    /// Anything.
    Anything,
    /// Its epoch is not the newest: only what it has had since then, or longer (KIP-1251). The error says so in the
    /// words of its protocol.
    Older(Epoch, std::sync::Arc<CurrentAssignment>, GroupError),
}

impl Committed {
    /// Whether this partition is among it.
    pub(crate) fn check(&self, topic: Option<TopicId>, partition: PartitionIndex) -> Result<(), GroupError> {
        let Self::Older(epoch, current, stale) = self else { return Ok(()) };
        let since = topic.and_then(|topic| {
            let assigned = current.assigned.epoch(topic, partition);
            assigned.or_else(|| current.pending_revocation.epoch(topic, partition))
        });
        match since {
            Some(since) if *epoch >= since => Ok(()),
            _ => Err(*stale),
        }
    }
}

/// How a member is told that its epoch is not the one it is in: one that speaks the classic protocol knows it as its
/// generation.
fn stale(member: &ConsumerMember) -> GroupError {
    match member.classic {
        Some(_) => GroupError::IllegalGeneration,
        None => GroupError::StaleMemberEpoch,
    }
}

/// Whether a commit to the group is in order as a whole.
pub(crate) fn check_commit(
    group: &ConsumerGroup,
    request: &OffsetCommit<'_>,
) -> Result<Committed, GroupError> {
    if request.generation.is_none() && group.members().is_empty() {
        return Ok(Committed::Anything);
    }
    let member_id = request.member_id.unwrap_or_default();
    let member = group.member(member_id).ok_or(GroupError::UnknownMemberId)?;
    if request.missing_group == MissingGroup::IllegalGeneration && member.classic.is_none() {
        // Such an old version does not know the errors that fence a member of a consumer group.
        return Err(GroupError::UnsupportedVersion);
    }
    check_epoch(group, (member_id, member), request.generation)
}

/// As [`check_commit`], for a commit within a transaction, by somebody who says who it is. The versions that members of
/// consumer groups may use are no matter here, as in Kafka.
pub(crate) fn check_transactional_commit(
    group: &ConsumerGroup,
    request: &TxnOffsetCommit<'_>,
) -> Result<Committed, GroupError> {
    if request.generation.is_none() && group.members().is_empty() {
        return Ok(Committed::Anything);
    }
    let member_id = request.member_id.unwrap_or_default();
    let member = group.member(member_id).ok_or(GroupError::UnknownMemberId)?;
    check_epoch(group, (member_id, member), request.generation)
}

fn check_epoch(
    group: &ConsumerGroup,
    (member_id, member): (&str, &ConsumerMember),
    generation: Option<Generation>,
) -> Result<Committed, GroupError> {
    let current = group.current(member_id);
    let epoch = generation.map_or(Epoch(-1), |generation| Epoch(generation.0));
    if epoch == current.epoch {
        Ok(Committed::Anything)
    } else if epoch > current.epoch {
        Err(stale(member))
    } else {
        Ok(Committed::Older(epoch, current, stale(member)))
    }
}

/// Whether a fetch of the group's offsets is in order. Who names no member may always ask.
pub(crate) fn check_fetch(group: &ConsumerGroup, request: &OffsetFetch<'_>) -> Result<(), GroupError> {
    if request.member_id.is_none() && request.member_epoch.is_none() {
        return Ok(());
    }
    let member_id = request.member_id.unwrap_or_default();
    let member = group.member(member_id).ok_or(GroupError::UnknownMemberId)?;
    if request.member_epoch == Some(group.current(member_id).epoch) { Ok(()) } else { Err(stale(member)) }
}
