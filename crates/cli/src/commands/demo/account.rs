//! What was read, how often, and whether that adds up.

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::TopicPartition;
use milepost_model::Offset;

use crate::failure::Failure;

/// One record that a member has read.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) partition: TopicPartition,
    pub(super) offset: Offset,
    pub(super) value: String,
}

/// The sum of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sum {
    /// Records that were read at least once.
    pub(super) delivered: usize,
    /// Of each partition the offsets that were read twice.
    pub(super) twice: BTreeMap<TopicPartition, BTreeSet<Offset>>,
}

/// Adds up, and holds it against what was acknowledged: every record must have been read.
pub(super) fn add_up(acknowledged: &BTreeSet<String>, read: &[Read]) -> Result<Sum, Failure> {
    let mut times: BTreeMap<(&TopicPartition, Offset), usize> = BTreeMap::new();
    for one in read {
        *times.entry((&one.partition, one.offset)).or_default() += 1;
    }
    let values: BTreeSet<&String> = read.iter().map(|one| &one.value).collect();
    let lost = acknowledged.iter().filter(|value| !values.contains(value)).count();
    if lost > 0 {
        return Err(Failure::Failed(format!("{lost} acknowledged records were never read: this is a bug")));
    }
    let mut twice: BTreeMap<TopicPartition, BTreeSet<Offset>> = BTreeMap::new();
    for ((partition, offset), _) in times.iter().filter(|(_, times)| **times > 1) {
        twice.entry((*partition).clone()).or_default().insert(*offset);
    }
    Ok(Sum { delivered: times.len(), twice })
}

#[cfg(test)]
mod tests {
    use milepost_model::PartitionIndex;

    use super::*;

    fn read(offset: i64) -> Read {
        Read {
            partition: TopicPartition::new("t", PartitionIndex(0)),
            offset: Offset(offset),
            value: format!("order {offset}"),
        }
    }

    #[test]
    fn what_was_read_again_is_counted_once_and_named() {
        let acknowledged = BTreeSet::from(["order 0".to_owned(), "order 1".to_owned()]);
        let sum = add_up(&acknowledged, &[read(0), read(1), read(1)]).unwrap();
        let twice = BTreeMap::from([(read(1).partition, BTreeSet::from([Offset(1)]))]);
        assert_eq!(sum, Sum { delivered: 2, twice });
    }

    #[test]
    fn a_record_that_nobody_read_is_found() {
        let acknowledged = BTreeSet::from(["order 0".to_owned(), "order 1".to_owned()]);
        assert!(add_up(&acknowledged, &[read(0), read(0)]).is_err());
    }
}
