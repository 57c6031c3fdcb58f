//! The plain model that histories are compared with, and the disks they run on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use milepost_log::LogKind;
use milepost_model::{TopicPartition, TransactionEnd};
use milepost_storage::{Engine, LocalEngine, LocalSettings, MemoryDisk, MemoryEngine, SimulatedFileSystem};

/// What a history runs on.
pub(crate) enum Disk {
    Memory(MemoryDisk),
    Simulated(SimulatedFileSystem),
}

impl Disk {
    pub(crate) fn open(&self) -> Result<Engine, String> {
        match self {
            Self::Memory(disk) => MemoryEngine::open(disk).map_err(|error| error.to_string()),
            Self::Simulated(system) => {
                let settings = LocalSettings::small();
                LocalEngine::open(Arc::new(system.clone()), settings)
                    .map(|start| start.engine)
                    .map_err(|error| error.to_string())
            }
        }
    }

    pub(crate) fn crash(&self, seed: u64) {
        match self {
            Self::Memory(disk) => disk.crash(),
            Self::Simulated(system) => system.crash(seed),
        }
    }

    pub(crate) fn is_off(&self) -> bool {
        matches!(self, Self::Simulated(system) if system.is_off())
    }

    /// Sets how much room the disk has left.
    pub(crate) fn leave_free(&self, bytes: Option<u64>) {
        if let Self::Simulated(system) = self {
            let used: usize = system.files().values().map(Vec::len).sum();
            system.set_capacity(bytes.map(|free| used as u64 + free));
        }
    }

    pub(crate) fn power_off_after(&self, operations: u64) {
        if let Self::Simulated(system) = self {
            system.power_off_after(operations);
        }
    }
}

/// A producer each of whose transactions ends by a new epoch (KIP-890).
pub(crate) const BUMPING: i64 = 22;

/// What a batch is to the transactions of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Outside,
    Of(i64),
    Marker(i64, TransactionEnd),
}

#[derive(Clone, Debug)]
pub(crate) struct ModelBatch {
    pub(crate) base: i64,
    pub(crate) values: Vec<Vec<u8>>,
    pub(crate) timestamp_ms: i64,
    pub(crate) producer: Option<(i64, i32)>,
    pub(crate) part: Part,
}

impl ModelBatch {
    fn is_marker_of(&self, producer: i64) -> bool {
        matches!(self.part, Part::Marker(of, _) if of == producer)
    }

    pub(crate) fn end(&self) -> i64 {
        self.base + i64::try_from(self.values.len()).expect("few")
    }
}

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) id: TopicPartition,
    pub(crate) kind: LogKind,
    /// Accepted, in order.
    pub(crate) batches: Vec<ModelBatch>,
    pub(crate) acknowledged_end: i64,
    pub(crate) created: bool,
    /// The last stable offset that somebody was told.
    pub(crate) stable: i64,
    pub(crate) log_start: i64,
    pub(crate) wanted_log_start: i64,
}

impl Model {
    pub(crate) fn end(&self) -> i64 {
        self.batches.last().map_or(0, ModelBatch::end)
    }

    pub(crate) fn records(&self, end: i64) -> impl Iterator<Item = (i64, &Vec<u8>, i64)> {
        let records = self.batches.iter().flat_map(|batch| {
            batch.values.iter().enumerate().map(move |(index, value)| {
                let index = i64::try_from(index).expect("few");
                (batch.base + index, value, batch.timestamp_ms + index)
            })
        });
        records.filter(move |(offset, ..)| *offset < end)
    }

    /// Where the transaction of a producer began that is open when the log ends at `end`.
    pub(crate) fn open_transaction(&self, producer: i64, end: i64) -> Option<i64> {
        self.open_transactions(end).get(&producer).copied()
    }

    fn open_transactions(&self, end: i64) -> BTreeMap<i64, i64> {
        let mut open = BTreeMap::new();
        for batch in self.batches.iter().filter(|batch| batch.end() <= end) {
            match batch.part {
                Part::Outside => {}
                Part::Of(producer) => _ = open.entry(producer).or_insert(batch.base),
                Part::Marker(producer, _) => _ = open.remove(&producer),
            }
        }
        open
    }

    /// Where readers of committed records stop when the log begins at `start` and is durable up to `end`.
    pub(crate) fn last_stable(&self, start: i64, end: i64) -> i64 {
        let first = self.open_transactions(end).into_values().min();
        first.map_or(end, |first| first.max(start))
    }

    /// What they see of it.
    pub(crate) fn committed(&self, start: i64, end: i64) -> Vec<i64> {
        let stable = self.last_stable(start, end);
        // Backwards, so that the end of each transaction is known before its batches.
        let mut aborting = BTreeSet::new();
        let mut seen = Vec::new();
        for batch in self.batches.iter().rev().filter(|batch| batch.end() <= end) {
            match batch.part {
                Part::Marker(producer, TransactionEnd::Abort) => _ = aborting.insert(producer),
                Part::Marker(producer, TransactionEnd::Commit) => _ = aborting.remove(&producer),
                Part::Of(producer) if aborting.contains(&producer) => {}
                Part::Of(_) | Part::Outside => {
                    seen.extend((batch.base..batch.end()).filter(|at| (start..stable).contains(at)).rev());
                }
            }
        }
        seen.reverse();
        seen
    }

    /// The batches of a producer, last first.
    pub(crate) fn of_producer(&self, producer: i64) -> impl Iterator<Item = &ModelBatch> {
        self.batches.iter().rev().filter(move |batch| batch.producer.is_some_and(|(id, _)| id == producer))
    }

    /// The epoch of a producer.
    pub(crate) fn epoch(&self, producer: i64) -> i16 {
        let markers = self.batches.iter().filter(|batch| batch.is_marker_of(producer)).count();
        if producer == BUMPING { i16::try_from(markers).expect("few") } else { 0 }
    }

    pub(crate) fn next_sequence(&self, producer: i64) -> i32 {
        let has_begun_anew = |batch: &&ModelBatch| producer == BUMPING && batch.is_marker_of(producer);
        let mut of_epoch = self.batches.iter().rev().take_while(|batch| !has_begun_anew(batch));
        of_epoch.find(|batch| batch.producer.is_some_and(|(id, _)| id == producer)).map_or(0, |last| {
            last.producer.expect("filtered").1 + i32::try_from(last.values.len()).expect("few")
        })
    }
}
