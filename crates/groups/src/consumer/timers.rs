//! What happens to a consumer group because time passed.

use std::sync::Arc;

use milepost_model::Now;
use milepost_records::offsets::consumer_group::MemberState;

use super::record::{ConsumerChange, ResolvedRegex};
use super::soft::Due;
use super::subscription::bump_epoch;
use super::topics::ClusterTopics;
use super::{ConsumerGroup, Draft, downgrade, leave, regex};
use crate::GroupSettings;
use crate::hard::HardGroup;
use crate::settings::RECORD_CHECK_MS;
use crate::turn::Turn;

/// How long an expression that was looked up stays as it is, whatever topics are added: many are often added together.
const REFRESH_PAUSE_MS: u64 = 10_000;

/// How many expressions of a group are looked up before others get their turn.
const REGEXES_PER_STEP_MAX: usize = 64;

/// A deadline of the group has come.
pub(crate) fn on_consumer_group_deadline(turn: &mut Turn<'_>, group_id: &Arc<str>) {
    let due = turn.soft.consumers.take_due(group_id, turn.now.monotonic);
    let hard = turn.hard.group(group_id);
    let Some((hard, group)) = hard.and_then(|hard| Some((hard, hard.consumer()?))) else { return };
    let draft = Draft::of(Arc::clone(hard.id()), group);
    let Some(mut draft) = remove_due(turn, hard, draft, &due) else { return };
    if due.resolves
        && let Some(topics) = turn.soft.consumers.shared_topics()
    {
        resolve(turn, &mut draft, &topics);
    }
    turn.records.extend(draft.into_records());
}

/// Removes who fell silent, or did not do what it had to. Each takes an epoch of its own, as in Kafka. Returns the draft,
/// unless it was finished because the group became a classic one.
fn remove_due<'a>(
    turn: &mut Turn<'_>,
    hard: &HardGroup,
    mut draft: Draft<'a>,
    due: &Due,
) -> Option<Draft<'a>> {
    let topics = turn.soft.consumers.shared_topics();
    for member_id in overdue(turn, &draft, due) {
        let leaving = [Arc::clone(&member_id)];
        if draft.member(&member_id).is_none() {
            continue;
        }
        if !downgrade::is_due(&draft, &leaving, turn.settings) {
            leave::fence(&mut draft, &leaving, topics.as_deref());
        } else if let Some(topics) = &topics {
            leave::remove_for_good(turn, hard, draft, &leaving, topics);
            return None;
        }
        // After a load nobody may have said yet how the topics are called. The others will, and the time comes again.
    }
    Some(draft)
}

/// Who is to be removed. If it cannot be written (a full disk), the member is still there and its time comes again.
fn overdue(turn: &mut Turn<'_>, draft: &Draft<'_>, due: &Due) -> Vec<Arc<str>> {
    let again = turn.now.monotonic.plus_ms(RECORD_CHECK_MS);
    let group_id = draft.group_id();
    let consumers = &mut turn.soft.consumers;
    let mut overdue = Vec::new();
    for member_id in due.silent.iter().filter(|member_id| draft.member(member_id).is_some()) {
        consumers.keep_session(group_id, member_id, again);
        overdue.push(Arc::clone(member_id));
    }
    for (member_id, epoch) in &due.stuck {
        if draft.member(member_id).is_some() && draft.current(member_id).epoch == *epoch {
            consumers.begin_revocation(group_id, member_id, again, *epoch);
            overdue.push(Arc::clone(member_id));
        }
    }
    for (member_id, call) in &due.missing {
        if draft.member(member_id).is_some_and(|member| member.classic.is_some()) {
            consumers.expect(group_id, member_id, *call, again);
            overdue.push(Arc::clone(member_id));
        }
    }
    overdue
}

/// Whether expressions of the group are to be looked up: one never was, or is stale.
pub(super) fn wants_resolution(
    group: &ConsumerGroup,
    settings: &GroupSettings,
    topics: &ClusterTopics,
    now: Now,
) -> bool {
    let mut subscribed = group.members().values().filter_map(|member| member.subscribed_regex.as_ref());
    subscribed.any(|regex| is_wanted(group, regex, settings, topics, now))
}

fn is_wanted(
    group: &ConsumerGroup,
    regex: &Arc<str>,
    settings: &GroupSettings,
    topics: &ClusterTopics,
    now: Now,
) -> bool {
    group.regexes().get(regex).is_none_or(|resolved| is_stale(resolved, settings, topics, now))
}

/// Whether an expression may mean other topics than when it was looked up: topics were added, or much time has passed
/// (which finds those that are gone).
fn is_stale(resolved: &ResolvedRegex, settings: &GroupSettings, topics: &ClusterTopics, now: Now) -> bool {
    let age_ms = now.wall.0.abs_diff(resolved.resolved_at.0);
    let lacks_topics = resolved.version < topics.newest_topic_at();
    (lacks_topics && age_ms > REFRESH_PAUSE_MS) || age_ms > settings.consumer_regex_refresh_interval_ms
}

/// Looks expressions up, and moves the group epoch if that brought other topics.
fn resolve(turn: &mut Turn<'_>, draft: &mut Draft<'_>, topics: &ClusterTopics) {
    let is_wanted = |regex: &&Arc<str>| is_wanted(draft, regex, turn.settings, topics, turn.now);
    let wanted: Vec<Arc<str>> = draft.subscribed_regexes().into_iter().filter(is_wanted).cloned().collect();
    if wanted.len() > REGEXES_PER_STEP_MAX {
        let group_id = Arc::clone(draft.group_id());
        turn.soft.consumers.resolve_at(&group_id, turn.now.monotonic);
    }
    let mut has_changed = false;
    for regex in wanted.into_iter().take(REGEXES_PER_STEP_MAX) {
        let matching = regex::resolve(&regex, topics);
        let known = draft.regexes().get(&regex);
        has_changed |= known.map_or(!matching.is_empty(), |known| known.topics != matching);
        let (version, resolved_at) = (topics.version(), turn.now.wall);
        let resolved = ResolvedRegex { topics: matching, version, resolved_at };
        draft.write(ConsumerChange::Regex(regex, Some(Arc::new(resolved))));
    }
    let hash = draft.hash_of_topics(topics);
    if has_changed || hash != draft.metadata_hash() {
        bump_epoch(draft, hash);
    }
}

/// The group was loaded: each member is given a full session, and who was giving up partitions the full time for that.
pub(crate) fn on_consumer_group_loaded(turn: &mut Turn<'_>, hard: &HardGroup, group: &ConsumerGroup) {
    let now = turn.now.monotonic;
    for (member_id, member) in group.members() {
        let session = now.plus_ms(turn.soft.consumers.session_ms(hard.id(), turn.settings));
        turn.soft.consumers.keep_session(hard.id(), member_id, session);
        let current = group.current(member_id);
        if current.state == MemberState::UnrevokedPartitions {
            let deadline = now.plus_ms(member.rebalance_ms());
            turn.soft.consumers.begin_revocation(hard.id(), member_id, deadline, current.epoch);
        }
    }
}
