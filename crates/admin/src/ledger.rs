//! What the log of committed offsets tells of all groups at once: when each of their positions was committed, how often, and
//! whether it moved. Fed batch by batch, it holds a line a position and no record.
//!
//! The log is compacted, so how often something happened is how often it is still seen to have happened.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_batch::{BatchError, BatchView};
use milepost_client::TopicPartition;
use milepost_doctor::{CommitFacts, LogFacts};
use milepost_model::{Generation, Offset, PartitionIndex, Timestamp};
use milepost_records::offsets::Record;

use crate::history::settled::{Open, Place};

/// How many positions are held; a million of them is some two hundred megabytes. Those beyond are counted and left out.
const POSITIONS_MAX: usize = 1_000_000;
const MINUTE_MS: i64 = 60_000;

/// What is known of a classic group from its own records.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    generation: Option<Generation>,
    /// When it came into its state, if it is empty.
    pub(crate) empty_since: Option<Timestamp>,
    /// How often it was shared out anew since one of its positions last moved forward.
    pub(crate) without_progress: u32,
}

/// What was read. A position counts once its log's partition was read to the end.
#[derive(Debug, Default)]
pub struct Ledger {
    positions: BTreeMap<Arc<str>, BTreeMap<TopicPartition, Line>>,
    held: usize,
    left_out: usize,
    rounds: BTreeMap<Arc<str>, Rounds>,
    open: Open<Entry>,
    logs: BTreeMap<PartitionIndex, LogFacts>,
}

#[derive(Debug)]
struct Entry {
    place: Place,
    group: Arc<str>,
    what: What,
}

#[derive(Debug)]
enum What {
    Committed { partition: TopicPartition, offset: Offset, expires: Option<Timestamp> },
    Removed { partition: TopicPartition },
    Shared { generation: Generation, has_members: bool, since: Option<Timestamp> },
    Gone,
}

#[derive(Debug)]
struct Line {
    facts: CommitFacts,
    /// The minute of the last commit, and how many there were in it.
    minute: (i64, u32),
}

impl Ledger {
    /// Takes the next batch of a partition of the log.
    ///
    /// # Errors
    /// When the batch cannot be opened, or a record in it is malformed.
    pub fn take(&mut self, log: PartitionIndex, batch: &BatchView<'_>) -> Result<(), BatchError> {
        let of_log = self.logs.entry(log).or_default();
        of_log.partition = log;
        of_log.bytes += u64::try_from(batch.size_bytes()).unwrap_or(u64::MAX);
        let (mut records, mut unreadable) = (0, None);
        let mut settled = Vec::new();
        let outcome = self.open.take(
            log,
            batch,
            |place, record| {
                records += 1;
                if record.is_none() {
                    unreadable = Some(place.offset);
                }
                entry(place, record?)
            },
            |entry| settled.push(entry),
        );
        of_log.records += records;
        if unreadable.is_some() {
            of_log.unreadable += 1;
            of_log.last_unreadable = unreadable;
        }
        for entry in settled {
            self.settle(entry);
        }
        outcome
    }

    fn settle(&mut self, entry: Entry) {
        let Entry { place, group, what } = entry;
        match what {
            What::Committed { partition, offset, expires } => {
                let lines = self.positions.entry(Arc::clone(&group)).or_default();
                if !lines.contains_key(&partition) && self.held == POSITIONS_MAX {
                    self.left_out += 1;
                    return;
                }
                let line = lines.entry(partition).or_insert_with(|| {
                    self.held += 1;
                    Line { facts: CommitFacts::first(offset, place.time), minute: (0, 0) }
                });
                if line.commit(offset, place.time, expires) {
                    self.rounds.entry(group).or_default().without_progress = 0;
                }
            }
            What::Removed { partition } => {
                let removed = self.positions.get_mut(&group).and_then(|lines| lines.remove(&partition));
                self.held -= usize::from(removed.is_some());
            }
            What::Shared { generation, has_members, since } => {
                let rounds = self.rounds.entry(group).or_default();
                if has_members && rounds.generation != Some(generation) {
                    rounds.without_progress += u32::from(rounds.generation.is_some());
                }
                rounds.generation = Some(generation);
                rounds.empty_since = since.filter(|_| !has_members);
            }
            What::Gone => drop(self.rounds.remove(&group)),
        }
    }

    /// When a group without members last committed or had a member, as far as is known.
    #[must_use]
    pub fn last_use(&self, group: &str) -> Option<Timestamp> {
        let commits = self.positions.get(group).into_iter().flat_map(BTreeMap::values);
        commits.map(|line| line.facts.last).chain(self.rounds(group).empty_since).max()
    }

    /// How many positions there were no room for.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out + self.open.left_out()
    }

    pub(crate) fn commit(&self, group: &str, partition: &TopicPartition) -> Option<&CommitFacts> {
        Some(&self.positions.get(group)?.get(partition)?.facts)
    }

    pub(crate) fn rounds(&self, group: &str) -> Rounds {
        self.rounds.get(group).copied().unwrap_or_default()
    }

    /// What is known of each partition of the log, with the positions that are left of all its records.
    pub(crate) fn logs(&self, home: impl Fn(&str) -> PartitionIndex) -> Vec<LogFacts> {
        let mut logs = self.logs.clone();
        for (group, lines) in &self.positions {
            if let Some(log) = logs.get_mut(&home(group)) {
                log.live += lines.len();
            }
        }
        logs.into_values().collect()
    }
}

impl Line {
    /// Whether the position moved forward.
    fn commit(&mut self, offset: Offset, time: Timestamp, expires: Option<Timestamp>) -> bool {
        let facts = &mut self.facts;
        let before = facts.offset;
        facts.commits += 1;
        let moved = facts.commits > 1 && offset > before;
        if offset < before {
            facts.rewinds += 1;
            facts.last_rewind = Some((before, offset, time));
        }
        facts.unmoved = if offset == before { facts.unmoved + 1 } else { 0 };
        facts.moves += u32::from(moved);
        (facts.offset, facts.last, facts.expires) = (offset, time, expires);
        let minute = time.0.div_euclid(MINUTE_MS);
        self.minute = if self.minute.0 == minute { (minute, self.minute.1 + 1) } else { (minute, 1) };
        facts.most_a_minute = facts.most_a_minute.max(self.minute.1);
        moved
    }
}

fn entry(place: Place, record: Record<'_>) -> Option<Entry> {
    let (group, what) = match record {
        Record::OffsetCommit { key, value } => {
            let partition = TopicPartition::new(key.topic, key.partition);
            let what = match value {
                None => What::Removed { partition },
                Some(value) => {
                    What::Committed { partition, offset: value.offset, expires: value.expire_timestamp }
                }
            };
            // The coordinator's own word for when it was, which expiry counts from, rather than the record's.
            let time = value.map_or(place.time, |value| value.commit_timestamp);
            return Some(Entry { place: Place { time, ..place }, group: key.group.into(), what });
        }
        Record::GroupMetadata { key, value } => {
            let what = value.map_or(What::Gone, |value| What::Shared {
                generation: value.generation,
                has_members: !value.members.is_empty(),
                since: value.current_state_timestamp,
            });
            (key.group, what)
        }
        Record::ConsumerGroup { .. } | Record::Unknown { .. } => return None,
    };
    Some(Entry { place, group: group.into(), what })
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
