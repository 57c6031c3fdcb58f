//! Opening: recovery, the metadata, the topic of committed offsets, and its shards, all loaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_coordinator::{Coordinators, Settings};
use milepost_groups::Groups;
use milepost_log::metadata::{
    DEFAULT_OFFSETS_PARTITIONS, DEFAULT_OFFSETS_SEGMENT_BYTES, MetadataLog, OFFSETS_TOPIC, ProposeError,
    Topic, new_offsets_topic, offsets_partition_config, random_uuid,
};
use milepost_log::{LogKind, LogSet, LogSettings, PartitionLog, RecoveryReport};

use crate::engine::{Engine, Signal};
use crate::options::group_settings;
use crate::{Error, OpenError, Options, Surroundings};

/// Recovers what a storage engine holds. Returns when a new folder's first records are durable and all is loaded.
pub(crate) fn open(
    storage: milepost_storage::Engine,
    options: &Options,
    surroundings: Surroundings,
) -> Result<(Engine, RecoveryReport), OpenError> {
    let Surroundings { now: clock, mut random } = surroundings;
    let now = clock();
    let log_settings = LogSettings {
        checkpoint_journal_bytes: options.checkpoint_journal_bytes,
        hash_key: u128::from_le_bytes(random()),
        ..LogSettings::default()
    };
    let (mut logs, report) = LogSet::open(storage, log_settings, now)?;
    let mut metadata = MetadataLog::load(&mut logs)?;
    metadata.remove_orphans(&mut logs);
    let offsets = metadata.image().topic(OFFSETS_TOPIC).cloned().unwrap_or_else(|| {
        let segment_bytes = DEFAULT_OFFSETS_SEGMENT_BYTES.to_string();
        Arc::new(new_offsets_topic(random_uuid(random()), DEFAULT_OFFSETS_PARTITIONS, &segment_bytes))
    });
    metadata.propose_first_records(&mut logs, &offsets, || random_uuid(random()), now)?;
    open_partitions(&mut logs, &offsets)?;
    let signal = Arc::new(Signal::default());
    let waker = Arc::clone(&signal);
    logs.set_waker(Arc::new(move || waker.set()));
    // The library counts a call's time itself, so the shards need not.
    let runtime = Settings { commit_timeout_ms: u64::MAX, ..Settings::default() };
    let [a, b, c, d, e, f, g, h, ..] = random();
    let hash_seed = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    let coordinators = Coordinators::new(offsets.id, offsets.partition_count, runtime, move |_| {
        Groups::new(group_settings(), hash_seed)
    });
    let mut engine = Engine {
        logs,
        metadata,
        coordinators,
        clock,
        signal,
        timeout_ms: options.timeout_ms,
        open: BTreeMap::new(),
        next_ticket: 0,
        compacting: Vec::new(),
        cleans_on: false,
        closing: None,
        is_stopped: false,
    };
    settle(&mut engine, &offsets)?;
    Ok((engine, report))
}

/// Makes the partitions that are missing; the others get their settings, on a full disk too.
fn open_partitions(logs: &mut LogSet, offsets: &Topic) -> Result<(), ProposeError> {
    for (id, directory) in offsets.partitions() {
        let config = offsets_partition_config(offsets);
        if logs.log(id).is_some() {
            logs.configure(id, LogKind::Internal, config);
        } else {
            logs.create_partition(id, &directory, LogKind::Internal, config)?;
        }
    }
    Ok(())
}

/// Takes turns until the first records are durable and every shard is loaded.
fn settle(engine: &mut Engine, offsets: &Topic) -> Result<(), Error> {
    let give_up_at = (engine.clock)().monotonic.plus_ms(engine.timeout_ms);
    loop {
        engine.turn(Vec::new());
        if let Some(reason) = engine.logs.poisoned() {
            return Err(Error::Poisoned(reason.to_owned()));
        }
        let is_durable =
            offsets.partitions().all(|(id, _)| engine.logs.log(id).is_some_and(PartitionLog::is_durable));
        if is_durable && engine.metadata.image().cluster_id().is_some() && engine.coordinators.is_loaded() {
            return Ok(());
        }
        if give_up_at <= (engine.clock)().monotonic {
            return Err(Error::TimedOut);
        }
        engine.wait_for_disk();
    }
}
