//! Committed offsets are about to expire.

use milepost_model::Timestamp;

use super::{Hit, Rule};
use crate::expiry::clock_start;
use crate::facts::{Facts, GroupFacts, GroupKind, Log, PartitionFacts};
use crate::finding::{Fix, Severity};
use crate::time::{DAY_MS, moment, span};

/// How long before the end it is said, unless all of the retention is not much longer.
const NEAR_MS: i64 = DAY_MS;
/// The part of the retention that it is said at most.
const NEAR_PART: i64 = 4;

pub(super) const RULE: Rule = Rule {
    id: "near-expiry",
    severity: Severity::Warning,
    why: "offsets that have expired are gone: the group starts at auto.offset.reset, and reads everything again or skips what came meanwhile",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let (Some(now), Some(retention_ms)) = (facts.now, facts.cluster.offsets_retention_ms) else {
        return Vec::new();
    };
    let near_ms = NEAR_MS.min(retention_ms / NEAR_PART);
    super::groups(facts, |group| {
        // Explicit times are another rule's.
        let mine = |one: &&PartitionFacts| {
            one.log != Log::Gone && one.commits.is_some_and(|commits| commits.expires.is_none())
        };
        let ends = group.partitions.iter().filter(mine);
        let ends = ends.filter_map(|one| Some(clock_start(group, one)?.0.saturating_add(retention_ms)));
        let soon: Vec<i64> = ends.filter(|end| end - now.0 < near_ms).collect();
        let first = *soon.iter().min()?;
        let says = format!(
            "the offsets of {} of {} partitions expire from {} on, in {}",
            soon.len(),
            group.partitions.len(),
            moment(Timestamp(first)),
            span((first - now.0).max(0))
        );
        Some((says, fix(group)))
    })
}

fn fix(group: &GroupFacts) -> Fix {
    // Only where the clock counts from the last commit does another commit help.
    let counts_from_commit = matches!(group.kind, Some(GroupKind::OffsetsOnly | GroupKind::Consumer));
    if !counts_from_commit || group.members != Some(0) {
        let keep = format!(
            "start a member of {} that reads these topics, or keep its offsets with milepost group snapshot create",
            group.group
        );
        return Fix::ByHand(keep);
    }
    Fix::commit_again(&group.group).flag("--all").into()
}

#[cfg(test)]
mod tests {
    use milepost_model::Timestamp;

    use super::RULE;
    use crate::facts::GroupKind;
    use crate::finding::{Command, Fix};
    use crate::testing::{DAY_MS, NOW, said, well};

    #[test]
    fn another_commit_is_advised_only_where_it_helps() {
        let fix = |kind: GroupKind| {
            let mut facts = well();
            let group = &mut facts.groups[0];
            (group.kind, group.state, group.members) = (Some(kind), Some("Empty".to_owned()), Some(0));
            group.partitions[0].commits.as_mut().unwrap().last = Timestamp(NOW.0 - 7 * DAY_MS);
            RULE.find(&facts).remove(0).fix
        };
        let again =
            Fix::from(Command::new("group reset", &["g", "+0"]).flag("--keep-metadata").flag("--all"));
        assert_eq!(fix(GroupKind::OffsetsOnly), again);
        assert_eq!(fix(GroupKind::Consumer), again);
        assert!(matches!(fix(GroupKind::Classic), Fix::ByHand(_)));
        assert!(matches!(fix(GroupKind::Connect), Fix::ByHand(_)));
    }

    /// A group without members whose last commit is so old; retention is seven days.
    fn with(kind: GroupKind, age_ms: i64, empty_ms: Option<i64>) -> Vec<String> {
        said(&RULE, |facts| {
            let group = &mut facts.groups[0];
            (group.kind, group.state, group.members) = (Some(kind), Some("Empty".to_owned()), Some(0));
            group.empty_since = empty_ms.map(|ms| Timestamp(NOW.0 - ms));
            group.partitions[0].commits.as_mut().unwrap().last = Timestamp(NOW.0 - age_ms);
        })
    }

    #[test]
    fn an_end_within_a_day_is_found_with_its_date() {
        let found = ["the offsets of 1 of 1 partitions expire from 2023-11-15T10:13:20Z on, in 12 hours"];
        let old_ms = 6 * DAY_MS + DAY_MS / 2;
        assert_eq!(with(GroupKind::OffsetsOnly, old_ms, None), found);
        assert_eq!(with(GroupKind::Consumer, old_ms, None), found);
        assert_eq!(with(GroupKind::Classic, old_ms, Some(old_ms)), found);
        assert!(with(GroupKind::OffsetsOnly, 5 * DAY_MS, None).is_empty());
        // It counts from when the last member left.
        assert!(with(GroupKind::Classic, old_ms, Some(DAY_MS)).is_empty());
    }

    #[test]
    fn a_group_with_members_loses_only_what_it_does_not_subscribe_to() {
        let with = |topic: &str| {
            said(&RULE, |facts| {
                let group = &mut facts.groups[0];
                group.subscribed = Some([topic.to_owned()].into());
                group.partitions[0].commits.as_mut().unwrap().last = Timestamp(NOW.0 - 7 * DAY_MS);
            })
        };
        assert_eq!(
            with("other"),
            ["the offsets of 1 of 1 partitions expire from 2023-11-14T22:13:20Z on, in 0 s"]
        );
        assert!(with("t").is_empty());
    }
}
