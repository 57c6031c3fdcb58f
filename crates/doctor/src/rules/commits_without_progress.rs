//! A position is committed again and again without moving, though records wait.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts};
use crate::finding::{Command, Fix, Severity};

/// How many commits of the same offset are no coincidence.
const UNMOVED_MIN: u32 = 20;

pub(super) const RULE: Rule = Rule {
    id: "commits-without-progress",
    severity: Severity::Warning,
    why: "a member lives and commits but does not get past a record: it fails on it each time, or has paused the partition",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    let commits = one.commits.filter(|commits| commits.unmoved >= UNMOVED_MIN)?;
    let lag = one.waiting()?;
    let says = format!(
        "{} was committed {} times at {} without moving, and {lag} records wait",
        one.name(),
        commits.unmoved,
        commits.offset
    );
    Some((says, Command::new("group peek", &[&group.group]).of_topic(one.name()).into()))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{partition, said, said_of};

    #[test]
    fn commits_of_one_offset_are_found_while_records_wait() {
        let with = |times| said_of(&RULE, |commits| commits.unmoved = times);
        assert_eq!(with(20), ["t:0 was committed 20 times at 5 without moving, and 5 records wait"]);
        assert!(with(19).is_empty());
        let at_end = said(&RULE, |facts| {
            facts.groups[0].partitions = vec![partition(0, 10)];
            facts.groups[0].partitions[0].commits.as_mut().unwrap().unmoved = 20;
        });
        assert!(at_end.is_empty());
    }
}
