//! The second step of a heartbeat: a new target assignment, if the group changed since the last one.

use std::sync::Arc;

use milepost_model::{Now, Timestamp};

use super::assignor::{Candidate, PartitionCounts};
use super::record::{Assignment, ConsumerChange, ConsumerMember, TargetEpoch};
use super::topics::ClusterTopics;
use super::{ConsumerGroup, Draft};
use crate::GroupSettings;

/// Assigns anew if the group epoch has moved on. Several changes at about the same time are waited for and answered with
/// one assignment (`group.consumer.assignment.interval.ms`).
pub(super) fn update_target(
    draft: &mut Draft<'_>,
    topics: &ClusterTopics,
    settings: &GroupSettings,
    now: Now,
) {
    if !is_due(draft.group_id(), draft, topics, settings, now) {
        return;
    }
    let candidates: Vec<Candidate> = candidates(draft, topics);
    let counts: PartitionCounts = draft
        .subscribed_topics()
        .into_iter()
        .filter_map(|name| topics.topic(name))
        .map(|topic| (topic.id, topic.partition_count))
        .collect();
    let assignments = draft.preferred_assignor(settings).assign(&candidates, &counts);
    for (candidate, assignment) in candidates.into_iter().zip(assignments) {
        let known = draft.target(&candidate.member_id);
        if known.is_none_or(|known| **known != assignment) {
            draft.write(ConsumerChange::Target(candidate.member_id, Some(Arc::new(assignment))));
        }
    }
    let target = TargetEpoch { epoch: draft.epoch(), made_at: Some(now.wall) };
    draft.write(ConsumerChange::TargetEpoch(Some(target)));
}

/// Whether the group epoch has moved on, and the last assignment is old enough.
pub(super) fn is_due(
    group_id: &str,
    group: &ConsumerGroup,
    topics: &ClusterTopics,
    settings: &GroupSettings,
    now: Now,
) -> bool {
    if group.target_epoch().epoch >= group.epoch() {
        return false;
    }
    let own = topics.config_of(group_id).assignment_interval_ms;
    let interval_ms = own.unwrap_or(settings.consumer_assignment_interval_ms);
    let since = group.target_epoch().made_at;
    // A clock that went back since then must not hold assignments up for as long as it went back.
    let is_recent =
        |since: Timestamp| since <= now.wall && now.wall < since.plus_ms(interval_ms.cast_signed());
    !since.is_some_and(is_recent)
}

fn candidates(draft: &Draft<'_>, topics: &ClusterTopics) -> Vec<Candidate> {
    let nothing = Arc::new(Assignment::default());
    let one = |(member_id, member): (&Arc<str>, &Arc<ConsumerMember>)| Candidate {
        member_id: Arc::clone(member_id),
        instance_id: member.instance_id.clone(),
        topics: topics.ids(draft.topics_of(member)),
        target: Arc::clone(draft.target(member_id).unwrap_or(&nothing)),
    };
    draft.members().iter().map(one).collect()
}
