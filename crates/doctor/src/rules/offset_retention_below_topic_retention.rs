//! Committed offsets expire before the records they point to.

use super::{Hit, Rule};
use crate::facts::{Facts, TopicFacts};
use crate::finding::{Fix, Severity};

const HOUR_MS: i64 = 3_600_000;

pub(super) const RULE: Rule = Rule {
    id: "offset-retention-below-topic-retention",
    severity: Severity::Warning,
    why: "the offsets of a group that is away expire while its records are still there; it then starts at an end of the log",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let Some(offsets_ms) = facts.cluster.offsets_retention_ms else { return Vec::new() };
    let hit = |(name, topic): (&String, &TopicFacts)| {
        // A topic that is only compacted keeps its records whatever retention.ms says.
        let is_deleted = topic.cleanup_policy.as_deref().is_none_or(|policy| policy.contains("delete"));
        let keeps_ms =
            topic.retention_ms.filter(|_| is_deleted).map(|ms| if ms < 0 { i64::MAX } else { ms })?;
        if keeps_ms <= offsets_ms {
            return None;
        }
        let keeps = if keeps_ms == i64::MAX {
            "for ever".to_owned()
        } else {
            format!("for {} hours", keeps_ms / HOUR_MS)
        };
        let says = format!(
            "{name} keeps records {keeps}, committed offsets of an empty group last {} hours",
            offsets_ms / HOUR_MS
        );
        let fix = "set offsets.retention.minutes on every broker above the longest retention of a topic";
        Some(Hit::topic(name, says, Fix::ByHand(fix.to_owned())))
    };
    facts.topics.iter().filter_map(hit).collect()
}

#[cfg(test)]
mod tests {
    use super::HOUR_MS;
    use super::RULE;
    use crate::testing::said;

    #[test]
    fn a_longer_retention_of_a_topic_is_found() {
        let with = |retention_ms: i64, policy: &str| {
            said(&RULE, |facts| {
                let topic = facts.topics.get_mut("t").unwrap();
                (topic.retention_ms, topic.cleanup_policy) = (Some(retention_ms), Some(policy.to_owned()));
            })
        };
        let tail = ", committed offsets of an empty group last 168 hours";
        assert_eq!(with(8 * 24 * HOUR_MS, "delete"), [format!("t keeps records for 192 hours{tail}")]);
        assert_eq!(with(-1, "compact,delete"), [format!("t keeps records for ever{tail}")]);
        assert!(with(7 * 24 * HOUR_MS, "delete").is_empty());
        assert!(with(-1, "compact").is_empty());
    }
}
