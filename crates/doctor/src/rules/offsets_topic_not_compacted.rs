//! The topic of committed offsets is not compacted, or not only.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "offsets-topic-not-compacted",
    severity: Severity::Critical,
    why: "with cleanup.policy=delete commits are removed by age, of groups that are alive as well; without compaction the topic grows for ever",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let policy = facts.cluster.offsets_topic.as_ref().and_then(|topic| topic.cleanup_policy.as_deref());
    match policy {
        None | Some("compact") => Vec::new(),
        Some(policy) => {
            let fix = Fix::topic_setting("__consumer_offsets", "cleanup.policy=compact");
            vec![Hit::offsets_topic(format!("__consumer_offsets has cleanup.policy={policy}"), fix)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::said;

    #[test]
    fn any_other_policy_is_found() {
        for policy in ["delete", "compact,delete"] {
            let found = said(&RULE, |facts| {
                facts.cluster.offsets_topic.as_mut().unwrap().cleanup_policy = Some(policy.to_owned());
            });
            assert_eq!(found, [format!("__consumer_offsets has cleanup.policy={policy}")]);
        }
        assert!(said(&RULE, |_| ()).is_empty());
        let unseen = said(&RULE, |facts| facts.cluster.offsets_topic.as_mut().unwrap().cleanup_policy = None);
        assert!(unseen.is_empty());
    }
}
