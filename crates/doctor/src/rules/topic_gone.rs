//! There are committed offsets for a topic that does not exist.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, Log, PartitionFacts};
use crate::finding::{Command, Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "topic-gone",
    severity: Severity::Warning,
    why: "offsets of a topic that does not exist hide in totals, and a topic that is made under that name again may inherit them",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    if one.log != Log::Gone {
        return None;
    }
    let says = format!("{} does not exist", one.name());
    Some((
        says,
        Command::new("group delete-offsets", &[&group.group]).flag("--gone").flag("--rebuild").into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::facts::Log;
    use crate::testing::said;

    #[test]
    fn a_commit_for_nothing_is_found_and_an_unknown_log_is_not() {
        let with = |log| said(&RULE, |facts| facts.groups[0].partitions[0].log = log);
        assert_eq!(with(Log::Gone), ["t:0 does not exist"]);
        assert!(with(Log::Unknown).is_empty());
    }
}
