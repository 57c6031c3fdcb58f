//! A member has not followed its group into a new epoch between two looks.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Fix, Severity};
use crate::time::span;

/// Members say that they are there every five seconds unless they are told otherwise, and learn of an epoch then.
const BETWEEN_MIN_MS: i64 = 5_000;

pub(super) const RULE: Rule = Rule {
    id: "member-behind",
    severity: Severity::Warning,
    why: "it keeps partitions that others are to have, who wait for them; it hangs in its rebalance listener, does not poll, or has died and its session goes on",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let Some(earlier) = facts.earlier.as_ref().filter(|earlier| earlier.ms >= BETWEEN_MIN_MS) else {
        return Vec::new();
    };
    super::groups(facts, |group| {
        let (epoch, then) = (group.epoch?, earlier.group(&group.group)?);
        let has_stayed = |(member, epoch): &(&String, &i32)| then.members_behind.get(*member) == Some(*epoch);
        let stayed: Vec<_> = group.members_behind.iter().filter(has_stayed).collect();
        let (first, its_epoch) = *stayed.first()?;
        let more = match stayed.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let says = format!(
            "the member {first}{more} stayed in epoch {its_epoch} for {}, and the group is in {epoch}",
            span(earlier.ms)
        );
        Some((says, Fix::milepost("group members", &[&group.group])))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::RULE;
    use crate::facts::Earlier;
    use crate::testing::said;

    #[test]
    fn a_member_that_stays_behind_is_found() {
        let with = |then: &[(&str, i32)], now: &[(&str, i32)], ms| {
            let behind = |members: &[(&str, i32)]| {
                members
                    .iter()
                    .map(|(member, epoch)| ((*member).to_owned(), *epoch))
                    .collect::<BTreeMap<_, _>>()
            };
            said(&RULE, |facts| {
                let mut groups = facts.groups.clone();
                groups[0].members_behind = behind(then);
                facts.earlier = Some(Earlier::new(ms, groups));
                (facts.groups[0].epoch, facts.groups[0].members_behind) = (Some(5), behind(now));
            })
        };
        assert_eq!(
            with(&[("a", 3), ("b", 3)], &[("a", 3), ("b", 3)], 5_000),
            ["the member a and 1 more stayed in epoch 3 for 5 s, and the group is in 5"]
        );
        // It follows, if slowly.
        assert!(with(&[("a", 3)], &[("a", 4)], 5_000).is_empty());
        assert!(with(&[], &[("a", 4)], 5_000).is_empty());
        assert!(with(&[("a", 3)], &[("a", 3)], 4_999).is_empty());
    }
}
