//! What the cleaner may have made of a log before a shard loads it, by Kafka's rules.
//!
//! A pass works on the log below the first open transaction, or less. Of each key it keeps the last record; records of aborted
//! transactions go and count for nothing; a tombstone or a marker may go, a marker only once nothing of its transaction is
//! left. Passes follow one another while the log grows.

use std::collections::BTreeMap;

use milepost_model::{Origin, ProducerId, TransactionEnd};

use super::Entry;

/// Entries with their positions.
pub(crate) type Log = Vec<(usize, Entry)>;

/// How often a log is cleaned at random.
const PASSES: u64 = 4;

/// What a pass does with the tombstones and markers that may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removable {
    Kept,
    Dropped,
    /// Each by chance: their times are up at different moments.
    SomeDropped,
}

/// Numbers that only look like chance, so that a failure comes again.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(end).unwrap()).unwrap()
    }
}

/// The log as several passes leave it, each at some moment of its growth and up to somewhere.
pub(crate) fn cleaned_now_and_then(entries: &[(usize, Entry)], dice: &mut Dice) -> Log {
    let mut log = Vec::new();
    let mut taken = 0;
    for _ in 0..PASSES {
        let until = taken + dice.below(entries.len() - taken + 1);
        log.extend_from_slice(&entries[taken..until]);
        taken = until;
        let bound = dice.below(first_unstable(&log) + 1);
        log = cleaned(&log, bound, Removable::SomeDropped, dice);
    }
    log.extend_from_slice(&entries[taken..]);
    log
}

/// The log after one pass over all that may be cleaned.
pub(crate) fn cleaned_whole(entries: &[(usize, Entry)], removable: Removable) -> Log {
    cleaned(entries, first_unstable(entries), removable, &mut Dice(0))
}

/// How many entries stand before the first of an open transaction.
pub(crate) fn first_unstable(log: &[(usize, Entry)]) -> usize {
    let mut open: BTreeMap<ProducerId, usize> = BTreeMap::new();
    for (index, (_, entry)) in log.iter().enumerate() {
        match entry {
            Entry::Record { origin: Origin::Transactional(producer), .. } => {
                open.entry(producer.id).or_insert(index);
            }
            Entry::Record { .. } => {}
            Entry::Marker { producer, .. } => drop(open.remove(&producer.id)),
        }
    }
    open.into_values().min().unwrap_or(log.len())
}

/// One pass over the first `bound` entries.
pub(crate) fn cleaned(log: &[(usize, Entry)], bound: usize, removable: Removable, dice: &mut Dice) -> Log {
    let ends = transaction_ends(log);
    let is_aborted = |index: usize| {
        ends[index]
            .is_some_and(|marker| matches!(log[marker].1, Entry::Marker { end: TransactionEnd::Abort, .. }))
    };
    let mut last = BTreeMap::new();
    for (index, (_, entry)) in log[..bound].iter().enumerate() {
        if let Entry::Record { key, .. } = entry
            && !is_aborted(index)
        {
            last.insert(key, index);
        }
    }
    let mut stays = vec![true; log.len()];
    let goes = |dice: &mut Dice| match removable {
        Removable::Kept => false,
        Removable::Dropped => true,
        Removable::SomeDropped => dice.below(2) == 0,
    };
    for (index, (_, entry)) in log[..bound].iter().enumerate() {
        stays[index] = match entry {
            Entry::Record { key, value, .. } => {
                !is_aborted(index) && last[key] == index && (value.is_some() || !goes(dice))
            }
            Entry::Marker { .. } => {
                let has_data = (0..index).any(|data| ends[data] == Some(index) && stays[data]);
                has_data || !goes(dice)
            }
        };
    }
    log.iter().zip(stays).filter(|(_, stays)| *stays).map(|(entry, _)| entry.clone()).collect()
}

/// For each record of a transaction that has ended, where its marker stands.
fn transaction_ends(log: &[(usize, Entry)]) -> Vec<Option<usize>> {
    let mut ends = vec![None; log.len()];
    let mut open: BTreeMap<ProducerId, Vec<usize>> = BTreeMap::new();
    for (index, (_, entry)) in log.iter().enumerate() {
        match entry {
            Entry::Record { origin: Origin::Transactional(producer), .. } => {
                open.entry(producer.id).or_default().push(index);
            }
            Entry::Record { .. } => {}
            Entry::Marker { producer, .. } => {
                for data in open.remove(&producer.id).unwrap_or_default() {
                    ends[data] = Some(index);
                }
            }
        }
    }
    ends
}
