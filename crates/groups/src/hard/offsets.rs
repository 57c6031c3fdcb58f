//! The committed offsets of one group: a sorted list of topics, each with a sorted list of partitions.
//!
//! Sorted vectors cost 64 bytes an entry and nothing per group beyond them; and since most groups commit all partitions
//! of a topic from 0 on, an entry mostly stands at the place of its partition's number.

use std::sync::Arc;

use milepost_model::{Offset, PartitionIndex};

use super::names::TopicNames;
use crate::CommittedOffset;

/// All committed offsets of a group.
#[derive(Debug, Default)]
pub(super) struct GroupOffsets {
    /// By topic name; none of them empty.
    topics: Vec<TopicOffsets>,
}

/// The committed offsets of a group in one topic.
#[derive(Debug)]
pub(crate) struct TopicOffsets {
    topic: Arc<str>,
    /// By partition.
    entries: Vec<OffsetEntry>,
}

/// A committed offset and where the record that says so stands.
#[derive(Debug)]
pub(crate) struct OffsetEntry {
    partition: PartitionIndex,
    position: Offset,
    committed: CommittedOffset,
}

impl GroupOffsets {
    pub(super) fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.topics.iter().map(|topic| topic.entries.len()).sum()
    }

    pub(super) fn topics(&self) -> &[TopicOffsets] {
        &self.topics
    }

    pub(super) fn topic(&self, topic: &str) -> Option<&TopicOffsets> {
        Some(&self.topics[self.find_topic(topic).ok()?])
    }

    fn find_topic(&self, topic: &str) -> Result<usize, usize> {
        self.topics.binary_search_by(|offsets| (*offsets.topic).cmp(topic))
    }

    pub(super) fn entry(&self, topic: &str, partition: PartitionIndex) -> Option<&OffsetEntry> {
        let topic = self.topic(topic)?;
        Some(&topic.entries[topic.find(partition).ok()?])
    }

    /// Puts an offset in its place. A topic that is new to the group gets its name from the shared ones.
    pub(super) fn insert(
        &mut self,
        topic: &Arc<str>,
        names: &mut TopicNames,
        partition: PartitionIndex,
        position: Offset,
        committed: CommittedOffset,
    ) {
        let index = self.find_topic(topic).unwrap_or_else(|index| {
            let entries = Vec::with_capacity(1);
            self.topics.insert(index, TopicOffsets { topic: names.share(topic), entries });
            index
        });
        let offsets = &mut self.topics[index];
        let entry = OffsetEntry { partition, position, committed };
        match offsets.find(partition) {
            Ok(found) => offsets.entries[found] = entry,
            Err(place) => offsets.entries.insert(place, entry),
        }
    }

    pub(super) fn remove(&mut self, topic: &str, partition: PartitionIndex) {
        let Ok(index) = self.find_topic(topic) else { return };
        let offsets = &mut self.topics[index];
        if let Ok(found) = offsets.find(partition) {
            offsets.entries.remove(found);
        }
        if offsets.entries.is_empty() {
            self.topics.remove(index);
        }
    }
}

impl TopicOffsets {
    pub(crate) fn topic(&self) -> &Arc<str> {
        &self.topic
    }

    pub(crate) fn entries(&self) -> &[OffsetEntry] {
        &self.entries
    }

    fn find(&self, partition: PartitionIndex) -> Result<usize, usize> {
        if let Ok(guess) = usize::try_from(partition.0)
            && self.entries.get(guess).is_some_and(|entry| entry.partition == partition)
        {
            return Ok(guess);
        }
        self.entries.binary_search_by_key(&partition, |entry| entry.partition)
    }
}

impl OffsetEntry {
    pub(crate) fn partition(&self) -> PartitionIndex {
        self.partition
    }

    pub(crate) fn position(&self) -> Offset {
        self.position
    }

    pub(crate) fn committed(&self) -> &CommittedOffset {
        &self.committed
    }
}
