//! The log of committed offsets has records that cannot be read.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Command, Severity};

pub(super) const RULE: Rule = Rule {
    id: "undecodable-records",
    severity: Severity::Warning,
    why: "a coordinator that meets such a record while it loads may stop there, and then no group of that partition is served; a newer broker may also have written them",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let hit = |log: &crate::facts::LogFacts| {
        let last = log.last_unreadable?;
        let says = format!(
            "{} batches of __consumer_offsets-{} have records that cannot be read, the last at offset {last}",
            log.unreadable, log.partition
        );
        let fix = Command::new("offsets dump", &[]).with("--partition", log.partition.to_string());
        Some(Hit::offsets_topic(says, fix.into()))
    };
    facts.logs.iter().filter_map(hit).collect()
}

#[cfg(test)]
mod tests {
    use milepost_model::Offset;

    use super::RULE;
    use crate::testing::said;

    #[test]
    fn unreadable_records_are_found() {
        let found = said(&RULE, |facts| {
            (facts.logs[0].unreadable, facts.logs[0].last_unreadable) = (2, Some(Offset(7)));
        });
        assert_eq!(
            found,
            ["2 batches of __consumer_offsets-0 have records that cannot be read, the last at offset 7"]
        );
        assert!(said(&RULE, |_| ()).is_empty());
    }
}
