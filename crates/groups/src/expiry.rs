//! Offsets that nobody uses expire, and groups that are empty and have none end (KIP-211, as Kafka implements it).
//!
//! A sweep is due at every check interval and goes through the groups in bounded steps. It is skipped when the wall
//! clock moved against the monotonic one by more than an interval: a wrong clock must not cost anybody a position.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::{Now, Timestamp};

use crate::admin::{group_tombstones, state_of};
use crate::hard::HardGroup;
use crate::offsets::tombstone;
use crate::settings::{MAX_SWEEP_GROUPS, MAX_SWEEP_RECORDS};
use crate::soft::Sweep;
use crate::turn::Turn;
use crate::view::{GroupView, Subscription, subscription_of};
use crate::{CommittedOffset, GroupSettings, GroupState};

/// Decides when the next sweep is due.
pub(crate) fn schedule_sweep(sweep: &mut Sweep, settings: &GroupSettings, now: Now) {
    let due = now.monotonic.plus_ms(settings.offsets_retention_check_interval_ms);
    sweep.due = Some((due, now));
}

/// Goes on with a sweep, or begins the one that is due.
pub(crate) fn sweep_if_due(turn: &mut Turn<'_>) {
    if let Some((due, since)) = turn.soft.sweep.due
        && due <= turn.now.monotonic
    {
        let interval_ms = turn.settings.offsets_retention_check_interval_ms;
        if turn.now.clock_drift_ms(since) > u128::from(interval_ms) {
            turn.counts.skipped_sweeps += 1;
        } else if turn.soft.sweep.remaining.is_empty() {
            let mut group_ids = turn.hard.group_ids();
            group_ids.reverse();
            turn.soft.sweep.remaining = group_ids;
        }
        schedule_sweep(&mut turn.soft.sweep, turn.settings, turn.now);
    }
    step(turn);
}

/// Looks at some groups. The rest has its turn at the next call, which is wanted at once.
fn step(turn: &mut Turn<'_>) {
    // What this very turn changes already is left alone; the next sweep sees what came of it.
    let changed: BTreeSet<Arc<str>> = turn.records.iter().map(|record| Arc::clone(record.group())).collect();
    for _ in 0..MAX_SWEEP_GROUPS {
        if turn.records.len() >= MAX_SWEEP_RECORDS {
            return;
        }
        let Some(group_id) = turn.soft.sweep.remaining.pop() else { return };
        if !changed.contains(&group_id) {
            expire_group(turn, &group_id);
        }
    }
}

fn expire_group(turn: &mut Turn<'_>, group_id: &Arc<str>) {
    let Some(group) = turn.hard.group(group_id) else { return };
    let soft = turn.soft.group(group_id);
    let view = GroupView::new(Some(group), soft);
    let has_nobody_coming = soft.is_none_or(|soft| soft.pending_joins.is_empty());
    let is_empty = state_of(turn, group) == GroupState::Empty && has_nobody_coming;
    let base = base_of(&view, group);
    let subscription = subscription_of(&view, group);
    let mut expired = Vec::new();
    let mut kept = 0_usize;
    for topic in group.topics() {
        for entry in topic.entries() {
            let expires = base.as_ref().is_some_and(|base| {
                !subscribes(base, &subscription, topic.topic())
                    && !turn.hard.has_pending(group, topic.topic(), entry.partition())
                    && is_expired(turn, base, entry.committed())
            });
            if expires {
                expired.push(tombstone(group, topic.topic(), entry.partition()));
            } else {
                kept += 1;
            }
        }
    }
    turn.counts.offset_expirations += expired.len() as u64;
    turn.records.extend(expired);
    if is_empty && kept == 0 && !group.has_any_pending() {
        turn.records.extend(group_tombstones(group));
    }
}

/// From when on the retention of a group's offsets counts. `None` in [`base_of`]: they don't expire.
enum Base {
    /// From each commit on; a group of nobody.
    CommitOfSimpleGroup,
    /// From each commit on, for topics that no member subscribes to.
    CommitUnlessSubscribed,
    /// From when the group became empty.
    Empty(Timestamp),
}

fn base_of(view: &GroupView<'_>, group: &HardGroup) -> Option<Base> {
    if group.consumer().is_some() {
        return Some(Base::CommitUnlessSubscribed);
    }
    if view.protocol_type().is_none() {
        return Some(Base::CommitOfSimpleGroup);
    }
    match view.state() {
        GroupState::Empty => {
            let since = group.classic().and_then(|classic| classic.state_timestamp);
            Some(since.map_or(Base::CommitOfSimpleGroup, Base::Empty))
        }
        GroupState::Stable if view.is_of_consumers() => Some(Base::CommitUnlessSubscribed),
        GroupState::Stable
        | GroupState::PreparingRebalance
        | GroupState::CompletingRebalance
        | GroupState::Assigning
        | GroupState::Reconciling => None,
    }
}

/// Whether members subscribe to the topic, or may do so for all that can be known.
fn subscribes(base: &Base, subscription: &Subscription<'_>, topic: &str) -> bool {
    match base {
        Base::CommitUnlessSubscribed => subscription.contains(topic).unwrap_or(true),
        Base::CommitOfSimpleGroup | Base::Empty(_) => false,
    }
}

fn is_expired(turn: &Turn<'_>, base: &Base, committed: &CommittedOffset) -> bool {
    let now = turn.now.wall;
    if let Some(expire_timestamp) = committed.expire_timestamp() {
        return now >= expire_timestamp;
    }
    let since = match base {
        Base::CommitOfSimpleGroup | Base::CommitUnlessSubscribed => committed.commit_timestamp(),
        Base::Empty(since) => *since,
    };
    now.0.saturating_sub(since.0) >= turn.settings.offsets_retention_ms
}
