//! The log of committed offsets is far larger than what it has to remember.

use super::{Hit, Rule};
use crate::facts::Facts;
use crate::finding::{Fix, Severity};

/// What the cleaner leaves alone: the segment that is written to, and as much again before it starts, with one to spare.
const SEGMENTS_MAX: u64 = 4;
/// How many records there may be for each position that counts.
const RECORDS_A_POSITION_MAX: usize = 10;
/// `offsets.topic.segment.bytes`, unless it is set otherwise.
const KAFKAS_DEFAULT_BYTES: u64 = 100 << 20;

pub(super) const RULE: Rule = Rule {
    id: "offsets-topic-not-cleaned",
    severity: Severity::Warning,
    why: "the cleaner has stopped or cannot keep up: the log grows without end, and a coordinator that has to load it keeps its groups waiting",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let topic = facts.cluster.offsets_topic.as_ref();
    let segment_bytes = topic.and_then(|topic| topic.segment_bytes).unwrap_or(KAFKAS_DEFAULT_BYTES);
    let is_large = |log: &&crate::facts::LogFacts| {
        log.bytes > segment_bytes.saturating_mul(SEGMENTS_MAX)
            && log.records / RECORDS_A_POSITION_MAX > log.live
    };
    let large: Vec<_> = facts.logs.iter().filter(is_large).collect();
    let Some(worst) = large.iter().max_by_key(|log| log.bytes) else { return Vec::new() };
    let says = format!(
        "{} partitions of __consumer_offsets are not cleaned, such as {}: {} records in {} KiB for {} positions",
        large.len(),
        worst.partition,
        worst.records,
        worst.bytes >> 10,
        worst.live
    );
    let fix = "look for the log cleaner's last words in the brokers' logs (log-cleaner.log); a restart of the broker starts it again";
    vec![Hit::offsets_topic(says, Fix::ByHand(fix.to_owned()))]
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::said;

    #[test]
    fn a_log_of_old_commits_is_found() {
        let with = |bytes, records| {
            said(&RULE, |facts| (facts.logs[0].bytes, facts.logs[0].records) = (bytes, records))
        };
        assert_eq!(
            with(500 << 20, 3_000_000),
            [
                "1 partitions of __consumer_offsets are not cleaned, such as 0: 3000000 records in 512000 KiB for 1 positions"
            ]
        );
        assert!(with(400 << 20, 3_000_000).is_empty());
        assert!(with(500 << 20, 19).is_empty());
    }
}
