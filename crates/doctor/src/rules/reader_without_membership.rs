//! Somebody commits for a group that has no members.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupKind};
use crate::finding::{Fix, Severity};
use crate::time::{MINUTE_MS, span};

/// How long ago somebody still reads.
const RECENT_MS: i64 = 10 * MINUTE_MS;
/// How often a position must have moved to be a reader's, rather than an administrator's.
const MOVES_MIN: u32 = 3;

pub(super) const RULE: Rule = Rule {
    id: "reader-without-membership",
    severity: Severity::Notice,
    why: "the group looks idle and is not: a reset is taken, and the next commit of the reader undoes it; readers that keep their positions elsewhere, such as Flink in its checkpoints, never even look at it",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let Some(now) = facts.now else { return Vec::new() };
    super::groups(facts, |group| {
        if group.kind != Some(GroupKind::OffsetsOnly) || group.members != Some(0) {
            return None;
        }
        let read = group
            .partitions
            .iter()
            .filter_map(|one| one.commits)
            .filter(|commits| commits.moves >= MOVES_MIN);
        let last = read.map(|commits| commits.last).max()?;
        let ago_ms = (now.0 - last.0).max(0);
        if ago_ms > RECENT_MS {
            return None;
        }
        let says = format!("it has no members, and somebody committed for it {} ago", span(ago_ms));
        let fix = format!(
            "stop the program that reads for {} before its offsets are changed, and move its own positions with it",
            group.group
        );
        Some((says, Fix::ByHand(fix)))
    })
}

#[cfg(test)]
mod tests {
    use milepost_model::Timestamp;

    use super::RULE;
    use crate::facts::GroupKind;
    use crate::testing::{NOW, said};

    #[test]
    fn commits_without_members_are_found_while_they_go_on() {
        let with = |moves: u32, ago_ms: i64, kind| {
            said(&RULE, |facts| {
                let group = &mut facts.groups[0];
                (group.members, group.kind) = (Some(0), Some(kind));
                let commits = group.partitions[0].commits.as_mut().unwrap();
                (commits.moves, commits.last) = (moves, Timestamp(NOW.0 - ago_ms));
            })
        };
        assert_eq!(
            with(3, 12_000, GroupKind::OffsetsOnly),
            ["it has no members, and somebody committed for it 12 s ago"]
        );
        assert!(with(2, 12_000, GroupKind::OffsetsOnly).is_empty());
        assert!(with(3, 3_600_000, GroupKind::OffsetsOnly).is_empty());
        assert!(with(3, 12_000, GroupKind::Classic).is_empty());
    }
}
