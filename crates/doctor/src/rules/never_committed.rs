//! A member has a partition to read for which nothing was ever committed.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts, Position};
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "never-committed",
    severity: Severity::Notice,
    why: "a partition without a commit starts at auto.offset.reset at every restart, and with latest what came meanwhile is skipped",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    if one.position != Position::Never || !one.has_reader {
        return None;
    }
    let fix =
        format!("see that the members of {} commit, or set auto.offset.reset=earliest for them", group.group);
    Some((format!("nothing is committed for {}", one.name()), Fix::ByHand(fix)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::facts::Position;
    use crate::testing::said;

    #[test]
    fn a_partition_that_is_read_and_never_committed_is_found() {
        let with = |has_reader| {
            said(&RULE, |facts| {
                let one = &mut facts.groups[0].partitions[0];
                (one.position, one.has_reader) = (Position::Never, has_reader);
            })
        };
        assert_eq!(with(true), ["nothing is committed for t:0"]);
        assert!(with(false).is_empty());
        assert!(said(&RULE, |facts| facts.groups[0].partitions[0].position = Position::Unknown).is_empty());
    }
}
