//! Most groups that commit have their home in one partition of the log of committed offsets.

use std::collections::BTreeMap;

use milepost_model::{PartitionIndex, partition_for};

use super::{Hit, Rule};
use crate::facts::{Facts, GroupFacts};
use crate::finding::{Fix, Severity};
use crate::time::HOUR_MS;

/// How many busy groups make a crowd.
const GROUPS_MIN: usize = 10;
/// With fewer partitions it is no surprise.
const PARTITIONS_MIN: usize = 4;

pub(super) const RULE: Rule = Rule {
    id: "hot-offsets-partition",
    severity: Severity::Notice,
    why: "one broker coordinates all of them, and its loss or its load is felt by all at once; which partition it is follows from the name alone",
    check,
};

fn check(facts: &Facts) -> Vec<Hit> {
    let partitions = facts.cluster.offsets_topic.as_ref().map_or(0, |topic| topic.partitions.len());
    let Ok(count) = u32::try_from(partitions) else { return Vec::new() };
    let busy: Vec<&GroupFacts> = facts.groups.iter().filter(|group| is_busy(group, facts)).collect();
    if partitions < PARTITIONS_MIN || busy.len() < GROUPS_MIN {
        return Vec::new();
    }
    let mut homes: BTreeMap<PartitionIndex, Vec<&str>> = BTreeMap::new();
    for group in &busy {
        homes.entry(partition_for(&group.group, count)).or_default().push(&group.group);
    }
    let Some((home, crowd)) = homes.into_iter().max_by_key(|(_, crowd)| crowd.len()) else {
        return Vec::new();
    };
    if crowd.len() * 2 <= busy.len() {
        return Vec::new();
    }
    let says = format!(
        "{} of {} busy groups, such as {}, live in partition {home} of __consumer_offsets",
        crowd.len(),
        busy.len(),
        crowd[0]
    );
    let fix = "give some of them other names (milepost group copy takes their offsets along)";
    vec![Hit::offsets_topic(says, Fix::ByHand(fix.to_owned()))]
}

/// Whether it has members or has committed within the last hour.
fn is_busy(group: &GroupFacts, facts: &Facts) -> bool {
    let is_recent = |last: i64| facts.now.is_some_and(|now| now.0 - last < HOUR_MS);
    group.members.is_some_and(|members| members > 0)
        || group.partitions.iter().filter_map(|one| one.commits).any(|commits| is_recent(commits.last.0))
}

#[cfg(test)]
mod tests {
    use milepost_model::partition_for;

    use super::RULE;
    use crate::facts::GroupFacts;
    use crate::testing::said;

    #[test]
    fn a_crowd_in_one_partition_is_found() {
        let with = |at_home: usize, elsewhere: usize| {
            said(&RULE, |facts| {
                let topic = facts.cluster.offsets_topic.as_mut().unwrap();
                let one = topic.partitions[0];
                topic.partitions = vec![one; 50];
                let named = |is_home: bool| {
                    (0..)
                        .map(|number| format!("g{number}"))
                        .filter(move |name| (partition_for(name, 50).0 == 42) == is_home)
                };
                let names = named(true).take(at_home).chain(named(false).take(elsewhere));
                let group = |group| GroupFacts { group, members: Some(1), ..GroupFacts::default() };
                facts.groups = names.map(group).collect();
            })
        };
        assert_eq!(
            with(8, 7),
            ["8 of 15 busy groups, such as g1, live in partition 42 of __consumer_offsets"]
        );
        assert!(with(8, 8).is_empty());
        assert!(with(9, 0).is_empty());
    }
}
