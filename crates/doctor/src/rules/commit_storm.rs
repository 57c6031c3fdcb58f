//! A position is committed far more often than anybody needs.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts};
use crate::finding::{Fix, Severity};

/// Ten a second: every record is committed by itself, or the pauses between commits are missing.
const A_MINUTE_MIN: u32 = 600;

pub(super) const RULE: Rule = Rule {
    id: "commit-storm",
    severity: Severity::Notice,
    why: "each commit is a replicated write: one consumer that commits every record slows down the coordinator for all groups of its partition",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    let count = one.commits?.most_a_minute;
    if count < A_MINUTE_MIN {
        return None;
    }
    let fix = format!("let the members of {} commit once a second or every few hundred records", group.group);
    Some((format!("{} was committed {count} times within a minute", one.name()), Fix::ByHand(fix)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::said_of;

    #[test]
    fn ten_commits_a_second_are_found() {
        let with = |count| said_of(&RULE, |commits| commits.most_a_minute = count);
        assert_eq!(with(600), ["t:0 was committed 600 times within a minute"]);
        assert!(with(599).is_empty());
    }
}
