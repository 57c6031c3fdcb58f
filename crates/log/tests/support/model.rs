//! The plain model that histories are compared with, and the disks they run on.

use std::sync::Arc;

use milepost_log::LogKind;
use milepost_model::TopicPartition;
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

#[derive(Clone, Debug)]
pub(crate) struct ModelBatch {
    pub(crate) base: i64,
    pub(crate) values: Vec<Vec<u8>>,
    pub(crate) timestamp_ms: i64,
    pub(crate) producer: Option<(i64, i32)>,
}

impl ModelBatch {
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

    /// The batches of a producer, last first.
    pub(crate) fn of_producer(&self, producer: i64) -> impl Iterator<Item = &ModelBatch> {
        self.batches.iter().rev().filter(move |batch| batch.producer.is_some_and(|(id, _)| id == producer))
    }

    pub(crate) fn next_sequence(&self, producer: i64) -> i32 {
        self.of_producer(producer).next().map_or(0, |last| {
            last.producer.expect("filtered").1 + i32::try_from(last.values.len()).expect("few")
        })
    }
}
