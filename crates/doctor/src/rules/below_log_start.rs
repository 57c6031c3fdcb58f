//! The committed offset lies before the first record that is still there.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts};
use crate::finding::{Command, Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "below-log-start",
    severity: Severity::Critical,
    why: "the records in between are gone; the next start of the group falls back to auto.offset.reset, which may skip or repeat far more",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    let ((start, _), offset) = (one.ends()?, one.committed()?);
    if offset >= start {
        return None;
    }
    let says = format!(
        "{} records were deleted before the group read them: it is at {offset}, the log begins at {start}",
        start.0 - offset.0
    );
    Some((says, Command::new("group reset", &[&group.group, "earliest"]).of_topic(one.name()).into()))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::partition;
    use crate::testing::said;

    #[test]
    fn an_offset_before_the_first_record_is_found() {
        let at = |offset| said(&RULE, |facts| facts.groups[0].partitions = vec![partition(0, offset)]);
        assert_eq!(
            at(1),
            ["1 records were deleted before the group read them: it is at 1, the log begins at 2"]
        );
        assert!(at(2).is_empty());
    }
}
