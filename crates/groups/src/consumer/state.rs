//! A consumer group as its records made it. Each key of the log is one entry here and nothing else is remembered, so that a
//! compacted log makes the same group.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use milepost_model::{PartitionIndex, TopicId};

use super::Assignor;
use super::record::{
    Assignment, ConsumerChange, ConsumerMember, CurrentAssignment, Epoch, GroupEpoch, ResolvedRegex,
    TargetEpoch,
};
use super::topics::ClusterTopics;
use crate::{GroupSettings, GroupState};

/// The hard state of one consumer group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConsumerGroup {
    group: Option<GroupEpoch>,
    old_topics: Option<Arc<[u8]>>,
    members: BTreeMap<Arc<str>, Arc<ConsumerMember>>,
    target_epoch: Option<TargetEpoch>,
    targets: BTreeMap<Arc<str>, Arc<Assignment>>,
    currents: BTreeMap<Arc<str>, Arc<CurrentAssignment>>,
    regexes: BTreeMap<Arc<str>, Arc<ResolvedRegex>>,
}

impl ConsumerGroup {
    /// Takes one change in. Only the replay of a record and a draft may do so.
    pub(crate) fn apply(&mut self, change: ConsumerChange) {
        match change {
            ConsumerChange::Group(group) => self.group = group,
            ConsumerChange::OldTopics(topics) => self.old_topics = topics,
            ConsumerChange::TargetEpoch(target) => self.target_epoch = target,
            ConsumerChange::Member(id, member) => set(&mut self.members, id, member),
            ConsumerChange::Target(id, target) => set(&mut self.targets, id, target),
            ConsumerChange::Current(id, current) => set(&mut self.currents, id, current),
            ConsumerChange::Regex(regex, resolved) => set(&mut self.regexes, regex, resolved),
        }
    }

    /// Whether no record says anything about it.
    pub(crate) fn is_gone(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.group.map_or(Epoch::FIRST, |group| group.epoch)
    }

    pub(crate) fn metadata_hash(&self) -> i64 {
        self.group.map_or(0, |group| group.metadata_hash)
    }

    pub(crate) fn target_epoch(&self) -> TargetEpoch {
        self.target_epoch.unwrap_or(TargetEpoch { epoch: Epoch::FIRST, made_at: None })
    }

    pub(crate) fn has_old_topics(&self) -> bool {
        self.old_topics.is_some()
    }

    pub(crate) fn members(&self) -> &BTreeMap<Arc<str>, Arc<ConsumerMember>> {
        &self.members
    }

    pub(crate) fn member(&self, member_id: &str) -> Option<&Arc<ConsumerMember>> {
        self.members.get(member_id)
    }

    /// The member with this group instance id.
    pub(crate) fn static_member(&self, instance_id: &str) -> Option<(&Arc<str>, &Arc<ConsumerMember>)> {
        self.members.iter().find(|(_, member)| member.instance_id.as_deref() == Some(instance_id))
    }

    /// What a member has; of one that has just come, nothing.
    pub(crate) fn current(&self, member_id: &str) -> Arc<CurrentAssignment> {
        self.currents.get(member_id).cloned().unwrap_or_default()
    }

    pub(crate) fn target(&self, member_id: &str) -> Option<&Arc<Assignment>> {
        self.targets.get(member_id)
    }

    pub(crate) fn regexes(&self) -> &BTreeMap<Arc<str>, Arc<ResolvedRegex>> {
        &self.regexes
    }

    /// The regular expressions that members subscribe to.
    pub(crate) fn subscribed_regexes(&self) -> BTreeSet<&Arc<str>> {
        self.members.values().filter_map(|member| member.subscribed_regex.as_ref()).collect()
    }

    /// Whether a member other than this one subscribes to the regular expression.
    pub(crate) fn is_regex_of_others(&self, regex: &str, member_id: &str) -> bool {
        let uses_it = |member: &ConsumerMember| member.subscribed_regex.as_deref() == Some(regex);
        self.members.iter().any(|(id, member)| **id != *member_id && uses_it(member))
    }

    /// The topics a member subscribes to, by name and by what its regular expression means.
    pub(crate) fn topics_of<'a>(&'a self, member: &'a ConsumerMember) -> impl Iterator<Item = &'a Arc<str>> {
        let resolved = member.subscribed_regex.as_ref().and_then(|regex| self.regexes.get(regex));
        member.subscribed_topics.iter().chain(resolved.into_iter().flat_map(|resolved| &resolved.topics))
    }

    /// The topics that anybody subscribes to.
    pub(crate) fn subscribed_topics(&self) -> BTreeSet<&Arc<str>> {
        self.members.values().flat_map(|member| self.topics_of(member)).collect()
    }

    /// The hash of the topics that anybody subscribes to.
    pub(crate) fn hash_of_topics(&self, topics: &ClusterTopics) -> i64 {
        topics.hash_of(self.subscribed_topics())
    }

    /// The assignor that most members prefer; the first of the settings if nobody cares, and in a tie the earlier one.
    pub(crate) fn preferred_assignor(&self, settings: &GroupSettings) -> Assignor {
        let votes = |assignor: &Assignor| {
            let name = Some(assignor.name());
            self.members.values().filter(|member| member.server_assignor.as_deref() == name).count()
        };
        let first = settings.consumer_assignors.first().copied().unwrap_or(Assignor::Uniform);
        settings
            .consumer_assignors
            .iter()
            .copied()
            .fold((first, votes(&first)), |(best, most), assignor| match votes(&assignor) {
                more if more > most => (assignor, more),
                _ => (best, most),
            })
            .0
    }

    /// What members other than this one hold, what they must still give up included.
    pub(crate) fn held_by_others(&self, member_id: &str) -> BTreeSet<(TopicId, PartitionIndex)> {
        let others = self.currents.iter().filter(|(id, _)| ***id != *member_id);
        others
            .flat_map(|(_, current)| current.assigned.iter().chain(current.pending_revocation.iter()))
            .map(|(topic, partition, _)| (topic, partition))
            .collect()
    }

    pub(crate) fn state(&self) -> GroupState {
        let target = self.target_epoch().epoch;
        if self.members.is_empty() {
            GroupState::Empty
        } else if self.epoch() > target {
            GroupState::Assigning
        } else if self.members.keys().all(|id| self.current(id).is_reconciled_to(target)) {
            GroupState::Stable
        } else {
            GroupState::Reconciling
        }
    }

    /// What removes every record of the group, in Kafka's order: a replay of it must find each thing unused. Each member is
    /// given all of its tombstones, whether it has a record of that type yet or not.
    pub(crate) fn tombstones(&self) -> Vec<ConsumerChange> {
        let all = |ids: BTreeSet<&Arc<str>>, tombstone: fn(Arc<str>) -> ConsumerChange| {
            ids.into_iter().cloned().map(tombstone).collect::<Vec<_>>()
        };
        let members = || self.members.keys();
        let currents = self.currents.keys().chain(members()).collect();
        let targets = self.targets.keys().chain(members()).collect();
        let mut tombstones = all(currents, |id| ConsumerChange::Current(id, None));
        tombstones.extend(all(targets, |id| ConsumerChange::Target(id, None)));
        tombstones.push(ConsumerChange::TargetEpoch(None));
        tombstones.extend(all(members().collect(), |id| ConsumerChange::Member(id, None)));
        tombstones.extend(all(self.regexes.keys().collect(), |regex| ConsumerChange::Regex(regex, None)));
        tombstones.push(ConsumerChange::OldTopics(None));
        tombstones.push(ConsumerChange::Group(None));
        tombstones
    }
}

fn set<T>(entries: &mut BTreeMap<Arc<str>, Arc<T>>, key: Arc<str>, value: Option<Arc<T>>) {
    match value {
        Some(value) => drop(entries.insert(key, value)),
        None => drop(entries.remove(&key)),
    }
}
