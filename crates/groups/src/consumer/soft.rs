//! What is known about consumer groups beyond their records: until when each member may be silent, hold what it must give
//! up, or stay away from a rebalance, and for which state of the topics the group was last looked at. All of it may be lost
//! without harm.
//!
//! A deadline may be noted for a member whose record was never written, or outlive it. Whoever acts on one looks into the
//! hard state first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use milepost_model::Instant;

use super::record::Epoch;
use super::topics::ClusterTopics;
use crate::GroupSettings;
use crate::rebalance::Call;

/// The soft state of all consumer groups of a shard.
#[derive(Debug)]
pub(crate) struct ConsumerSoft {
    groups: HashMap<Arc<str>, SoftGroup, FixedState>,
    /// When to look at which group. An entry may be early, never late.
    schedule: BTreeSet<(Instant, Arc<str>)>,
    /// The topics as the last request brought them.
    topics: Option<Arc<ClusterTopics>>,
}

/// The soft state of one group.
#[derive(Debug, Default)]
struct SoftGroup {
    sessions: BTreeMap<Arc<str>, Instant>,
    revocations: BTreeMap<Arc<str>, Revocation>,
    /// Until when members that speak the classic protocol must have joined again, or fetched what they have.
    calls: BTreeMap<(Arc<str>, Call), Instant>,
    /// The version of the topics for which the group epoch is right.
    checked: Option<i64>,
    /// When to look up regular expressions.
    resolve_at: Option<Instant>,
    wake_at: Option<Instant>,
}

/// A member was told to give partitions up.
#[derive(Clone, Copy, Debug)]
struct Revocation {
    deadline: Instant,
    /// The epoch it must have left by then.
    epoch: Epoch,
}

/// What is due in a group.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// Members that were silent for too long.
    pub(super) silent: Vec<Arc<str>>,
    /// Members that had to leave this epoch by now.
    pub(super) stuck: Vec<(Arc<str>, Epoch)>,
    /// Members that did not join again, or did not fetch what they have.
    pub(super) missing: Vec<(Arc<str>, Call)>,
    /// Whether regular expressions are to be looked up.
    pub(super) resolves: bool,
}

impl ConsumerSoft {
    pub(crate) fn new(hash_seed: u64) -> Self {
        let groups = HashMap::with_hasher(FixedState::with_seed(hash_seed));
        Self { groups, schedule: BTreeSet::new(), topics: None }
    }

    /// A request brought the topics along. An older state than the one known is not taken.
    pub(crate) fn note_topics(&mut self, topics: &Arc<ClusterTopics>) {
        if self.topics.as_ref().is_none_or(|known| known.version() < topics.version()) {
            self.topics = Some(Arc::clone(topics));
        }
    }

    /// How long a member of the group may be silent that speaks the consumer protocol.
    pub(super) fn session_ms(&self, group_id: &str, settings: &GroupSettings) -> u64 {
        let own = self.topics.as_ref().and_then(|topics| topics.config_of(group_id).session_ms);
        own.unwrap_or(settings.consumer_session_ms)
    }

    pub(super) fn shared_topics(&self) -> Option<Arc<ClusterTopics>> {
        self.topics.clone()
    }

    pub(super) fn has_checked(&self, group_id: &str, version: i64) -> bool {
        self.groups.get(group_id).is_some_and(|group| group.checked == Some(version))
    }

    pub(super) fn note_checked(&mut self, group_id: &Arc<str>, version: i64) {
        self.group(group_id).checked = Some(version);
    }

    pub(super) fn keep_session(&mut self, group_id: &Arc<str>, member_id: &Arc<str>, deadline: Instant) {
        if let Some(session) = self.group(group_id).sessions.get_mut(member_id)
            && *session <= deadline
        {
            *session = deadline;
            return;
        }
        self.group(group_id).sessions.insert(Arc::clone(member_id), deadline);
        self.wake(group_id, deadline);
    }

    /// Begins to wait for a call of a member, if that was not waited for already.
    pub(super) fn expect(
        &mut self,
        group_id: &Arc<str>,
        member_id: &Arc<str>,
        call: Call,
        deadline: Instant,
    ) {
        let expected = self.group(group_id).calls.entry((Arc::clone(member_id), call)).or_insert(deadline);
        let deadline = *expected;
        self.wake(group_id, deadline);
    }

    /// A call of a member came, or is no longer waited for.
    pub(super) fn note_call(&mut self, group_id: &Arc<str>, member_id: &Arc<str>, call: Call) {
        if let Some(group) = self.groups.get_mut(group_id) {
            group.calls.remove(&(Arc::clone(member_id), call));
        }
    }

    /// The group is made anew of members of a classic one: nothing is waited for that was before.
    pub(super) fn begin_group(&mut self, group_id: &Arc<str>) {
        let group = self.group(group_id);
        group.sessions.clear();
        group.revocations.clear();
        group.calls.clear();
        group.checked = None;
    }

    pub(super) fn begin_revocation(
        &mut self,
        group_id: &Arc<str>,
        member_id: &Arc<str>,
        deadline: Instant,
        epoch: Epoch,
    ) {
        self.group(group_id).revocations.insert(Arc::clone(member_id), Revocation { deadline, epoch });
        self.wake(group_id, deadline);
    }

    pub(super) fn end_revocation(&mut self, group_id: &Arc<str>, member_id: &str) {
        self.group(group_id).revocations.remove(member_id);
    }

    /// Wants regular expressions to be looked up, at the earlier one of two times if asked twice.
    pub(super) fn resolve_at(&mut self, group_id: &Arc<str>, at: Instant) {
        let group = self.group(group_id);
        group.resolve_at = Some(group.resolve_at.map_or(at, |known| known.min(at)));
        self.wake(group_id, at);
    }

    fn group(&mut self, group_id: &Arc<str>) -> &mut SoftGroup {
        self.groups.entry_ref(group_id).or_default()
    }

    fn wake(&mut self, group_id: &Arc<str>, at: Instant) {
        let group = self.groups.entry_ref(group_id).or_default();
        if group.wake_at.is_some_and(|known| known <= at) {
            return;
        }
        if let Some(known) = group.wake_at.replace(at) {
            self.schedule.remove(&(known, Arc::clone(group_id)));
        }
        self.schedule.insert((at, Arc::clone(group_id)));
    }

    /// When the first group wants to be looked at.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        self.schedule.first().map(|(at, _)| *at)
    }

    /// The next group whose time has come, off the schedule.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Arc<str>> {
        if self.next_wake()? > now {
            return None;
        }
        let (_, group_id) = self.schedule.pop_first()?;
        if let Some(group) = self.groups.get_mut(&group_id) {
            group.wake_at = None;
        }
        Some(group_id)
    }

    /// Takes out what is due in a group. What is still wanted after that is on the schedule again.
    pub(super) fn take_due(&mut self, group_id: &Arc<str>, now: Instant) -> Due {
        let Some(group) = self.groups.get_mut(group_id) else { return Due::default() };
        let mut due = Due::default();
        group.sessions.retain(|member_id, deadline| {
            let is_over = *deadline <= now;
            if is_over {
                due.silent.push(Arc::clone(member_id));
            }
            !is_over
        });
        group.revocations.retain(|member_id, revocation| {
            let is_over = revocation.deadline <= now;
            if is_over {
                due.stuck.push((Arc::clone(member_id), revocation.epoch));
            }
            !is_over
        });
        group.calls.retain(|(member_id, call), deadline| {
            let is_over = *deadline <= now;
            if is_over {
                due.missing.push((Arc::clone(member_id), *call));
            }
            !is_over
        });
        due.resolves = group.resolve_at.is_some_and(|at| at <= now);
        if due.resolves {
            group.resolve_at = None;
        }
        let revocations = group.revocations.values().map(|revocation| revocation.deadline);
        let calls = group.calls.values().copied();
        let sessions = group.sessions.values().copied();
        let next = sessions.chain(revocations).chain(calls).chain(group.resolve_at).min();
        match next {
            Some(at) => self.wake(group_id, at),
            None if group.sessions.is_empty() => drop(self.groups.remove(group_id)),
            None => {}
        }
        due
    }
}
