//! The first step of a heartbeat: what the member says about itself is recorded, and the group epoch moves if that (or the
//! topics themselves) makes another assignment necessary.

use std::sync::Arc;

use super::record::{ConsumerChange, ConsumerMember, Epoch, GroupEpoch};
use super::topics::ClusterTopics;
use super::{Draft, regex};
use crate::{GroupError, GroupSettings};

/// What a member's words change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changed {
    /// It subscribes to other topics than before, or by another expression.
    pub(super) subscription: bool,
    /// Another assignment is needed.
    pub(super) needs_assignment: bool,
}

/// Records what a member says about itself, if it differs from `before`, which is `None` for a new member.
pub(super) fn update_member(
    draft: &mut Draft<'_>,
    settings: &GroupSettings,
    member_id: &Arc<str>,
    before: Option<&ConsumerMember>,
    after: ConsumerMember,
) -> Result<Changed, GroupError> {
    if before == Some(&after) {
        return Ok(Changed::default());
    }
    let nobody = ConsumerMember::default();
    let known = before.unwrap_or(&nobody);
    let names_changed = known.subscribed_topics != after.subscribed_topics;
    let old_regex = known.subscribed_regex.clone();
    let new_regex = after.subscribed_regex.clone();
    let assignor_before = draft.preferred_assignor(settings);
    draft.write(ConsumerChange::Member(Arc::clone(member_id), Some(Arc::new(after))));
    let regex_resolved = update_regex(draft, member_id, old_regex.as_ref(), new_regex.as_ref())?;
    let assignor_changed = draft.preferred_assignor(settings) != assignor_before;
    Ok(Changed {
        subscription: names_changed || old_regex != new_regex,
        needs_assignment: names_changed || regex_resolved || assignor_changed,
    })
}

/// Returns whether the topics that the member subscribes to by expression are other ones at once. An expression that is
/// new to the group is looked up later, and the epoch moves then.
fn update_regex(
    draft: &mut Draft<'_>,
    member_id: &str,
    old: Option<&Arc<str>>,
    new: Option<&Arc<str>>,
) -> Result<bool, GroupError> {
    if old == new {
        return Ok(false);
    }
    if let Some(old) = old.filter(|old| !draft.is_regex_of_others(old, member_id)) {
        draft.write(ConsumerChange::Regex(Arc::clone(old), None));
    }
    let Some(new) = new else { return Ok(true) };
    if draft.is_regex_of_others(new, member_id) {
        return Ok(draft.regexes().contains_key(new));
    }
    regex::compile(new)?;
    Ok(false)
}

/// Moves the group epoch if it must, or if the topics are not what they were when it last moved.
pub(super) fn update_epoch(draft: &mut Draft<'_>, topics: &ClusterTopics, needs_assignment: bool) {
    let metadata_hash = draft.hash_of_topics(topics);
    if needs_assignment || metadata_hash != draft.metadata_hash() {
        bump_epoch(draft, metadata_hash);
    }
    if draft.has_old_topics() {
        draft.write(ConsumerChange::OldTopics(None));
    }
}

/// Moves the group epoch.
pub(super) fn bump_epoch(draft: &mut Draft<'_>, metadata_hash: i64) -> Epoch {
    let epoch = draft.epoch().next();
    draft.write(ConsumerChange::Group(Some(GroupEpoch { epoch, metadata_hash })));
    epoch
}
