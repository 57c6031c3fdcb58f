//! An open transaction holds offsets of the group.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts, Position};
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "pending-transaction",
    severity: Severity::Warning,
    why: "until the transaction ends the group cannot read its position in read_committed mode, and its offsets do not expire",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(_: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    if one.position != Position::Pending {
        return None;
    }
    let fix = Fix::Kafka(["kafka-transactions", "find-hanging"].map(str::to_owned).to_vec());
    Some((format!("an open transaction is about to change {}", one.name()), fix))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::facts::Position;
    use crate::testing::said;

    #[test]
    fn a_pending_offset_is_found() {
        let found = said(&RULE, |facts| facts.groups[0].partitions[0].position = Position::Pending);
        assert_eq!(found, ["an open transaction is about to change t:0"]);
        assert!(said(&RULE, |_| ()).is_empty());
    }
}
