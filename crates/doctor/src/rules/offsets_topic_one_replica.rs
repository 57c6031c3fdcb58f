//! The topic of committed offsets has one replica, though the cluster has more brokers.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "offsets-topic-one-replica",
    severity: Severity::Warning,
    why: "with one replica the loss of one disk is the loss of every committed offset on it",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let Some(topic) = &facts.cluster.offsets_topic else { return Vec::new() };
    let alone = topic.partitions.iter().filter(|one| one.all == 1).count();
    if alone == 0 || facts.cluster.brokers < 2 {
        return Vec::new();
    }
    let says =
        format!("{alone} of {} partitions of __consumer_offsets have one replica", topic.partitions.len());
    let fix = "kafka-reassign-partitions with more replicas for __consumer_offsets, and offsets.topic.replication.factor=3";
    vec![Hit::offsets_topic(says, Fix::ByHand(fix.to_owned()))]
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::said;

    #[test]
    fn one_replica_is_found_where_there_could_be_more() {
        let found = said(&RULE, |facts| facts.cluster.offsets_topic.as_mut().unwrap().partitions[1].all = 1);
        assert_eq!(found, ["1 of 2 partitions of __consumer_offsets have one replica"]);
        let one_broker = said(&RULE, |facts| {
            facts.cluster.offsets_topic.as_mut().unwrap().partitions[1].all = 1;
            facts.cluster.brokers = 1;
        });
        assert!(one_broker.is_empty());
        assert!(said(&RULE, |_| ()).is_empty());
    }
}
