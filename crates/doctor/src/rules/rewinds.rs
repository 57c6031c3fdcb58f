//! A committed offset went back, again and again.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts};
use crate::finding::{Command, Fix, Severity};
use crate::time::moment;

/// Once may have been a reset.
const REWINDS_MIN: u32 = 2;

pub(super) const RULE: Rule = Rule {
    id: "rewinds",
    severity: Severity::Warning,
    why: "records are read again each time: a member commits what it had stored before a rebalance, or an older commit arrives after a newer one",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    let commits = one.commits.filter(|commits| commits.rewinds >= REWINDS_MIN)?;
    let (from, to, time) = commits.last_rewind?;
    let says = format!(
        "{} went back {} times, last from {from} to {to} at {}",
        one.name(),
        commits.rewinds,
        moment(time)
    );
    let fix = Command::new("offsets history", &[]).with("--group", group.group.as_str());
    let fix = fix.of_topic(one.topic.as_str()).into();
    Some((says, fix))
}

#[cfg(test)]
mod tests {
    use milepost_model::Offset;

    use super::RULE;
    use crate::testing::{NOW, said_of};

    #[test]
    fn going_back_more_than_once_is_found() {
        let with = |times| {
            said_of(&RULE, |commits| {
                (commits.rewinds, commits.last_rewind) = (times, Some((Offset(9), Offset(4), NOW)));
            })
        };
        assert_eq!(with(2), ["t:0 went back 2 times, last from 9 to 4 at 2023-11-14T22:13:20Z"]);
        assert!(with(1).is_empty());
    }
}
