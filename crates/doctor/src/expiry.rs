//! When a committed offset expires, as things stand.

use milepost_model::Timestamp;

use crate::facts::{Facts, GroupFacts, GroupKind, PartitionFacts};

/// When the offset of a position of a group expires if nothing changes: if nobody commits, joins or leaves. None while its clock
/// does not run, as for what a member reads, and where that is not known.
#[must_use]
pub fn expires(facts: &Facts, group: &GroupFacts, one: &PartitionFacts) -> Option<Timestamp> {
    if let Some(explicit) = one.commits?.expires {
        return Some(explicit);
    }
    let retention_ms = facts.cluster.offsets_retention_ms?;
    Some(Timestamp(clock_start(group, one)?.0.saturating_add(retention_ms)))
}

/// When the clock of a position started that runs now, by Kafka's rules (KIP-211). None where it does not run, or where that is
/// not known.
pub(crate) fn clock_start(group: &GroupFacts, one: &PartitionFacts) -> Option<Timestamp> {
    let commits = one.commits?;
    let (state, members) = (group.state.as_deref()?, group.members?);
    let is_subscribed = || group.subscribed.as_ref().is_none_or(|topics| topics.contains(&one.topic));
    match group.kind? {
        GroupKind::OffsetsOnly => Some(commits.last),
        GroupKind::Classic | GroupKind::Connect | GroupKind::ClassicOther if state == "Empty" => {
            Some(group.empty_since.unwrap_or(commits.last))
        }
        GroupKind::Classic => (state == "Stable" && !is_subscribed()).then_some(commits.last),
        GroupKind::Connect | GroupKind::ClassicOther => None,
        GroupKind::Consumer => (members == 0 || !is_subscribed()).then_some(commits.last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::well;

    #[test]
    fn the_clock_runs_from_when_the_group_became_empty_or_from_a_time_of_its_own() {
        let mut facts = well();
        facts.cluster.offsets_retention_ms = Some(100);
        let group = &mut facts.groups[0];
        (group.kind, group.state, group.members) =
            (Some(GroupKind::Classic), Some("Empty".to_owned()), Some(0));
        group.empty_since = Some(Timestamp(5000));
        group.partitions[0].commits.as_mut().unwrap().last = Timestamp(3000);
        let told = |facts: &Facts| expires(facts, &facts.groups[0], &facts.groups[0].partitions[0]);
        assert_eq!(told(&facts), Some(Timestamp(5100)));
        facts.groups[0].empty_since = None;
        assert_eq!(told(&facts), Some(Timestamp(3100)));
        facts.groups[0].partitions[0].commits.as_mut().unwrap().expires = Some(Timestamp(7));
        assert_eq!(told(&facts), Some(Timestamp(7)));
        facts.groups[0].partitions[0].commits.as_mut().unwrap().expires = None;
        facts.groups[0].state = Some("Stable".to_owned());
        assert_eq!(told(&facts), None);
        facts.groups[0].partitions[0].commits = None;
        assert_eq!(told(&facts), None);
    }
}
