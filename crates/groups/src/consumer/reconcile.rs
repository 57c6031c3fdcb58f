//! The third step of a heartbeat: the member moves towards its target assignment. First it gives up what it must, then it
//! gets what others have given up; so a partition never has two owners.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::{PartitionIndex, TopicId};
use milepost_records::offsets::consumer_group::MemberState;

use super::Draft;
use super::record::{Assignment, ConsumerChange, CurrentAssignment, Epoch, OwnedPartitions};
use super::topics::ClusterTopics;
use crate::GroupError;

/// What a member says it owns; `None`: it does not say.
pub(super) type Reported<'a> = Option<&'a Assignment>;

/// Whether the member subscribes to other topics since this very heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subscription {
    AsBefore,
    Changed,
}

/// Moves the member on as far as it can be now, and records it. Returns what it has then.
pub(super) fn reconcile(
    draft: &mut Draft<'_>,
    topics: &ClusterTopics,
    member_id: &Arc<str>,
    subscription: Subscription,
    reported: Reported<'_>,
) -> Result<Arc<CurrentAssignment>, GroupError> {
    let current = draft.current(member_id);
    let target = draft.target_epoch().epoch;
    if subscription == Subscription::AsBefore && current.is_reconciled_to(target) {
        return Ok(current);
    }
    let next = Reconciliation::new(draft, topics, member_id, &current, reported).next(subscription)?;
    if next == *current {
        return Ok(current);
    }
    let next = Arc::new(next);
    draft.write(ConsumerChange::Current(Arc::clone(member_id), Some(Arc::clone(&next))));
    Ok(next)
}

struct Reconciliation<'a> {
    current: &'a CurrentAssignment,
    target_epoch: Epoch,
    /// What the member shall have, of the topics it subscribes to.
    target: Assignment,
    subscribed: BTreeSet<TopicId>,
    held_by_others: BTreeSet<(TopicId, PartitionIndex)>,
    reported: Reported<'a>,
}

impl<'a> Reconciliation<'a> {
    fn new(
        draft: &Draft<'_>,
        topics: &ClusterTopics,
        member_id: &str,
        current: &'a CurrentAssignment,
        reported: Reported<'a>,
    ) -> Self {
        let member = draft.member(member_id);
        let subscribed = member.map(|member| topics.ids(draft.topics_of(member))).unwrap_or_default();
        let target = draft.target(member_id).into_iter().flat_map(|target| target.iter());
        Self {
            current,
            target_epoch: draft.target_epoch().epoch,
            target: target.filter(|(topic, _)| subscribed.contains(topic)).collect(),
            subscribed,
            held_by_others: draft.held_by_others(member_id),
            reported,
        }
    }

    fn next(&self, subscription: Subscription) -> Result<CurrentAssignment, GroupError> {
        match self.current.state {
            MemberState::Stable if self.current.epoch != self.target_epoch => {
                Ok(self.advance(self.current.epoch))
            }
            MemberState::UnrevokedPartitions if !self.still_owns(&self.current.pending_revocation) => {
                Ok(self.advance(self.current.epoch))
            }
            MemberState::Stable | MemberState::UnrevokedPartitions => Ok(match subscription {
                Subscription::Changed => self.drop_unsubscribed(),
                Subscription::AsBefore => self.current.clone(),
            }),
            MemberState::UnreleasedPartitions => Ok(self.advance(self.current.epoch)),
            // A newer broker wrote it; whoever comes with nothing begins anew.
            MemberState::Unknown(_) if self.reported.is_some_and(Assignment::is_empty) => {
                Ok(self.advance(self.target_epoch))
            }
            MemberState::Unknown(_) => Err(GroupError::FencedMemberEpoch),
        }
    }

    /// Whether the member may still read some of these. Who does not say may.
    fn still_owns(&self, partitions: &OwnedPartitions) -> bool {
        self.reported.is_none_or(|reported| {
            partitions.iter().any(|(topic, partition, _)| reported.contains(topic, partition))
        })
    }

    /// Towards the target: gives up what is not in it, then takes what is free of it.
    fn advance(&self, epoch: Epoch) -> CurrentAssignment {
        let mut assigned = OwnedPartitions::default();
        let mut revoked = OwnedPartitions::default();
        for (topic, partition, since) in self.current.assigned.iter() {
            let is_kept = self.target.contains(topic, partition);
            let into = if is_kept { &mut assigned } else { &mut revoked };
            into.insert(topic, partition, since);
        }
        if !revoked.is_empty() && self.still_owns(&revoked) {
            return CurrentAssignment {
                state: MemberState::UnrevokedPartitions,
                assigned,
                pending_revocation: revoked,
                ..self.current.moved_to(epoch)
            };
        }
        let mut state = MemberState::Stable;
        for (topic, partition) in self.target.iter() {
            if assigned.epoch(topic, partition).is_some() {
                continue;
            }
            if self.held_by_others.contains(&(topic, partition)) {
                state = MemberState::UnreleasedPartitions;
            } else {
                assigned.insert(topic, partition, self.target_epoch);
            }
        }
        CurrentAssignment {
            state,
            assigned,
            pending_revocation: OwnedPartitions::default(),
            ..self.current.moved_to(self.target_epoch)
        }
    }

    /// Takes away what the member no longer subscribes to, without waiting for the next target.
    fn drop_unsubscribed(&self) -> CurrentAssignment {
        let mut assigned = OwnedPartitions::default();
        let mut revoked = self.current.pending_revocation.clone();
        let mut has_dropped = false;
        for (topic, partition, since) in self.current.assigned.iter() {
            let is_kept = self.subscribed.contains(&topic);
            has_dropped |= !is_kept;
            let into = if is_kept { &mut assigned } else { &mut revoked };
            into.insert(topic, partition, since);
        }
        if !has_dropped {
            return self.current.clone();
        }
        let moved = self.current.moved_to(self.current.epoch);
        if self.still_owns(&revoked) {
            let state = MemberState::UnrevokedPartitions;
            return CurrentAssignment { state, assigned, pending_revocation: revoked, ..moved };
        }
        CurrentAssignment { assigned, ..moved }
    }
}
