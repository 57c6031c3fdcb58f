//! What the tests of this room share: time, batches, and driving a [`LogSet`] to rest.
#![allow(dead_code, reason = "every test file uses another part")]

pub(crate) mod cleaning;
pub(crate) mod dump;
pub(crate) mod history;
pub(crate) mod model;
pub(crate) mod rng;

use std::collections::BTreeSet;

use milepost_batch::{BatchBuilder, BatchOptions, BatchView, Codec, ControlType};
use milepost_log::{
    AbortedTransaction, AppendError, AppendOrigin, Appended, FirstBatch, IsolationLevel, LogKind, LogSet,
    LogSettings, PartitionConfig, ReadError, RecoveryReport,
};
use milepost_model::{
    Instant, Now, Offset, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TopicId,
    TopicPartition, TransactionEnd,
};
use milepost_storage::{MemoryDisk, MemoryEngine};

pub(crate) const START_MS: i64 = 1_700_000_000_000;

pub(crate) fn now(ms: i64) -> Now {
    Now {
        monotonic: Instant(u64::try_from(ms).expect("tests go forward") * 1000),
        wall: Timestamp(START_MS + ms),
    }
}

pub(crate) fn partition(number: u8) -> TopicPartition {
    TopicPartition { topic: TopicId([number; 16]), partition: PartitionIndex(0) }
}

pub(crate) fn open(disk: &MemoryDisk) -> (LogSet, RecoveryReport) {
    // Files are looked at: nothing waits to be written.
    open_with(disk, LogSettings { max_unwritten_bytes: 0, ..LogSettings::default() })
}

pub(crate) fn open_with(disk: &MemoryDisk, settings: LogSettings) -> (LogSet, RecoveryReport) {
    let engine = MemoryEngine::open(disk).expect("nobody else has it open");
    LogSet::open(engine, settings, now(0)).expect("opens")
}

/// A batch of records with these values, one millisecond apart from `timestamp_ms` on.
pub(crate) fn batch_at(timestamp_ms: i64, values: &[&[u8]]) -> Vec<u8> {
    build(BatchOptions::default(), timestamp_ms, values)
}

pub(crate) fn batch(values: &[&[u8]]) -> Vec<u8> {
    batch_at(START_MS, values)
}

pub(crate) fn compressed(timestamp_ms: i64, values: &[&[u8]]) -> Vec<u8> {
    build(BatchOptions { codec: Codec::Gzip, ..BatchOptions::default() }, timestamp_ms, values)
}

pub(crate) fn numbered(producer: i64, epoch: i16, sequence: i32, values: &[&[u8]]) -> Vec<u8> {
    numbered_at(START_MS, producer, epoch, sequence, values)
}

pub(crate) fn numbered_at(
    timestamp_ms: i64,
    producer: i64,
    epoch: i16,
    sequence: i32,
    values: &[&[u8]],
) -> Vec<u8> {
    let identity = ProducerIdentity { id: ProducerId(producer), epoch: ProducerEpoch(epoch) };
    let options =
        BatchOptions { producer: Some(identity), base_sequence: Some(sequence), ..BatchOptions::default() };
    build(options, timestamp_ms, values)
}

/// A batch of a producer's transaction.
pub(crate) fn transactional(producer: i64, epoch: i16, sequence: i32, values: &[&[u8]]) -> Vec<u8> {
    transactional_at(START_MS, producer, epoch, sequence, values)
}

pub(crate) fn transactional_at(
    timestamp_ms: i64,
    producer: i64,
    epoch: i16,
    sequence: i32,
    values: &[&[u8]],
) -> Vec<u8> {
    let identity = ProducerIdentity { id: ProducerId(producer), epoch: ProducerEpoch(epoch) };
    let options = BatchOptions {
        producer: Some(identity),
        base_sequence: Some(sequence),
        transactional: true,
        ..BatchOptions::default()
    };
    build(options, timestamp_ms, values)
}

pub(crate) fn build(options: BatchOptions, timestamp_ms: i64, values: &[&[u8]]) -> Vec<u8> {
    let mut builder = BatchBuilder::new(options);
    for (index, value) in (0i64..).zip(values) {
        builder.append(Timestamp(timestamp_ms + index), Some(b"key"), Some(value), &[]).expect("fits");
    }
    builder.build(Offset::ZERO)
}

/// Rounds and polls until nothing is left to do (on an engine that completes at once).
pub(crate) fn settle(set: &mut LogSet, at: Now) {
    for _ in 0..1000 {
        set.begin_round(at);
        let progress = set.poll(at);
        assert_eq!(progress.poisoned, None);
        if !set.has_work() && !set.is_flushing() && !set.is_checkpointing() {
            return;
        }
    }
    panic!("it does not settle");
}

pub(crate) fn create(set: &mut LogSet, number: u8, config: PartitionConfig) -> TopicPartition {
    let id = partition(number);
    set.create_partition(id, &format!("topic{number}-0"), LogKind::User, config).expect("creates");
    settle(set, now(0));
    id
}

pub(crate) fn append(set: &mut LogSet, id: TopicPartition, batch: &[u8]) -> Result<Appended, AppendError> {
    set.append(id, batch, AppendOrigin::Client, now(1))
}

/// Everything below the high watermark, as offset and value of each record.
pub(crate) fn read_all(set: &mut LogSet, id: TopicPartition) -> Vec<(i64, Vec<u8>)> {
    let mut all = Vec::new();
    let mut from = set.log(id).expect("is there").log_start_offset();
    loop {
        let bytes = set
            .read(id, from, 1000, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted)
            .expect("reads");
        if bytes.is_empty() {
            assert_eq!(from, set.log(id).expect("is there").high_watermark(), "a read stops only at the end");
            return all;
        }
        from = collect(&bytes, from, &mut all);
    }
}

/// As [`collect`], for histories that report instead of panicking.
pub(crate) fn collect_checked(
    mut bytes: &[u8],
    mut from: Offset,
    all: &mut Vec<(i64, Vec<u8>)>,
) -> Result<Offset, String> {
    while !bytes.is_empty() {
        let (batch, rest) = BatchView::parse(bytes).map_err(|error| error.to_string())?;
        if !batch.crc_matches() {
            return Err(format!("the batch at {} is damaged", batch.base_offset()));
        }
        for record in &batch.records().map_err(|error| error.to_string())? {
            let record = record.map_err(|error| error.to_string())?;
            if record.offset >= from {
                all.push((record.offset.0, record.value.unwrap_or_default().to_vec()));
            }
        }
        from = batch.next_offset();
        bytes = rest;
    }
    Ok(from)
}

/// The records of whole batches at or above `from`; gives the offset after the last.
pub(crate) fn collect(bytes: &[u8], from: Offset, all: &mut Vec<(i64, Vec<u8>)>) -> Offset {
    collect_checked(bytes, from, all).expect("what is read is what was written")
}

/// The offsets of the records that a client sees that reads committed records only, as Kafka's clients do it: up to the
/// last stable offset, without control batches, and without what belongs to an aborted transaction.
pub(crate) fn committed_offsets(
    set: &mut LogSet,
    id: TopicPartition,
    max_bytes: usize,
) -> Result<Vec<i64>, String> {
    let log = set.log(id).ok_or("it is gone")?;
    let (mut from, end) = (log.log_start_offset(), log.last_stable_offset());
    let mut seen = Vec::new();
    while from < end {
        let bytes = set
            .read(id, from, max_bytes, FirstBatch::AlwaysWhole, IsolationLevel::ReadCommitted)
            .map_err(|error| error.to_string())?;
        if bytes.is_empty() {
            return Err(format!("nothing at {from} below the last stable offset {end}"));
        }
        let to = last_batch_end(&bytes)?;
        let mut aborted = set.aborted_transactions(id, from, to).map_err(|error| error.to_string())?;
        if !aborted.is_sorted_by_key(|transaction| transaction.first_offset) {
            return Err(format!("not in their order: {aborted:?}"));
        }
        aborted.reverse();
        see_committed(&bytes, from, aborted, &mut seen)?;
        from = to;
    }
    Ok(seen)
}

fn last_batch_end(mut bytes: &[u8]) -> Result<Offset, String> {
    let mut end = Offset::ZERO;
    while !bytes.is_empty() {
        let (batch, rest) = BatchView::parse(bytes).map_err(|error| error.to_string())?;
        (end, bytes) = (batch.next_offset(), rest);
    }
    Ok(end)
}

/// One answer to a fetch, with its aborted transactions, the first one last.
fn see_committed(
    mut bytes: &[u8],
    from: Offset,
    mut aborted: Vec<AbortedTransaction>,
    seen: &mut Vec<i64>,
) -> Result<(), String> {
    let mut skipped = BTreeSet::new();
    while !bytes.is_empty() {
        let (batch, rest) = BatchView::parse(bytes).map_err(|error| error.to_string())?;
        bytes = rest;
        while let Some(next) = aborted.pop_if(|next| next.first_offset <= batch.last_offset()) {
            skipped.insert(next.producer_id);
        }
        let producer = batch.producer().map(|producer| producer.id);
        let marker = batch.control_type().map_err(|error| error.to_string())?;
        if let (Some(ControlType::Marker(marker)), Some(producer)) = (marker, producer) {
            if marker.end == TransactionEnd::Abort {
                skipped.remove(&producer);
            }
            continue;
        }
        let is_skipped = batch.is_transactional() && producer.is_some_and(|id| skipped.contains(&id));
        if batch.is_control() || is_skipped {
            continue;
        }
        for record in &batch.records().map_err(|error| error.to_string())? {
            let record = record.map_err(|error| error.to_string())?;
            seen.extend(Some(record.offset.0).filter(|offset| *offset >= from.0));
        }
    }
    Ok(())
}

pub(crate) fn stop_cleanly(mut set: LogSet, at: Now) {
    set.begin_clean_stop(at);
    for _ in 0..1000 {
        set.begin_round(at);
        set.poll(at);
        if set.is_cleanly_stopped() {
            return;
        }
    }
    panic!("it does not stop");
}

pub(crate) fn is_out_of_range<T>(result: &Result<T, ReadError>) -> bool {
    matches!(result, Err(ReadError::OutOfRange { .. }))
}
