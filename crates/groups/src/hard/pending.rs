//! Offsets inside open transactions, per producer, with an index by partition (KAFKA-19160).
//!
//! A TxnOffsetCommit puts them here, and the marker of the transaction takes them out.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_model::{Offset, PartitionIndex, ProducerId};

use crate::CommittedOffset;

/// Which offset of which group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) group: Arc<str>,
    pub(super) topic: Arc<str>,
    pub(super) partition: PartitionIndex,
}

/// What a transaction would commit.
#[derive(Debug)]
pub(super) struct PendingOffset {
    pub(super) position: Offset,
    pub(super) committed: CommittedOffset,
}

/// What one producer's open transaction holds.
type OffsetsOfProducer = BTreeMap<Key, PendingOffset>;

/// All pending offsets of a shard.
#[derive(Debug, Default)]
pub(super) struct Pending {
    producers: BTreeMap<ProducerId, OffsetsOfProducer>,
    /// Which producers hold an offset of a key; never an empty list.
    holders: BTreeMap<Key, Vec<ProducerId>>,
}

impl Pending {
    /// Adds a pending offset, or replaces the producer's earlier one. True when there was none.
    pub(super) fn insert(
        &mut self,
        producer: ProducerId,
        group: Arc<str>,
        topic: Arc<str>,
        partition: PartitionIndex,
        position: Offset,
        committed: CommittedOffset,
    ) -> bool {
        let key = Key { group, topic, partition };
        let pending = PendingOffset { position, committed };
        let is_new = self.producers.entry(producer).or_default().insert(key.clone(), pending).is_none();
        if is_new {
            self.holders.entry(key).or_default().push(producer);
        }
        is_new
    }

    pub(super) fn has(&self, group: &Arc<str>, topic: &str, partition: PartitionIndex) -> bool {
        self.holders.contains_key(&Key { group: Arc::clone(group), topic: topic.into(), partition })
    }

    /// Every partition of a group with a pending offset, in order.
    pub(super) fn partitions(&self, group: &Arc<str>) -> Vec<(Arc<str>, PartitionIndex)> {
        self.of_group(group).map(|(key, _)| (Arc::clone(&key.topic), key.partition)).collect()
    }

    fn of_group(&self, group: &Arc<str>) -> impl Iterator<Item = (&Key, &Vec<ProducerId>)> {
        let first = Key { group: Arc::clone(group), topic: "".into(), partition: PartitionIndex(i32::MIN) };
        self.holders.range(first..).take_while(move |(key, _)| key.group == *group)
    }

    /// The partitions of a group for which any transaction holds an offset of which this holds, in order.
    pub(super) fn partitions_where(
        &self,
        group: &Arc<str>,
        holds: impl Fn(&str, &CommittedOffset) -> bool,
    ) -> Vec<(Arc<str>, PartitionIndex)> {
        let is_such = |producer: &ProducerId, key: &Key| {
            let pending = self.producers.get(producer).and_then(|offsets| offsets.get(key));
            pending.is_some_and(|pending| holds(&key.topic, &pending.committed))
        };
        self.of_group(group)
            .filter(|(key, holders)| holders.iter().any(|producer| is_such(producer, key)))
            .map(|(key, _)| (Arc::clone(&key.topic), key.partition))
            .collect()
    }

    /// Drops what any producer holds for a key. Returns how many did.
    pub(super) fn remove_all(&mut self, group: &Arc<str>, topic: &str, partition: PartitionIndex) -> usize {
        let key = Key { group: Arc::clone(group), topic: topic.into(), partition };
        let Some(holders) = self.holders.remove(&key) else { return 0 };
        for producer in &holders {
            if let Some(offsets) = self.producers.get_mut(producer) {
                offsets.remove(&key);
                if offsets.is_empty() {
                    self.producers.remove(producer);
                }
            }
        }
        holders.len()
    }

    /// Takes out everything of one producer, whose transaction ended.
    pub(super) fn take_producer(&mut self, producer: ProducerId) -> OffsetsOfProducer {
        let offsets = self.producers.remove(&producer).unwrap_or_default();
        for key in offsets.keys() {
            if let Some(holders) = self.holders.get_mut(key) {
                holders.retain(|holder| *holder != producer);
                if holders.is_empty() {
                    self.holders.remove(key);
                }
            }
        }
        offsets
    }

    pub(super) fn producers(&self) -> &BTreeMap<ProducerId, OffsetsOfProducer> {
        &self.producers
    }
}
