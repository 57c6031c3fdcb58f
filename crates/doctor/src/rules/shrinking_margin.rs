//! The first record that is still there comes closer to where a group is.

use super::{Hit, Rule};
use crate::facts::{Facts, PartitionFacts};
use crate::finding::{Fix, Severity};
use crate::time::{HOUR_MS, span};

/// How soon is soon.
const SOON_MS: i64 = HOUR_MS;

pub(super) const RULE: Rule = Rule {
    id: "shrinking-margin",
    severity: Severity::Warning,
    why: "retention deletes records faster than the group reads them: when it gets there, what was not read is lost",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let Some(earlier) = facts.earlier.as_ref().filter(|earlier| earlier.ms > 0) else { return Vec::new() };
    super::partitions(facts, |group, one| {
        let (before, now) = (margin(earlier.partition(&group.group, one)?)?, margin(one)?);
        let lost = before - now;
        // Whoever has read everything loses nothing.
        if lost <= 0 || one.lag()? == 0 {
            return None;
        }
        let left_ms = now.saturating_mul(earlier.ms) / lost;
        if left_ms > SOON_MS {
            return None;
        }
        let says = format!(
            "deletion came {lost} records closer to {} within {}, {now} are left: at this pace {}",
            one.name(),
            span(earlier.ms),
            span(left_ms)
        );
        let fix = Fix::topic_setting(&one.topic, "retention.ms=-1");
        Some((says, fix))
    })
}

/// How many records lie between the first that is still there and where the group is.
fn margin(one: &PartitionFacts) -> Option<i64> {
    let (start, _) = one.ends()?;
    Some(one.committed()?.0 - start.0).filter(|margin| *margin >= 0)
}

#[cfg(test)]
mod tests {
    use milepost_model::Offset;

    use super::RULE;
    use crate::facts::{Earlier, Log};
    use crate::testing::{partition, said};

    #[test]
    fn a_start_that_comes_closer_is_found() {
        let with = |then: i64, now: i64, offset: i64| {
            said(&RULE, |facts| {
                let log = |start| Log::Ends { start: Offset(start), end: Offset(1_000), leader_epoch: None };
                facts.groups[0].partitions = vec![partition(0, offset)];
                let mut groups = facts.groups.clone();
                groups[0].partitions[0].log = log(then);
                facts.groups[0].partitions[0].log = log(now);
                facts.earlier = Some(Earlier::new(30_000, groups));
            })
        };
        assert_eq!(
            with(0, 10, 50),
            ["deletion came 10 records closer to t:0 within 30 s, 40 are left: at this pace 2 minutes"]
        );
        assert!(with(0, 0, 50).is_empty());
        assert!(with(0, 1, 900).is_empty());
        // Below the start already: that is another rule's.
        assert!(with(0, 60, 50).is_empty());
        assert!(with(0, 10, 1_000).is_empty());
    }
}
