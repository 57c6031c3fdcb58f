//! An offset was committed without the epoch of the leader.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, Log, PartitionFacts, Position};
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "commit-without-epoch",
    severity: Severity::Notice,
    why: "without the leader epoch a consumer cannot notice that the log was cut below its position",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    let (
        Position::Committed { leader_epoch: None, offset, .. },
        Log::Ends { leader_epoch: Some(_), start, .. },
    ) = (&one.position, one.log)
    else {
        return None;
    };
    // Of an offset with nothing before it there is no epoch to tell.
    if *offset <= start {
        return None;
    }
    let fix = format!(
        "use a client for {} that commits epochs (KIP-320), or commit them where it is done by hand",
        group.group
    );
    Some((format!("{} has no leader epoch", one.name()), Fix::ByHand(fix)))
}

#[cfg(test)]
mod tests {
    use milepost_model::Offset;

    use super::RULE;
    use crate::facts::Position;
    use crate::testing::said;

    #[test]
    fn a_commit_without_an_epoch_is_found() {
        let with = |offset| {
            said(&RULE, |facts| {
                let committed = Position::Committed {
                    offset: Offset(offset),
                    leader_epoch: None,
                    metadata: String::new(),
                };
                facts.groups[0].partitions[0].position = committed;
            })
        };
        assert_eq!(with(5), ["t:0 has no leader epoch"]);
        assert!(with(2).is_empty());
        assert!(said(&RULE, |_| ()).is_empty());
    }
}
