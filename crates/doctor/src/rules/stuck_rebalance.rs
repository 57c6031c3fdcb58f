//! A group was rebalancing at both looks.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Fix, Severity};
use crate::time::span;

/// States in which members wait for each other, by Kafka's names.
const REBALANCING: [&str; 4] = ["PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"];
/// A rebalance that takes less is an ordinary one.
const BETWEEN_MIN_MS: i64 = 5_000;

pub(super) const RULE: Rule = Rule {
    id: "stuck-rebalance",
    severity: Severity::Warning,
    why: "while a group rebalances most of its members read nothing; one that processes for long, or has died without a word, keeps all others waiting up to max.poll.interval.ms",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let Some(earlier) = facts.earlier.as_ref().filter(|earlier| earlier.ms >= BETWEEN_MIN_MS) else {
        return Vec::new();
    };
    super::groups(facts, |group| {
        let then = earlier.group(&group.group)?.state.as_deref()?;
        let now = group.state.as_deref()?;
        if ![then, now].iter().all(|state| REBALANCING.contains(state)) {
            return None;
        }
        let says = format!("it was {then}, and {} later {now}", span(earlier.ms));
        Some((says, Fix::milepost("group members", &[&group.group])))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::facts::Earlier;
    use crate::testing::said;

    #[test]
    fn a_rebalance_that_goes_on_is_found() {
        let with = |then: &str, now: &str, ms| {
            said(&RULE, |facts| {
                let mut groups = facts.groups.clone();
                groups[0].state = Some(then.to_owned());
                facts.earlier = Some(Earlier::new(ms, groups));
                facts.groups[0].state = Some(now.to_owned());
            })
        };
        assert_eq!(
            with("PreparingRebalance", "CompletingRebalance", 5_000),
            ["it was PreparingRebalance, and 5 s later CompletingRebalance"]
        );
        assert!(with("PreparingRebalance", "PreparingRebalance", 4_999).is_empty());
        assert!(with("PreparingRebalance", "Stable", 5_000).is_empty());
        assert!(with("Stable", "PreparingRebalance", 5_000).is_empty());
    }
}
