//! The metadata beside an offset is nearly as long as the broker takes.

use super::{Hit, Rule};
use crate::facts::{Facts, Position};
use crate::finding::{Fix, Severity};

/// What the broker takes unless it is set otherwise.
const KAFKAS_DEFAULT_BYTES: i64 = 4096;

pub(super) const RULE: Rule = Rule {
    id: "metadata-near-limit",
    severity: Severity::Warning,
    why: "commits with more metadata than the broker takes fail with OFFSET_METADATA_TOO_LARGE; parallel consumers keep their progress there",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let max = facts.cluster.metadata_max_bytes.unwrap_or(KAFKAS_DEFAULT_BYTES);
    super::partitions(facts, |_, one| {
        let Position::Committed { metadata, .. } = &one.position else { return None };
        // Kafka counts UTF-16 units, whatever the setting is called.
        let length = i64::try_from(metadata.encode_utf16().count()).unwrap_or(i64::MAX);
        if length < max / 10 * 9 {
            return None;
        }
        let says = format!("{length} of {max} bytes of metadata are used for {}", one.name());
        let fix = "raise offset.metadata.max.bytes on every broker, or let the consumer process fewer records out of order";
        Some((says, Fix::ByHand(fix.to_owned())))
    })
}

#[cfg(test)]
mod tests {
    use milepost_model::Offset;

    use super::RULE;
    use crate::facts::Position;
    use crate::testing::said;

    #[test]
    fn metadata_close_to_the_limit_is_found() {
        let with = |length| {
            said(&RULE, |facts| {
                let metadata = "x".repeat(length);
                let committed = Position::Committed { offset: Offset(5), leader_epoch: None, metadata };
                facts.groups[0].partitions[0].position = committed;
            })
        };
        assert_eq!(with(3700), ["3700 of 4096 bytes of metadata are used for t:0"]);
        assert!(with(3600).is_empty());
    }
}
