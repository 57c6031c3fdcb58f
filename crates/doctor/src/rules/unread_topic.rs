//! A group with members has offsets of a topic that none of them reads.

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts, PartitionFacts};
use crate::finding::{Command, Fix, Severity};
use crate::time::span;

pub(super) const RULE: Rule = Rule {
    id: "unread-topic",
    severity: Severity::Warning,
    why: "nobody reads this topic for the group any more: its lag grows for ever, and alarms on lag become noise that people ignore",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    super::partitions(facts, |group, one| hit(facts, group, one))
}

fn hit(facts: &Facts, group: &GroupFacts, one: &PartitionFacts) -> Option<(String, Fix)> {
    let is_read = group.subscribed.as_ref()?.contains(&one.topic) || one.has_reader;
    let lag = one.lag().filter(|lag| *lag > 0)?;
    if is_read || group.members? == 0 {
        return None;
    }
    let before = facts.earlier.as_ref().and_then(|earlier| {
        let more = lag - earlier.partition(&group.group, one)?.lag()?;
        Some(format!(", {more} more than {} before", span(earlier.ms)))
    });
    let says =
        format!("no member reads {}, which is {lag} records behind{}", one.topic, before.unwrap_or_default());
    Some((says, Command::new("group delete-offsets", &[&group.group]).of_topic(one.topic.as_str()).into()))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::facts::{Earlier, PartitionFacts};
    use crate::testing::partition;
    use crate::testing::said;

    #[test]
    fn a_topic_without_a_reader_is_found_if_it_lags() {
        let with = |offset, members| {
            said(&RULE, |facts| {
                let group = &mut facts.groups[0];
                (group.subscribed, group.members) = (Some(["other".to_owned()].into()), Some(members));
                group.partitions = vec![PartitionFacts { has_reader: false, ..partition(0, offset) }];
            })
        };
        assert_eq!(with(5, 1), ["no member reads t, which is 5 records behind"]);
        let twice = said(&RULE, |facts| {
            facts.groups[0].subscribed = Some(["other".to_owned()].into());
            facts.groups[0].partitions = vec![PartitionFacts { has_reader: false, ..partition(0, 5) }];
            let mut groups = facts.groups.clone();
            groups[0].partitions[0].position = partition(0, 8).position;
            facts.earlier = Some(Earlier::new(30_000, groups));
        });
        assert_eq!(twice, ["no member reads t, which is 5 records behind, 3 more than 30 s before"]);
        assert!(with(10, 1).is_empty());
        assert!(with(5, 0).is_empty());
        assert!(said(&RULE, |facts| facts.groups[0].subscribed = None).is_empty());
    }
}
