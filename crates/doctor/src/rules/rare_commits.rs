//! A member reads a partition and has not committed for long, though there is something to read.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts};
use crate::finding::{Fix, Severity};
use crate::time::{HOUR_MS, span};

/// How long is long.
const LONG_MS: i64 = HOUR_MS;

pub(super) const RULE: Rule = Rule {
    id: "rare-commits",
    severity: Severity::Warning,
    why: "whatever was read since the last commit is read again after a restart; if nothing was, the member is stuck",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let Some(now) = facts.now else { return Vec::new() };
    super::partitions(facts, |group, one| hit(group, one, now.0))
}

fn hit(group: &GroupFacts, one: &PartitionFacts, now_ms: i64) -> Option<(String, Fix)> {
    let ago_ms = now_ms - one.commits?.last.0;
    let lag = one.waiting()?;
    if !one.has_reader || ago_ms < LONG_MS {
        return None;
    }
    let says = format!("{} was last committed {} ago, and {lag} records wait", one.name(), span(ago_ms));
    let fix = format!(
        "see that the members of {} process and commit (enable.auto.commit, or a commit after each poll)",
        group.group
    );
    Some((says, Fix::ByHand(fix)))
}

#[cfg(test)]
mod tests {
    use milepost_model::Timestamp;

    use super::RULE;
    use crate::testing::{NOW, said};

    #[test]
    fn a_reader_that_has_not_committed_for_an_hour_is_found() {
        let with = |has_reader, ago_ms: i64| {
            said(&RULE, |facts| {
                let one = &mut facts.groups[0].partitions[0];
                one.has_reader = has_reader;
                one.commits.as_mut().unwrap().last = Timestamp(NOW.0 - ago_ms);
            })
        };
        assert_eq!(with(true, 7_200_000), ["t:0 was last committed 2 hours ago, and 5 records wait"]);
        assert!(with(true, 3_599_999).is_empty());
        assert!(with(false, 7_200_000).is_empty());
    }
}
