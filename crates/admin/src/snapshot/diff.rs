//! How two snapshots differ.

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::TopicPartition;
use milepost_client::groups::Committed;

use super::Snapshot;

/// A partition of a group of which they say different things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The group.
    pub group: String,
    /// The partition.
    pub partition: TopicPartition,
    /// What the older says.
    pub old: Option<Committed>,
    /// What the newer says.
    pub new: Option<Committed>,
}

/// What differs, by group and partition. What a snapshot does not speak of is nothing committed, unless it has only some
/// partitions of the group: then it is not known, and no difference.
#[must_use]
pub fn diff(old: &Snapshot, new: &Snapshot) -> Vec<Difference> {
    let (old_parts, new_parts) = (old.part_groups(), new.part_groups());
    let (old, new) = (old.groups(), new.groups());
    let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let mut differences = Vec::new();
    for group in names {
        let (before, after) = (old.get(group), new.get(group));
        let partitions: BTreeSet<&TopicPartition> =
            before.into_iter().chain(after).flat_map(|of_group| of_group.keys()).collect();
        for partition in partitions {
            let is_silent = |parts: &BTreeSet<&str>, of_group: Option<&BTreeMap<TopicPartition, _>>| {
                parts.contains(group) && of_group.is_none_or(|of_group| !of_group.contains_key(partition))
            };
            if is_silent(&old_parts, before) || is_silent(&new_parts, after) {
                continue;
            }
            let was = before.and_then(|of_group| of_group.get(partition)).cloned().flatten();
            let is = after.and_then(|of_group| of_group.get(partition)).cloned().flatten();
            if was != is {
                differences.push(Difference {
                    group: group.to_owned(),
                    partition: partition.clone(),
                    old: was,
                    new: is,
                });
            }
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use milepost_model::{Offset, PartitionIndex};

    use super::*;
    use crate::snapshot::{Captured, Header, Place, Row};

    fn snapshot(places: &[(&str, i32, Option<i64>)]) -> Snapshot {
        let row = |(group, partition, offset): &(&str, i32, Option<i64>)| Row {
            group: (*group).to_owned(),
            place: Some(Place {
                partition: TopicPartition::new("t", PartitionIndex(*partition)),
                topic_id: None,
                committed: offset.map(|offset| Committed {
                    offset: Offset(offset),
                    leader_epoch: None,
                    metadata: String::new(),
                }),
                commit_time: None,
                expire_time: None,
                log_start: None,
                log_end: None,
                record_time: None,
            }),
            captured: Captured::Group,
            ..Row::default()
        };
        Snapshot { header: Header::default(), rows: places.iter().map(row).collect() }
    }

    #[test]
    fn what_differs_is_told_and_nothing_else() {
        let old = snapshot(&[("a", 0, Some(1)), ("a", 1, Some(1)), ("a", 2, None), ("b", 0, Some(1))]);
        let new = snapshot(&[("a", 0, Some(1)), ("a", 1, Some(2)), ("c", 0, Some(1))]);
        let told: Vec<(String, i32, Option<i64>, Option<i64>)> = diff(&old, &new)
            .into_iter()
            .map(|one| {
                let offset = |committed: Option<Committed>| committed.map(|committed| committed.offset.0);
                (one.group, one.partition.partition.0, offset(one.old), offset(one.new))
            })
            .collect();
        assert_eq!(
            told,
            [
                ("a".to_owned(), 1, Some(1), Some(2)),
                ("b".to_owned(), 0, Some(1), None),
                ("c".to_owned(), 0, None, Some(1)),
            ]
        );
    }

    #[test]
    fn of_what_was_not_captured_nothing_is_said() {
        let mut old = snapshot(&[("a", 0, Some(1))]);
        old.rows[0].captured = Captured::Partitions;
        let new = snapshot(&[("a", 0, Some(2)), ("a", 1, Some(2))]);
        let told: Vec<i32> = diff(&old, &new).into_iter().map(|one| one.partition.partition.0).collect();
        assert_eq!(told, [0]);
    }
}
