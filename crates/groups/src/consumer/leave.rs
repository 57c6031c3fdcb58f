//! Members go: of their own will, for a short time, because they fell silent, or because an administrator removes them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::record::{ConsumerChange, CurrentAssignment, Epoch, OwnedPartitions, TargetEpoch};
use super::subscription::bump_epoch;
use super::topics::ClusterTopics;
use super::{ConsumerGroup, Draft, downgrade};
use crate::classic::AfterAdoption;
use crate::hard::HardGroup;
use crate::request::{ConsumerGroupHeartbeat, HowToLeave, LeaveGroup, LeavingMember};
use crate::turn::Turn;
use crate::{ConsumerHeartbeat, GroupError};

/// Handles the last heartbeat of a member.
pub(super) fn leave(
    turn: &mut Turn<'_>,
    hard: Option<&HardGroup>,
    request: &ConsumerGroupHeartbeat<'_>,
    how: HowToLeave,
) -> Result<ConsumerHeartbeat, GroupError> {
    let known = hard.and_then(|hard| Some((hard, hard.consumer()?)));
    let (hard, group) = known.ok_or(GroupError::GroupIdNotFound)?;
    let member_id = match request.instance_id {
        None => group.members().get_key_value(request.member_id).map(|(id, _)| id),
        Some(instance) => group.static_member(instance).map(|(id, _)| id),
    };
    let member_id = Arc::clone(member_id.ok_or(GroupError::UnknownMemberId)?);
    if *member_id != *request.member_id {
        return Err(GroupError::FencedInstanceId);
    }
    let mut draft = Draft::of(Arc::clone(hard.id()), group);
    let epoch = match how {
        HowToLeave::ForAWhile => {
            go_away(&mut draft, &member_id);
            turn.records.extend(draft.into_records());
            Epoch::AWAY
        }
        HowToLeave::ForGood => {
            remove_for_good(turn, hard, draft, &[Arc::clone(&member_id)], &request.topics);
            Epoch::GONE
        }
    };
    Ok(ConsumerHeartbeat { member_id, epoch, heartbeat_interval_ms: 0, assignment: None })
}

/// A static member will be back within its session: what it has stays its own, and counts as given to whoever comes in
/// its place.
fn go_away(draft: &mut Draft<'_>, member_id: &Arc<str>) {
    let current = draft.current(member_id);
    let mut assigned = OwnedPartitions::default();
    current.assigned.iter().for_each(|(topic, partition, _)| {
        assigned.insert(topic, partition, Epoch::JOINING);
    });
    let away = CurrentAssignment {
        epoch: Epoch::AWAY,
        assigned,
        pending_revocation: OwnedPartitions::default(),
        ..CurrentAssignment::clone(&current)
    };
    draft.write(ConsumerChange::Current(Arc::clone(member_id), Some(Arc::new(away))));
}

/// Handles LeaveGroup for a consumer group: members that speak the classic protocol leave, or an administrator removes
/// members, whatever protocol they speak.
pub(crate) fn leave_consumer_group(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    group: &ConsumerGroup,
    request: &LeaveGroup<'_>,
) -> Vec<Result<(), GroupError>> {
    turn.soft.consumers.note_topics(&request.topics);
    let mut leaving = BTreeSet::new();
    let find = |asked: &LeavingMember<'_>| {
        let Some(instance) = asked.group_instance_id else {
            let member = group.members().get_key_value(asked.member_id.unwrap_or_default());
            return member.map(|(id, _)| Arc::clone(id)).ok_or(GroupError::UnknownMemberId);
        };
        let (id, _) = group.static_member(instance).ok_or(GroupError::UnknownMemberId)?;
        match asked.member_id {
            Some(named) if *named != **id => Err(GroupError::FencedInstanceId),
            _ => Ok(Arc::clone(id)),
        }
    };
    let mut take = |asked| {
        leaving.insert(find(asked)?);
        Ok(())
    };
    let results = request.members.iter().map(&mut take).collect();
    let leaving: Vec<Arc<str>> = leaving.into_iter().collect();
    remove_for_good(turn, hard, Draft::of(Arc::clone(hard.id()), group), &leaving, &request.topics);
    results
}

/// Records that members are gone. If only members are left that speak the classic protocol, the group is a classic one
/// from now on, and they rebalance among themselves.
pub(super) fn remove_for_good(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    mut draft: Draft<'_>,
    leaving: &[Arc<str>],
    topics: &ClusterTopics,
) {
    if !leaving.is_empty() && downgrade::is_due(&draft, leaving, turn.settings) {
        let epoch = draft.epoch();
        downgrade::downgrade(turn, hard, draft, leaving, epoch, topics, AfterAdoption::Rebalance);
        return;
    }
    fence(&mut draft, leaving, Some(topics));
    turn.records.extend(draft.into_records());
}

/// Removes members, what only they used, and moves the group epoch. A group that is empty then has nothing to assign, and
/// does not look as if it had (KAFKA-20442).
pub(super) fn fence(draft: &mut Draft<'_>, members: &[Arc<str>], topics: Option<&ClusterTopics>) {
    if members.is_empty() {
        return;
    }
    members.iter().for_each(|member_id| remove(draft, member_id));
    let used: BTreeSet<Arc<str>> = draft.subscribed_regexes().into_iter().cloned().collect();
    let unused: Vec<Arc<str>> =
        draft.regexes().keys().filter(|regex| !used.contains(*regex)).cloned().collect();
    unused.into_iter().for_each(|regex| draft.write(ConsumerChange::Regex(regex, None)));
    // After a load nobody may have said yet which topics there are; then the next heartbeat puts the hash right.
    let is_empty = draft.members().is_empty();
    let known = topics.map(|topics| draft.hash_of_topics(topics));
    let hash = known.unwrap_or(if is_empty { 0 } else { draft.metadata_hash() });
    let epoch = bump_epoch(draft, hash);
    if is_empty {
        draft.write(ConsumerChange::TargetEpoch(Some(TargetEpoch { epoch, made_at: None })));
    }
}

/// Removes one member's records, what it has first.
pub(super) fn remove(draft: &mut Draft<'_>, member_id: &Arc<str>) {
    draft.write(ConsumerChange::Current(Arc::clone(member_id), None));
    draft.write(ConsumerChange::Target(Arc::clone(member_id), None));
    draft.write(ConsumerChange::Member(Arc::clone(member_id), None));
}
