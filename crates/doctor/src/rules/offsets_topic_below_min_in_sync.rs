//! Partitions of the topic of committed offsets have fewer replicas in sync than a write needs.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "offsets-topic-below-min-in-sync",
    severity: Severity::Critical,
    why: "the cluster refuses every commit of these groups with NOT_ENOUGH_REPLICAS, and each of them goes on from an old position",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let Some(topic) = &facts.cluster.offsets_topic else { return Vec::new() };
    let Some(min_in_sync) = topic.min_in_sync else { return Vec::new() };
    let short = topic.partitions.iter().filter(|one| one.in_sync < min_in_sync).count();
    if short == 0 {
        return Vec::new();
    }
    let says = format!(
        "{short} of {} partitions of __consumer_offsets have fewer replicas in sync than min.insync.replicas={min_in_sync}",
        topic.partitions.len()
    );
    vec![Hit::offsets_topic(says, Fix::ByHand("start the brokers that are missing".to_owned()))]
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::said;

    #[test]
    fn too_few_replicas_in_sync_are_found() {
        let found =
            said(&RULE, |facts| facts.cluster.offsets_topic.as_mut().unwrap().partitions[0].in_sync = 1);
        assert_eq!(
            found,
            [
                "1 of 2 partitions of __consumer_offsets have fewer replicas in sync than min.insync.replicas=2"
            ]
        );
        let enough =
            said(&RULE, |facts| facts.cluster.offsets_topic.as_mut().unwrap().partitions[0].in_sync = 2);
        assert!(enough.is_empty());
    }
}
