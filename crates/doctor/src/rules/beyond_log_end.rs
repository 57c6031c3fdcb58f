//! The committed offset lies behind the end of the log.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts};
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "beyond-log-end",
    severity: Severity::Critical,
    why: "the log was cut or the topic made again, or a mirror such as MirrorMaker 2 wrote offsets that are not here yet: what is written from now on is skipped until the log has grown past this offset",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    let ((_, end), offset) = (one.ends()?, one.committed()?);
    if offset <= end {
        return None;
    }
    let says = format!("the group is at {offset}, and the log ends at {end}");
    Some((says, Fix::milepost(&["group", "reset", &group.group, "latest", "--topic", &one.name()])))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::partition;
    use crate::testing::said;

    #[test]
    fn an_offset_behind_the_end_is_found() {
        let at = |offset| said(&RULE, |facts| facts.groups[0].partitions = vec![partition(0, offset)]);
        assert_eq!(at(11), ["the group is at 11, and the log ends at 10"]);
        assert!(at(10).is_empty());
    }
}
