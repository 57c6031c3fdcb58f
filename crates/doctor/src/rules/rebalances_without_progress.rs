//! A group is shared out again and again, and nothing of it moves.

use super::{Hit, Rule};
use crate::facts::{Facts, PartitionFacts};
use crate::finding::{Fix, Severity};

/// How many times without a step forward are no deployment.
const ROUNDS_MIN: u32 = 5;

pub(super) const RULE: Rule = Rule {
    id: "rebalances-without-progress",
    severity: Severity::Warning,
    why: "partitions go from member to member and nobody gets past where they are: each that takes them over crashes or is put out before it commits",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::groups(facts, |group| {
        let rounds = group.rounds_without_progress;
        let lag: i64 = group.partitions.iter().filter_map(PartitionFacts::waiting).sum();
        if rounds < ROUNDS_MIN || lag == 0 {
            return None;
        }
        let says =
            format!("it was shared out anew {rounds} times since it last moved, and {lag} records wait");
        Some((says, Fix::milepost("group peek", &[&group.group])))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{partition, said};

    #[test]
    fn rebalances_are_found_if_nothing_moves_between_them() {
        let with = |rounds, offset| {
            said(&RULE, |facts| {
                facts.groups[0].rounds_without_progress = rounds;
                facts.groups[0].partitions = vec![partition(0, offset)];
            })
        };
        assert_eq!(with(5, 5), ["it was shared out anew 5 times since it last moved, and 5 records wait"]);
        assert!(with(4, 5).is_empty());
        assert!(with(5, 10).is_empty());
    }
}
