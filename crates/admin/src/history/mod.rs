//! Where a group was, commit by commit, as far back as the log of `__consumer_offsets` still shows.
//!
//! The log is compacted, so what is missing cannot be known. What can be known is from where on nothing is missing: behind
//! the last gap in the offsets of the log's partition. Commits of a transaction count when its marker comes, and not at all
//! when it was aborted or is open.

mod gaps;
pub(crate) mod settled;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, VecDeque};

use milepost_batch::{BatchError, BatchView};
use milepost_client::TopicPartition;
use milepost_client::groups::Committed;
use milepost_model::{Offset, PartitionIndex, Timestamp, TopicId};
use milepost_records::offsets::{OffsetCommitValue, Record};

use crate::reason::Reason;
use crate::same_topic;

use gaps::Gaps;
pub use gaps::Reach;
use settled::{Open, Place};

/// How many commits of the group are held; the oldest go first. A million of them is some hundred megabytes.
const EVENTS_MAX: usize = 1_000_000;

/// What happened to a group's position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was committed.
    Committed {
        /// What was.
        committed: Committed,
        /// The topic's identity, where it was kept.
        topic_id: Option<TopicId>,
    },
    /// It was deleted, or expired.
    Removed,
}

/// A change, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Of which partition.
    pub partition: TopicPartition,
    /// When the record was written.
    pub time: Timestamp,
    /// Where its record lies in the log.
    pub record: (PartitionIndex, Offset),
    /// What changed.
    pub change: Change,
}

/// A position that is no longer there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost<'a> {
    /// When it was removed.
    pub removed: Timestamp,
    /// What was committed before, if the log still shows that.
    pub last: Option<&'a Event>,
}

/// The history of one group. It is fed with the log, batch by batch.
#[derive(Debug)]
pub struct History {
    group: String,
    events: VecDeque<Event>,
    forgotten: usize,
    /// What open transactions have written.
    open: Open<Event>,
    gaps: BTreeMap<PartitionIndex, Gaps>,
    /// The log's partition that has records of the group.
    home: Option<PartitionIndex>,
}

impl History {
    /// Of this group, with nothing known yet.
    #[must_use]
    pub fn of(group: &str) -> Self {
        Self {
            group: group.to_owned(),
            events: VecDeque::new(),
            forgotten: 0,
            open: Open::default(),
            gaps: BTreeMap::new(),
            home: None,
        }
    }

    /// Takes the next batch of a partition of the log. Records that cannot be read are nobody's commit.
    ///
    /// # Errors
    /// When the batch cannot be opened, or a record in it is malformed.
    pub fn take(&mut self, log: PartitionIndex, batch: &BatchView<'_>) -> Result<(), BatchError> {
        self.gaps.entry(log).or_default().take(batch);
        let mut open = std::mem::take(&mut self.open);
        let mut is_home = false;
        let read = |place: Place, record: Option<Record<'_>>| {
            let Some(Record::OffsetCommit { key, value }) = record else { return None };
            if key.group != self.group {
                return None;
            }
            is_home = true;
            Some(Event {
                partition: TopicPartition::new(key.topic, key.partition),
                time: place.time,
                record: (place.log, place.offset),
                change: change(value.as_ref()),
            })
        };
        let mut settled = Vec::new();
        let outcome = open.take(log, batch, read, |event| settled.push(event));
        self.open = open;
        if is_home {
            self.home = Some(log);
        }
        settled.into_iter().for_each(|event| self.push(event));
        outcome
    }

    fn push(&mut self, event: Event) {
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
            self.forgotten += 1;
        }
        self.events.push_back(event);
    }

    /// What happened, the oldest first.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    /// How many of the oldest were dropped because there are too many.
    #[must_use]
    pub fn forgotten(&self) -> usize {
        self.forgotten
    }

    /// How many offsets open transactions have written for the group.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.open.len()
    }

    /// From when on nothing is missing.
    #[must_use]
    pub fn reach(&self) -> Reach {
        if self.open.left_out() > 0 {
            return Reach::Nothing;
        }
        let of_home = self.home.and_then(|log| self.gaps.get(&log));
        match of_home {
            Some(gaps) if self.forgotten == 0 => gaps.reach(),
            Some(gaps) => match (gaps.reach(), self.events.front()) {
                (Reach::Nothing, _) | (_, None) => Reach::Nothing,
                (Reach::Since(time), Some(first)) => Reach::Since(time.max(first.time)),
                (Reach::Everything, Some(first)) => Reach::Since(first.time),
            },
            // Which partition would have the group's records is not known, so the worst counts.
            None => self.gaps.values().map(Gaps::reach).max().unwrap_or(Reach::Nothing),
        }
    }

    /// Where the group was at a time: the last change of each partition until then.
    #[must_use]
    pub fn at(&self, time: Timestamp) -> BTreeMap<&TopicPartition, &Event> {
        let until = self.events.iter().filter(|event| event.time <= time);
        until.map(|event| (&event.partition, event)).collect()
    }

    /// Positions that were removed and not committed again.
    #[must_use]
    pub fn lost(&self) -> BTreeMap<&TopicPartition, Lost<'_>> {
        let mut lost: BTreeMap<&TopicPartition, Lost<'_>> = BTreeMap::new();
        let mut last: BTreeMap<&TopicPartition, &Event> = BTreeMap::new();
        for event in &self.events {
            if matches!(event.change, Change::Removed) {
                // A second removal says nothing new.
                let before = last.remove(&event.partition);
                let removed = Lost { removed: event.time, last: before };
                lost.entry(&event.partition).or_insert(removed);
            } else {
                lost.remove(&event.partition);
                last.insert(&event.partition, event);
            }
        }
        lost
    }
}

fn change(value: Option<&OffsetCommitValue<'_>>) -> Change {
    let Some(value) = value else { return Change::Removed };
    let committed = Committed {
        offset: value.offset,
        leader_epoch: value.leader_epoch,
        metadata: value.metadata.to_owned(),
    };
    Change::Committed { committed, topic_id: value.topic_id }
}

/// What is to be committed again of a position that was lost, where its topic has this identity now.
///
/// # Errors
/// The reason, when the log no longer shows it, or it was a position in another topic of the same name.
pub fn put_back(
    partition: &TopicPartition,
    lost: &Lost<'_>,
    topic_id: Option<TopicId>,
) -> Result<Committed, Reason> {
    let Some(Event { change: Change::Committed { committed, topic_id: then }, .. }) = lost.last else {
        let why = "the log no longer shows what was committed before it was removed";
        return Err(Reason::other(format!("{partition}: {why}")));
    };
    same_topic::check(partition, *then, topic_id)?;
    Ok(committed.clone())
}
