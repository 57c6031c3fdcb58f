//! The hard state of a shard: what the records of its log say, and nothing else.
//!
//! [`Hard::replay`] and [`Hard::replay_marker`] are the only ways to change it. The fields are private to this module
//! and handlers only ever see a `&Hard`, so that no decision can change what a replay of the log would not change.
//!
//! A group exists while anything is recorded about it: its classic state, a committed offset, or a pending one. A
//! group of offsets alone (a *simple* group) thus ends with its last offset, which a compacted log says as well.

mod digest;
mod names;
mod offsets;
mod pending;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use milepost_model::{DependsOn, Offset, Origin, PartitionIndex, ProducerIdentity, TransactionEnd};

use crate::consumer::{ConsumerGroup, ConsumerRecord};
use crate::{ClassicGroup, CommittedOffset, GroupRecord, OffsetRecord, Record};
use names::TopicNames;
pub(crate) use offsets::TopicOffsets;
use offsets::{GroupOffsets, OffsetEntry};
use pending::Pending;

/// All groups, by id.
type GroupTable = HashMap<Arc<str>, HardGroup, FixedState>;

/// What the log says.
#[derive(Debug)]
pub(crate) struct Hard {
    groups: GroupTable,
    pending: Pending,
    topics: TopicNames,
    /// The last record that left a group non-existent: what an answer about a missing group rests on.
    last_removal: Option<Offset>,
}

/// What the log says about one group.
#[derive(Debug)]
pub(crate) struct HardGroup {
    id: Arc<str>,
    classic: Option<Arc<ClassicGroup>>,
    consumer: Option<Box<ConsumerGroup>>,
    offsets: GroupOffsets,
    /// How many pending offsets (one per producer and partition) open transactions hold for this group.
    pending_count: usize,
    last_written: Offset,
}

impl Hard {
    pub(crate) fn new(hash_seed: u64) -> Self {
        let state = FixedState::with_seed(hash_seed);
        Self {
            groups: HashMap::with_hasher(state.clone()),
            pending: Pending::default(),
            topics: TopicNames::new(state),
            last_removal: None,
        }
    }

    pub(crate) fn group(&self, group_id: &str) -> Option<&HardGroup> {
        self.groups.get(group_id)
    }

    /// Every group's id, in order.
    pub(crate) fn group_ids(&self) -> Vec<Arc<str>> {
        let mut ids: Vec<_> = self.groups.keys().cloned().collect();
        ids.sort_unstable();
        ids
    }

    /// Every group, in no order that anything may rest on.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &HardGroup> {
        self.groups.values()
    }

    pub(crate) fn group_count(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn offset_count(&self) -> usize {
        self.groups.values().map(|group| group.offsets.len()).sum()
    }

    /// The shared copy of a group's id, if the group exists; else a new one.
    pub(crate) fn shared_group_id(&self, group_id: &str) -> Arc<str> {
        self.groups.get_key_value(group_id).map_or_else(|| group_id.into(), |(id, _)| Arc::clone(id))
    }

    /// The shared copy of a topic's name, if it is in use; else a new one, which the replay of a record will share.
    pub(crate) fn shared_topic(&self, topic: &str) -> Arc<str> {
        self.topics.get(topic).map_or_else(|| topic.into(), Arc::clone)
    }

    /// What an answer about this group rests on; about a missing one, if `None`.
    pub(crate) fn depends_on_group(&self, group: Option<&HardGroup>) -> DependsOn {
        let position = group.map(|group| group.last_written).or(self.last_removal);
        position.map_or(DependsOn::Nothing, DependsOn::Position)
    }

    /// Whether an open transaction may change this committed offset.
    pub(crate) fn has_pending(&self, group: &HardGroup, topic: &str, partition: PartitionIndex) -> bool {
        group.pending_count > 0 && self.pending.has(&group.id, topic, partition)
    }

    /// The partitions of a group for which an open transaction holds an offset, by topic and partition.
    pub(crate) fn pending_partitions(&self, group: &HardGroup) -> Vec<(Arc<str>, PartitionIndex)> {
        if group.pending_count == 0 { Vec::new() } else { self.pending.partitions(&group.id) }
    }

    /// The partitions for which an open transaction holds an offset of which this holds.
    pub(crate) fn pending_partitions_where(
        &self,
        group: &HardGroup,
        holds: impl Fn(&str, &CommittedOffset) -> bool,
    ) -> Vec<(Arc<str>, PartitionIndex)> {
        if group.pending_count == 0 { Vec::new() } else { self.pending.partitions_where(&group.id, holds) }
    }

    /// Applies a record. The only writer of the state, live and at every load.
    pub(crate) fn replay(&mut self, position: Offset, origin: Origin, record: Record) {
        match record {
            Record::Group(record) => self.replay_group(position, record),
            Record::Offset(record) => self.replay_offset(position, origin, record),
            Record::Consumer(record) => self.replay_consumer(position, record),
        }
    }

    fn replay_group(&mut self, position: Offset, record: GroupRecord) {
        if record.classic.is_some() || self.groups.contains_key(&record.group) {
            let group = group_entry(&mut self.groups, &record.group, position);
            group.classic = record.classic;
        }
        self.after_removal(position, &record.group);
    }

    /// A tombstone for something already gone changes nothing (KAFKA-17306).
    fn replay_consumer(&mut self, position: Offset, record: ConsumerRecord) {
        let ConsumerRecord { group: group_id, change } = record;
        let group = group_entry(&mut self.groups, &group_id, position);
        let consumer = group.consumer.get_or_insert_default();
        consumer.apply(change);
        if consumer.is_gone() {
            group.consumer = None;
        }
        self.after_removal(position, &group_id);
    }

    fn replay_offset(&mut self, position: Offset, origin: Origin, mut record: OffsetRecord) {
        match (record.committed.take(), origin) {
            (Some(committed), Origin::Plain) => {
                let Self { groups, topics, .. } = self;
                let offsets = &mut group_entry(groups, &record.group, position).offsets;
                offsets.insert(&record.topic, topics, record.partition, position, committed);
            }
            (Some(committed), Origin::Transactional(producer)) => {
                let topic = self.topics.share(&record.topic);
                let group = group_entry(&mut self.groups, &record.group, position);
                let id = Arc::clone(&group.id);
                if self.pending.insert(producer.id, id, topic, record.partition, position, committed) {
                    group.pending_count += 1;
                }
            }
            (None, _) => self.replay_offset_tombstone(position, &record),
        }
    }

    /// A tombstone takes the committed offset and what any open transaction holds for the partition.
    fn replay_offset_tombstone(&mut self, position: Offset, record: &OffsetRecord) {
        if let Some(group) = self.groups.get_mut(&record.group) {
            group.last_written = position;
            group.offsets.remove(&record.topic, record.partition);
            if group.pending_count > 0 {
                group.pending_count -= self.pending.remove_all(&group.id, &record.topic, record.partition);
            }
        }
        self.after_removal(position, &record.group);
    }

    /// The marker of a producer's transaction: a commit moves each of its pending offsets in, but only over older ones
    /// (the latest position in the log wins, KAFKA-14505).
    pub(crate) fn replay_marker(
        &mut self,
        position: Offset,
        producer: ProducerIdentity,
        end: TransactionEnd,
    ) {
        for (key, pending) in self.pending.take_producer(producer.id) {
            let Some(group) = self.groups.get_mut(&key.group) else { continue };
            group.pending_count -= 1;
            group.last_written = position;
            let newest = group.offsets.entry(&key.topic, key.partition).map(OffsetEntry::position);
            if end == TransactionEnd::Commit && newest.is_none_or(|newest| pending.position > newest) {
                group.offsets.insert(
                    &key.topic,
                    &mut self.topics,
                    key.partition,
                    pending.position,
                    pending.committed,
                );
            }
            self.after_removal(position, &key.group);
        }
    }

    /// Drops a group about which nothing is recorded any more.
    fn after_removal(&mut self, position: Offset, group_id: &str) {
        if self.groups.get(group_id).is_some_and(HardGroup::is_gone) {
            self.groups.remove(group_id);
        }
        if !self.groups.contains_key(group_id) {
            self.last_removal = Some(position);
        }
    }
}

fn group_entry<'a>(groups: &'a mut GroupTable, group_id: &Arc<str>, position: Offset) -> &'a mut HardGroup {
    let group = groups.entry_ref(group_id).or_insert_with(|| HardGroup::new(Arc::clone(group_id)));
    group.last_written = position;
    group
}

impl HardGroup {
    fn new(id: Arc<str>) -> Self {
        Self {
            id,
            classic: None,
            consumer: None,
            offsets: GroupOffsets::default(),
            pending_count: 0,
            last_written: Offset::ZERO,
        }
    }

    fn is_gone(&self) -> bool {
        self.classic.is_none()
            && self.consumer.is_none()
            && self.offsets.is_empty()
            && self.pending_count == 0
    }

    pub(crate) fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Its classic state; `None` for a simple group.
    pub(crate) fn classic(&self) -> Option<&Arc<ClassicGroup>> {
        self.classic.as_ref()
    }

    /// Its state as a consumer group, if it is one.
    pub(crate) fn consumer(&self) -> Option<&ConsumerGroup> {
        self.consumer.as_deref()
    }

    /// The committed offset of a partition; `None`: never committed, expired or deleted.
    pub(crate) fn committed(&self, topic: &str, partition: PartitionIndex) -> Option<&CommittedOffset> {
        self.offsets.entry(topic, partition).map(OffsetEntry::committed)
    }

    /// The committed offsets, topic by topic in the order of names.
    pub(crate) fn topics(&self) -> &[TopicOffsets] {
        self.offsets.topics()
    }

    /// Whether an open transaction holds an offset of this group.
    pub(crate) fn has_any_pending(&self) -> bool {
        self.pending_count > 0
    }
}
