//! The committed leader epoch is newer than that of the log.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, Log, PartitionFacts, Position};
use crate::finding::{Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "epoch-newer-than-log",
    severity: Severity::Critical,
    why: "a leader with that epoch is not known to this log: the topic was made again or an older copy of it came back",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    let (
        Position::Committed { leader_epoch: Some(epoch), .. },
        Log::Ends { leader_epoch: Some(current), .. },
    ) = (&one.position, one.log)
    else {
        return None;
    };
    if *epoch <= current {
        return None;
    }
    let says =
        format!("{} was committed in epoch {}, and its log is in epoch {}", one.name(), epoch.0, current.0);
    Some((says, Fix::commit_again(&group.group).of_topic(one.name()).into()))
}

#[cfg(test)]
mod tests {
    use milepost_model::{LeaderEpoch, Offset};

    use super::RULE;
    use crate::facts::Position;
    use crate::testing::said;

    #[test]
    fn an_epoch_that_the_log_has_not_reached_is_found() {
        let with = |epoch| {
            said(&RULE, |facts| {
                let epoch = Some(LeaderEpoch(epoch));
                let committed =
                    Position::Committed { offset: Offset(5), leader_epoch: epoch, metadata: String::new() };
                facts.groups[0].partitions[0].position = committed;
            })
        };
        assert_eq!(with(2), ["t:0 was committed in epoch 2, and its log is in epoch 1"]);
        assert!(with(1).is_empty());
    }
}
