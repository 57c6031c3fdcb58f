//! One session: its partitions in the order in which they are read, and what its client last heard of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_model::{Instant, TopicId};
use milepost_wire::messages::fetch::FetchPartition;

use super::FIRST_EPOCH;

/// How a session's requests name topics; it never changes in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopicKeys {
    Names,
    Ids,
}

/// A topic as the requests of a session name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TopicKey {
    Name(Arc<str>),
    Id(TopicId),
}

/// About what one partition of a session takes, beside the name of its topic.
const PARTITION_BYTES: usize = 200;

/// What a partition of this topic takes. A name counts for every partition, though neighbours share it: whoever names
/// each topic anew must not get more room by it.
pub(super) fn size_bytes(topic: &TopicKey) -> usize {
    match topic {
        TopicKey::Name(name) => PARTITION_BYTES + name.len(),
        TopicKey::Id(_) => PARTITION_BYTES,
    }
}

/// One partition of a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SessionPartition {
    pub(crate) topic: TopicKey,
    /// From where and how much is fetched, as last asked.
    pub(crate) asked: FetchPartition,
}

/// What an answer can say of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) has_records: bool,
    pub(crate) high_watermark: i64,
    pub(crate) log_start_offset: i64,
    /// There is an error, or the log parted from what the client read: said every time.
    pub(crate) is_trouble: bool,
}

/// What the client last heard of a partition.
#[derive(Clone, Copy, Debug)]
struct Heard {
    /// `None` before the first answer and after trouble, so that the next answer names the partition.
    high_watermark: Option<i64>,
    log_start_offset: Option<i64>,
}

impl Heard {
    const NOTHING: Self = Self { high_watermark: None, log_start_offset: None };

    fn of(seen: Seen) -> Self {
        Self {
            high_watermark: (!seen.is_trouble).then_some(seen.high_watermark),
            log_start_offset: Some(seen.log_start_offset),
        }
    }

    fn is_news(self, seen: Seen) -> bool {
        seen.has_records
            || seen.is_trouble
            || self.high_watermark != Some(seen.high_watermark)
            || self.log_start_offset != Some(seen.log_start_offset)
    }
}

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    topic_keys: TopicKeys,
    /// The epoch that the next request must have.
    pub(super) epoch: i32,
    pub(super) created: Instant,
    pub(super) last_used: Instant,
    /// By place in line.
    line: BTreeMap<u64, (SessionPartition, Heard)>,
    places: BTreeMap<(TopicKey, i32), u64>,
    next_place: u64,
    size_bytes: usize,
}

impl Session {
    pub(super) fn new(
        now: Instant,
        topic_keys: TopicKeys,
        partitions: Vec<(SessionPartition, Seen)>,
    ) -> Self {
        let mut session = Self {
            topic_keys,
            epoch: FIRST_EPOCH,
            created: now,
            last_used: now,
            line: BTreeMap::new(),
            places: BTreeMap::new(),
            next_place: 0,
            size_bytes: 0,
        };
        for (partition, seen) in partitions {
            session.put(partition, Heard::of(seen));
        }
        session
    }

    pub(super) fn topic_keys(&self) -> TopicKeys {
        self.topic_keys
    }

    pub(super) fn len(&self) -> usize {
        self.line.len()
    }

    /// About what it takes.
    pub(super) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    pub(super) fn partitions(&self) -> impl Iterator<Item = &SessionPartition> {
        self.line.values().map(|(partition, _)| partition)
    }

    /// New partitions join at the end of the line; known ones keep their place and what was heard of them.
    pub(super) fn change(
        &mut self,
        partitions: &[(TopicKey, &FetchPartition)],
        forgotten: &[(TopicKey, i32)],
    ) {
        for (topic, asked) in partitions {
            let asked = (*asked).clone();
            match self.places.get(&(topic.clone(), asked.partition)).and_then(|at| self.line.get_mut(at)) {
                Some((known, _)) => known.asked = asked,
                None => self.put(SessionPartition { topic: topic.clone(), asked }, Heard::NOTHING),
            }
        }
        for key in forgotten {
            if let Some(place) = self.places.remove(key) {
                self.take(place);
            }
        }
    }

    /// Says which partitions the answer names. Those that gave records go to the end of the line, so that all get
    /// their turn.
    pub(super) fn answer(&mut self, seen: &[Seen]) -> Vec<bool> {
        let places: Vec<u64> = self.line.keys().copied().collect();
        let mut named = Vec::with_capacity(seen.len());
        for (place, seen) in places.into_iter().zip(seen) {
            let Some((_, heard)) = self.line.get_mut(&place) else { continue };
            named.push(heard.is_news(*seen));
            *heard = Heard::of(*seen);
            if seen.has_records
                && let Some((partition, heard)) = self.take(place)
            {
                self.put(partition, heard);
            }
        }
        named
    }

    /// Puts a partition at the end of the line, in place of what the line has of it.
    fn put(&mut self, partition: SessionPartition, heard: Heard) {
        let key = (partition.topic.clone(), partition.asked.partition);
        if let Some(place) = self.places.insert(key, self.next_place) {
            self.take(place);
        }
        self.size_bytes += size_bytes(&partition.topic);
        self.line.insert(self.next_place, (partition, heard));
        self.next_place += 1;
    }

    fn take(&mut self, place: u64) -> Option<(SessionPartition, Heard)> {
        let taken = self.line.remove(&place)?;
        self.size_bytes -= size_bytes(&taken.0.topic);
        Some(taken)
    }
}
