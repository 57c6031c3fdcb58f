//! The committed offset lies behind the end of the log.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts};
use crate::finding::{Command, Fix, Severity};

pub(super) const RULE: Rule = Rule {
    id: "beyond-log-end",
    severity: Severity::Critical,
    why: "the log was cut or the topic made again, or a mirror such as MirrorMaker 2 wrote offsets that are not here yet: what is written from now on is skipped until the log has grown past this offset",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, hit)
}

fn hit(group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    let ((start, end), offset) = (one.ends()?, one.committed()?);
    if offset <= end {
        return None;
    }
    // What the log has now may be of a topic made anew, which nobody has read: nothing of it may be passed over.
    let says = match end.0 - start.0 {
        0 => format!("the group is at {offset}, and the log ends at {end}"),
        left => format!(
            "the group is at {offset}, and the log ends at {end}: earliest reads the {left} offsets that it has, latest would skip them"
        ),
    };
    Some((says, Command::new("group reset", &[&group.group, "earliest"]).of_topic(one.name()).into()))
}

#[cfg(test)]
mod tests {
    use milepost_model::Offset;

    use super::RULE;
    use crate::facts::{Log, PartitionFacts};
    use crate::finding::Fix;
    use crate::testing::{partition, said, well};

    #[test]
    fn an_offset_behind_the_end_is_found() {
        let at = |offset| said(&RULE, |facts| facts.groups[0].partitions = vec![partition(0, offset)]);
        let found = "the group is at 11, and the log ends at 10: earliest reads the 8 offsets that it has, latest would skip them";
        assert_eq!(at(11), [found]);
        assert!(at(10).is_empty());
        let of_nothing = said(&RULE, |facts| {
            let log = Log::Ends { start: Offset(10), end: Offset(10), leader_epoch: None };
            facts.groups[0].partitions = vec![PartitionFacts { log, ..partition(0, 11) }];
        });
        assert_eq!(of_nothing, ["the group is at 11, and the log ends at 10"]);
    }

    #[test]
    fn the_fix_skips_nothing_of_a_topic_made_anew() {
        let mut facts = well();
        facts.groups[0].partitions = vec![partition(0, 11)];
        let Fix::Milepost(command) = RULE.find(&facts).remove(0).fix else { panic!("no command") };
        assert_eq!(command.operands, ["g", "earliest"]);
    }
}
