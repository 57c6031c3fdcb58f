//! Offsets were committed with an expiry of their own.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Fix, Severity};
use crate::time::{moment, span};

pub(super) const RULE: Rule = Rule {
    id: "explicit-expiry",
    severity: Severity::Warning,
    why: "such an offset expires at its time even while the group reads, whatever offsets.retention.minutes says, and has no leader epoch",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::groups(facts, |group| {
        let explicit =
            group.partitions.iter().filter_map(|one| one.commits.filter(|it| it.expires.is_some()));
        let explicit: Vec<_> = explicit.collect();
        let first = explicit.iter().min_by_key(|commits| commits.expires)?;
        let expires = first.expires?;
        let after = match expires.0 - first.last.0 {
            ..=0 => "at once".to_owned(),
            ms => format!("{} after its commit", span(ms)),
        };
        let says = format!(
            "the offsets of {} of {} partitions have an expiry of their own, the first {} ({after})",
            explicit.len(),
            group.partitions.len(),
            moment(expires)
        );
        let fix = format!(
            "let the clients of {} commit without a retention time (OffsetCommit from version 5 on has none), or with -1",
            group.group
        );
        Some((says, Fix::ByHand(fix)))
    })
}

#[cfg(test)]
mod tests {
    use milepost_model::Timestamp;

    use super::RULE;
    use crate::testing::{NOW, said_of};

    #[test]
    fn an_expiry_of_its_own_is_found() {
        let with = |after_ms: Option<i64>| {
            said_of(&RULE, |commits| commits.expires = after_ms.map(|ms| Timestamp(NOW.0 + ms)))
        };
        let head = "the offsets of 1 of 1 partitions have an expiry of their own, the first";
        assert_eq!(
            with(Some(600_000)),
            [format!("{head} 2023-11-14T22:23:20Z (10 minutes after its commit)")]
        );
        assert_eq!(with(Some(0)), [format!("{head} 2023-11-14T22:13:20Z (at once)")]);
        assert!(with(None).is_empty());
    }
}
