//! The topic of committed offsets has another number of partitions than the brokers are set to.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "offsets-topic-partitions-changed",
    severity: Severity::Critical,
    why: "which partition keeps a group follows from their number: with another one groups do not find what they have committed",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let there = facts.cluster.offsets_topic.as_ref().map(|topic| topic.partitions.len());
    match (there, facts.cluster.offsets_partitions) {
        (Some(there), Some(set)) if there != set => {
            let says =
                format!("__consumer_offsets has {there} partitions, and offsets.topic.num.partitions={set}");
            let fix =
                format!("set offsets.topic.num.partitions={there} on every broker, and never change it");
            vec![Hit::offsets_topic(says, Fix::ByHand(fix))]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::said;

    #[test]
    fn another_number_is_found() {
        let found = said(&RULE, |facts| facts.cluster.offsets_partitions = Some(50));
        assert_eq!(found, ["__consumer_offsets has 2 partitions, and offsets.topic.num.partitions=50"]);
        assert!(said(&RULE, |facts| facts.cluster.offsets_partitions = None).is_empty());
        assert!(said(&RULE, |_| ()).is_empty());
    }
}
