//! Partitions of the topic of committed offsets lack replicas in sync.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "offsets-topic-under-replicated",
    severity: Severity::Warning,
    why: "until the replicas have caught up, the loss of another broker may take committed offsets with it",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let Some(topic) = &facts.cluster.offsets_topic else { return Vec::new() };
    let lacking = topic.partitions.iter().filter(|one| one.in_sync < one.all).count();
    if lacking == 0 {
        return Vec::new();
    }
    let says = format!(
        "{lacking} of {} partitions of __consumer_offsets are under-replicated",
        topic.partitions.len()
    );
    let fix = "start the brokers that are missing, or find out why their replicas do not catch up";
    vec![Hit::offsets_topic(says, Fix::ByHand(fix.to_owned()))]
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::said;

    #[test]
    fn a_replica_that_is_not_in_sync_is_found() {
        let found =
            said(&RULE, |facts| facts.cluster.offsets_topic.as_mut().unwrap().partitions[0].in_sync = 2);
        assert_eq!(found, ["1 of 2 partitions of __consumer_offsets are under-replicated"]);
        assert!(said(&RULE, |_| ()).is_empty());
        assert!(said(&RULE, |facts| facts.cluster.offsets_topic = None).is_empty());
    }
}
