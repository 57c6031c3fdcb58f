//! A position that somebody reads for did not move between two looks, though records wait.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Command, Severity};
use crate::time::span;

/// Consumers commit every five seconds unless they are told otherwise; twice that must show something.
const BETWEEN_MIN_MS: i64 = 10_000;

pub(super) const RULE: Rule = Rule {
    id: "unmoved-between-looks",
    severity: Severity::Notice,
    why: "a member has the partition and does not get on with it: it is slow, stuck on a record, or commits seldom",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let Some(earlier) = facts.earlier.as_ref().filter(|earlier| earlier.ms >= BETWEEN_MIN_MS) else {
        return Vec::new();
    };
    super::partitions(facts, |group, one| {
        let then = earlier.partition(&group.group, one)?;
        then.waiting()?;
        let lag = one.waiting()?;
        let has_moved = then.committed()? != one.committed()?;
        if has_moved || !(then.has_reader && one.has_reader) {
            return None;
        }
        let says = format!(
            "{} stayed at {} for {}, and {lag} records wait",
            one.name(),
            one.committed()?,
            span(earlier.ms)
        );
        Some((says, Command::new("group peek", &[&group.group]).of_topic(one.name()).into()))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::facts::Earlier;
    use crate::testing::{partition, said};

    #[test]
    fn a_position_that_stays_is_found() {
        let with = |then, now, ms| {
            said(&RULE, |facts| {
                let mut groups = facts.groups.clone();
                groups[0].partitions = vec![partition(0, then)];
                facts.earlier = Some(Earlier::new(ms, groups));
                facts.groups[0].partitions = vec![partition(0, now)];
            })
        };
        assert_eq!(with(5, 5, 10_000), ["t:0 stayed at 5 for 10 s, and 5 records wait"]);
        assert!(with(5, 6, 10_000).is_empty());
        assert!(with(10, 10, 10_000).is_empty());
        // That may be the marker of a transaction.
        assert!(with(9, 9, 10_000).is_empty());
        assert!(with(5, 5, 9_999).is_empty());
    }
}
