//! Loading: replaying a shard's log, batch by batch, in steps of a bounded size.
//!
//! Everything that is in the log is replayed, up to its end. What was appended before a reload and is not durable yet
//! is waited for, so that a shard never serves a state that lacks a record that may still become durable.

use std::fmt;

use milepost_batch::{BatchView, ControlType};
use milepost_log::{FirstBatch, IsolationLevel, LogSet};
use milepost_model::{Instant, Now, Offset, Origin, Shard, TopicPartition};

/// How far a load has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadProgress {
    /// There is more to read.
    More,
    /// All that is durable was read; the rest is being written. Worth another step when the high watermark moved.
    WaitingForDurable,
    /// Nothing is left to load: the shard is active, failed or closed.
    Finished,
}

/// Why a shard is not served: its log holds something that cannot be understood. Guessing could lose a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The partition's folder, or its name where there is none.
    pub place: String,
    /// The offset at which loading stopped.
    pub offset: Offset,
    /// What is wrong there.
    pub reason: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at offset {}: {}", self.place, self.offset, self.reason)
    }
}

impl std::error::Error for Failure {}

/// What a load took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Records replayed, those of unknown types included.
    pub records: u64,
    /// Bytes of log they stood in.
    pub bytes: u64,
    /// From the first read to the last, in microseconds; other shards were loaded meanwhile.
    pub took_us: u64,
}

/// A shard that is being loaded.
pub(crate) struct Load<S> {
    pub(crate) shard: S,
    /// What was read so far.
    loaded: Loaded,
    /// When the first step was made.
    began: Option<Instant>,
    /// The next offset to read; `None` before the first step.
    next: Option<Offset>,
    /// The log is pinned from the first step on: what is read in steps must not lose a tombstone between two of them.
    is_pinned: bool,
}

impl<S: Shard> Load<S> {
    pub(crate) fn new(shard: S) -> Self {
        Self { shard, loaded: Loaded::default(), began: None, next: None, is_pinned: false }
    }

    /// What the load took up to now.
    pub(crate) fn loaded(&self, now: Now) -> Loaded {
        let took_us = self.began.map_or(0, |began| now.monotonic.us_since(began));
        Loaded { took_us, ..self.loaded }
    }

    /// Reads about `budget_bytes`, at least one batch if there is one.
    pub(crate) fn step(
        &mut self,
        logs: &mut LogSet,
        id: TopicPartition,
        now: Now,
        budget_bytes: usize,
    ) -> Result<LoadProgress, Failure> {
        self.began.get_or_insert(now.monotonic);
        if !std::mem::replace(&mut self.is_pinned, true) {
            logs.pin(id);
        }
        let progress = self.read_on(logs, id, budget_bytes);
        if !matches!(progress, Ok(LoadProgress::More | LoadProgress::WaitingForDurable)) {
            self.is_pinned = false;
            logs.unpin(id);
        }
        progress
    }

    fn read_on(
        &mut self,
        logs: &mut LogSet,
        id: TopicPartition,
        budget_bytes: usize,
    ) -> Result<LoadProgress, Failure> {
        let mut left_bytes = budget_bytes.max(1);
        loop {
            let Some(log) = logs.log(id) else {
                return Err(failure(&id.to_string(), Offset::ZERO, "the partition does not exist"));
            };
            let next = self.next.unwrap_or(log.log_start_offset());
            if let Some(reason) = log.offline() {
                return Err(failure(log.directory(), next, reason));
            }
            if next >= log.log_end_offset() {
                return Ok(LoadProgress::Finished);
            }
            if next >= log.high_watermark() {
                return Ok(LoadProgress::WaitingForDurable);
            }
            if left_bytes == 0 {
                return Ok(LoadProgress::More);
            }
            let place = log.directory().to_owned();
            let bytes = match logs.read(
                id,
                next,
                left_bytes,
                FirstBatch::AlwaysWhole,
                IsolationLevel::ReadUncommitted,
            ) {
                Err(error) if error.may_pass() => return Ok(LoadProgress::More),
                read => read.map_err(|error| failure(&place, next, error))?,
            };
            self.replay_batches(&place, next, &bytes)?;
            self.loaded.bytes += bytes.len() as u64;
            left_bytes = left_bytes.saturating_sub(bytes.len());
        }
    }

    fn replay_batches(&mut self, place: &str, from: Offset, mut bytes: &[u8]) -> Result<(), Failure> {
        let mut next = from;
        while !bytes.is_empty() {
            let (batch, rest) = BatchView::parse(bytes).map_err(|error| failure(place, next, error))?;
            self.loaded.records += replay_batch(&mut self.shard, place, next, batch)?;
            next = next.max(batch.next_offset());
            bytes = rest;
        }
        if next == from {
            return Err(failure(place, from, "there is no batch here, though the log does not end"));
        }
        self.next = Some(next);
        Ok(())
    }
}

/// Replays the records of a batch from the offset `from` on; those below were cut off the log's start. `place` says in a
/// failure where the batch lies. Also what is moved in from another broker is tried on a shard with this. Says how many records
/// it replayed, those of unknown types included.
///
/// # Errors
/// [`Failure`]: the batch or a record in it cannot be understood.
pub fn replay_batch<S: Shard>(
    shard: &mut S,
    place: &str,
    from: Offset,
    batch: BatchView<'_>,
) -> Result<u64, Failure> {
    let at_batch = |error: &dyn fmt::Display| failure(place, batch.base_offset(), error);
    if !batch.crc_matches() {
        return Err(at_batch(&"the checksum of the batch is wrong"));
    }
    if batch.is_control() {
        let marker = batch.control_type().map_err(|error| at_batch(&error))?;
        if let (Some(ControlType::Marker(marker)), Some(producer)) = (marker, batch.producer()) {
            shard.replay_marker(batch.base_offset(), producer, marker.end);
        }
        return Ok(0);
    }
    let origin = match batch.producer() {
        Some(producer) if batch.is_transactional() => Origin::Transactional(producer),
        _ => Origin::Plain,
    };
    let records = batch.records().map_err(|error| at_batch(&error))?;
    let mut replayed = 0;
    for record in &records {
        let record = record.map_err(|error| at_batch(&error))?;
        if record.offset < from {
            continue;
        }
        replayed += 1;
        if record.key.is_none() {
            return Err(failure(place, record.offset, "the record has no key"));
        }
        let decoded = shard.decode(record.key, record.value);
        match decoded.map_err(|corrupt| failure(place, record.offset, corrupt.0))? {
            Some(decoded) => shard.replay(record.offset, origin, decoded),
            None => {
                tracing::debug!(place, offset = %record.offset, "skipped a record of an unknown type");
            }
        }
    }
    Ok(replayed)
}

fn failure(place: &str, offset: Offset, reason: impl fmt::Display) -> Failure {
    Failure { place: place.to_owned(), offset, reason: reason.to_string() }
}
