//! Stores on a simulated disk, and short words for what tests do with them.

use std::sync::Arc;

use milepost::{
    CommittedOffset, Error, Generation, NextOffset, Offset, OffsetStore, OpenError, Options, PartitionIndex,
    Surroundings,
};
use milepost_storage::{FileSystem, LocalEngine, LocalSettings, SimulatedFileSystem};

pub(crate) fn open(system: &SimulatedFileSystem) -> OffsetStore {
    try_open(Arc::new(system.clone())).expect("the folder opens")
}

/// Small files and frequent checkpoints, so that a short test meets them.
pub(crate) fn try_open(system: Arc<dyn FileSystem>) -> Result<OffsetStore, OpenError> {
    let start = LocalEngine::open(system, LocalSettings::small())?;
    let options = Options { checkpoint_journal_bytes: 8_000, timeout_ms: 20_000, ..Options::default() };
    OffsetStore::open_engine(start.engine, &options, Surroundings::system())
}

pub(crate) fn at(partition: i32, offset: i64) -> NextOffset {
    NextOffset::new("orders", PartitionIndex(partition), Offset(offset))
}

pub(crate) fn commit(
    store: &OffsetStore,
    group: &str,
    generation: Generation,
    offset: i64,
) -> Result<(), Error> {
    store.commit(group, generation, [at(0, offset)])
}

pub(crate) fn committed(store: &OffsetStore, group: &str, partition: i32) -> Option<i64> {
    let committed = store.committed(group, "orders", PartitionIndex(partition)).expect("it can be read");
    committed.as_ref().map(CommittedOffset::offset).map(|offset| offset.0)
}
