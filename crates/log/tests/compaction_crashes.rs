//! Random histories of compacted logs against a plain model, with restarts, kills and losses of power at any moment.
//!
//! What is read must be records that were written, at their offsets; of every key the last one must be there (or, long
//! after a tombstone, nothing of it); and what was acknowledged must not get lost, however often the cleaner was cut
//! off in the middle. Readers of committed records must see those that are there and count, whatever became of markers.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use milepost_batch::{BatchBuilder, BatchOptions, BatchView, Codec, Marker};
use milepost_log::{
    AppendError, AppendOrigin, CleanerTrust, CleanupPolicy, FirstBatch, IsolationLevel, LogKind, LogSet,
    LogSettings, MarkerEpoch, PartitionConfig,
};
use milepost_model::{
    Now, Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TopicPartition, TransactionEnd,
};
use milepost_storage::{MemoryDisk, SimulatedFileSystem};
use support::model::Disk;
use support::rng::Rng;
use support::{START_MS, committed_offsets, now, partition};

const STEPS: usize = 400;
const KEYS: usize = 12;
const DELETE_RETENTION_MS: i64 = 1500;
/// A producer that only numbers its batches, and those that write in transactions.
const NUMBERED: i64 = 5;
const TRANSACTIONAL: [i64; 3] = [20, 21, 22];

/// How many seeds an ordinary run takes; `LOG_SEEDS` asks for more.
#[expect(clippy::disallowed_methods, reason = "a person asks for more seeds")]
fn seeds() -> u64 {
    std::env::var("LOG_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(150)
}

#[test]
fn compaction_loses_nothing_on_the_engine_in_memory() {
    let removed: u64 = (0..seeds())
        .map(|seed| run(Disk::Memory(MemoryDisk::new()), seed, CleanerTrust::Checkpoint).expect("holds"))
        .sum();
    assert!(removed > 100 * seeds(), "only {removed} records were removed");
}

#[test]
fn compaction_loses_nothing_on_a_disk_that_loses_power() {
    let disk = |seed| Disk::Simulated(SimulatedFileSystem::new(seed));
    let removed: u64 =
        (0..seeds()).map(|seed| run(disk(seed), seed, CleanerTrust::Checkpoint).expect("holds")).sum();
    assert!(removed > 100 * seeds(), "only {removed} records were removed");
}

/// The planted bug: these histories must be able to see it.
#[test]
fn old_segments_that_go_before_the_checkpoint_are_noticed() {
    let found = (0..seeds()).any(|seed| {
        let disk = Disk::Simulated(SimulatedFileSystem::new(seed));
        run(disk, seed, CleanerTrust::Written).is_err()
    });
    assert!(found, "no history noticed it");
}

macro_rules! check {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

struct Written {
    key: String,
    value: Option<String>,
    timestamp_ms: i64,
    /// In whose transaction.
    transaction_of: Option<i64>,
}

#[derive(Default)]
struct Model {
    records: BTreeMap<i64, Written>,
    markers: BTreeMap<i64, (i64, TransactionEnd)>,
    end: i64,
    acknowledged_end: i64,
    log_start: i64,
    wanted_log_start: i64,
    /// The next one of each producer.
    sequences: BTreeMap<i64, i32>,
}

impl Model {
    /// The marker that ended the transaction of a record.
    fn marker_of(&self, offset: i64) -> Option<(i64, TransactionEnd)> {
        let producer = self.records[&offset].transaction_of?;
        let later = self.markers.range(offset..);
        later
            .map(|(at, marker)| (*at, *marker))
            .find(|(_, (of, _))| *of == producer)
            .map(|(at, (_, end))| (at, end))
    }

    /// Whether a record counts when the log is durable up to `end`: it was committed or needed no commit.
    fn counts(&self, offset: i64, end: i64) -> bool {
        let is_committed = |(at, marker)| at < end && marker == TransactionEnd::Commit;
        self.records[&offset].transaction_of.is_none() || self.marker_of(offset).is_some_and(is_committed)
    }

    /// The first record of which nobody knows yet whether it counts.
    fn first_unstable(&self, end: i64) -> Option<i64> {
        let mut written = self.records.range(..end).filter(|(_, record)| record.transaction_of.is_some());
        written
            .find(|(offset, _)| self.marker_of(**offset).is_none_or(|(at, _)| at >= end))
            .map(|(at, _)| *at)
    }
}

struct History {
    disk: Disk,
    rng: Rng,
    set: Option<LogSet>,
    id: TopicPartition,
    kind: LogKind,
    model: Model,
    clock_ms: i64,
    written: u64,
    pinned: bool,
    removed: u64,
    trust: CleanerTrust,
}

fn config() -> PartitionConfig {
    PartitionConfig {
        segment_bytes: 1500,
        index_interval_bytes: 150,
        cleanup: CleanupPolicy::Compact,
        min_cleanable_dirty_ratio: 0.3,
        delete_retention_ms: DELETE_RETENTION_MS,
        ..PartitionConfig::default()
    }
}

/// Runs one history; gives how many removed records it saw.
fn run(disk: Disk, seed: u64, trust: CleanerTrust) -> Result<u64, String> {
    let mut rng = Rng::new(seed);
    let kind = if rng.chance(2) { LogKind::Internal } else { LogKind::User };
    let mut history = History {
        disk,
        rng,
        set: None,
        id: partition(1),
        kind,
        model: Model::default(),
        clock_ms: 0,
        written: 0,
        pinned: false,
        removed: 0,
        trust,
    };
    history.start()?;
    for step in 0..STEPS {
        history.step().map_err(|error| format!("seed {seed}, step {step}: {error}"))?;
    }
    history.crash().map_err(|error| format!("seed {seed}, at the end: {error}"))?;
    Ok(history.removed)
}

impl History {
    fn set(&mut self) -> &mut LogSet {
        self.set.as_mut().expect("open between two steps")
    }

    fn now(&self) -> Now {
        now(self.clock_ms)
    }

    fn settings(&mut self) -> LogSettings {
        LogSettings {
            max_round_bytes: 1200,
            max_unwritten_bytes: 2000,
            checkpoint_journal_bytes: 20_000,
            cleaner_backoff_ms: 20,
            early_cleaning_bytes: 4000,
            max_cleaned_keys: if self.rng.chance(3) { 7 } else { 1000 },
            hash_key: 99,
            cleaner_trust: self.trust,
            ..LogSettings::default()
        }
    }

    fn step(&mut self) -> Result<(), String> {
        self.clock_ms += i64::try_from(self.rng.below(30)).expect("small");
        let at = self.now();
        let id = self.id;
        match self.rng.below(100) {
            0..33 => self.append()?,
            33..38 => self.mark()?,
            38..60 => self.round(),
            60..86 => self.clean(),
            86..88 => self.compare()?,
            88 => self.set().request_checkpoint(),
            89 => self.set().request_cleaning(id, at),
            90 => self.raise_log_start(),
            91 => self.pin_or_unpin(),
            92..95 => {
                let operations = self.rng.next() % 40;
                self.disk.power_off_after(operations);
            }
            95 => self.crash()?,
            96 => {
                self.set = None;
                self.start()?;
            }
            97 => {
                let free = self.rng.next() % 12_000;
                let free = (!self.rng.chance(2)).then_some(free);
                self.disk.leave_free(free);
            }
            98 => self.stop_and_start()?,
            _ if self.rng.chance(3) => self.delete_and_create(),
            _ => self.compare()?,
        }
        if self.disk.is_off() || self.set().poisoned().is_some() {
            self.crash()?;
        }
        Ok(())
    }

    fn crash(&mut self) -> Result<(), String> {
        let seed = self.rng.next();
        self.disk.crash(seed);
        self.set = None;
        self.start()
    }

    fn start(&mut self) -> Result<(), String> {
        self.disk.leave_free(None);
        self.pinned = false;
        let settings = self.settings();
        loop {
            let opened = self.disk.open().and_then(|engine| {
                LogSet::open(engine, settings.clone(), self.now()).map_err(|error| error.to_string())
            });
            if self.disk.is_off() {
                let seed = self.rng.next();
                self.disk.crash(seed);
                continue;
            }
            let (mut set, report) = opened?;
            check!(report.offline.is_empty(), "offline: {:?}", report.offline);
            if set.log(self.id).is_none() {
                check!(self.model.acknowledged_end == 0, "the log is gone");
                self.model = Model::default();
                let made = set.create_partition(self.id, "compacted-0", self.kind, config());
                made.map_err(|error| error.to_string())?;
            }
            for other in set.partitions().filter(|other| *other != self.id).collect::<Vec<_>>() {
                set.delete_partition(other);
            }
            set.configure(self.id, self.kind, config());
            let log = set.log(self.id).expect("just made");
            let (start, end) = (log.log_start_offset().0, log.high_watermark().0);
            let model = &mut self.model;
            check!(end >= model.acknowledged_end, "{end} below acknowledged {}", model.acknowledged_end);
            check!(start >= model.log_start && start <= model.wanted_log_start, "log start {start}");
            model.records.split_off(&end);
            model.markers.split_off(&end);
            (model.end, model.acknowledged_end) = (end, end);
            (model.log_start, model.wanted_log_start) = (start, start);
            self.set = Some(set);
            return self.compare();
        }
    }

    fn stop_and_start(&mut self) -> Result<(), String> {
        self.disk.leave_free(None);
        let at = self.now();
        self.set().begin_clean_stop(at);
        for _ in 0..2000 {
            self.clock_ms += 1;
            let at = self.now();
            let set = self.set();
            set.clean(at, 200);
            set.begin_round(at);
            set.poll(at);
            if set.is_cleanly_stopped() || set.poisoned().is_some() || self.disk.is_off() {
                self.set = None;
                return if self.disk.is_off() { self.crash() } else { self.start() };
            }
        }
        Err("it does not stop".into())
    }

    fn delete_and_create(&mut self) {
        let id = self.id;
        self.set().delete_partition(id);
        self.id.partition.0 += 1;
        let (id, kind) = (self.id, self.kind);
        self.model = Model::default();
        self.pinned = false;
        // The one of before, or refused for want of room: the next start makes it.
        let _ = self.set().create_partition(id, "compacted-0", kind, config());
    }

    fn batch(&mut self) -> (Vec<u8>, Vec<Written>) {
        let timestamp_ms = START_MS + self.clock_ms;
        let mut options = BatchOptions::default();
        if self.rng.chance(3) {
            options.codec = Codec::Lz4;
        }
        let transaction_of = self.rng.chance(3).then(|| TRANSACTIONAL[self.rng.below(TRANSACTIONAL.len())]);
        let numbered = transaction_of.or(self.rng.chance(4).then_some(NUMBERED));
        if let Some(producer) = numbered {
            options.producer = Some(ProducerIdentity { id: ProducerId(producer), epoch: ProducerEpoch(0) });
            options.base_sequence = Some(self.model.sequences.get(&producer).copied().unwrap_or(0));
            options.transactional = transaction_of.is_some();
        }
        let mut builder = BatchBuilder::new(options);
        let mut records = Vec::new();
        for _ in 0..=self.rng.below(4) {
            self.written += 1;
            let key = format!("key-{}", self.rng.below(KEYS));
            let padding = self.rng.below(90);
            let value = (!self.rng.chance(5)).then(|| format!("{:0>padding$}", self.written));
            let bytes = value.as_ref().map(String::as_bytes);
            builder.append(Timestamp(timestamp_ms), Some(key.as_bytes()), bytes, &[]).expect("fits");
            records.push(Written { key, value, timestamp_ms, transaction_of });
        }
        (builder.build(Offset::ZERO), records)
    }

    fn append(&mut self) -> Result<(), String> {
        let (bytes, records) = self.batch();
        let (id, at) = (self.id, self.now());
        let (view, _) = BatchView::parse(&bytes).expect("just built");
        let producer = view.producer().map(|producer| producer.id.0);
        match self.set().append(id, &bytes, AppendOrigin::Client, at) {
            Ok(appended) => {
                let model = &mut self.model;
                check!(appended.base_offset.0 == model.end, "base offset {}", appended.base_offset);
                if let Some(producer) = producer {
                    *model.sequences.entry(producer).or_default() +=
                        i32::try_from(records.len()).expect("few");
                }
                for (offset, record) in (model.end..).zip(records) {
                    model.records.insert(offset, record);
                    model.end = offset + 1;
                }
                Ok(())
            }
            // After a crash that took batches of it, or a deletion: it begins anew.
            Err(AppendError::OutOfOrderSequence { expected }) => {
                self.model.sequences.extend(producer.map(|producer| (producer, expected)));
                Ok(())
            }
            Err(AppendError::Poisoned { .. } | AppendError::DiskFull | AppendError::UnknownPartition) => {
                Ok(())
            }
            Err(error) => Err(format!("append: {error}")),
        }
    }

    fn mark(&mut self) -> Result<(), String> {
        let producer = TRANSACTIONAL[self.rng.below(TRANSACTIONAL.len())];
        let end = if self.rng.chance(2) { TransactionEnd::Commit } else { TransactionEnd::Abort };
        let identity = ProducerIdentity { id: ProducerId(producer), epoch: ProducerEpoch(0) };
        let marker = Marker { end, coordinator_epoch: 1 };
        let (id, at) = (self.id, self.now());
        match self.set().append_marker(id, identity, marker, MarkerEpoch::AtLeastKnown, at) {
            Ok(appended) => {
                let model = &mut self.model;
                check!(appended.base_offset.0 == model.end, "a marker at {}", appended.base_offset);
                model.markers.insert(model.end, (producer, end));
                model.end += 1;
                Ok(())
            }
            Err(AppendError::Poisoned { .. } | AppendError::DiskFull | AppendError::UnknownPartition) => {
                Ok(())
            }
            Err(error) => Err(format!("append a marker: {error}")),
        }
    }

    fn round(&mut self) {
        let (at, id) = (self.now(), self.id);
        let set = self.set();
        set.begin_round(at);
        let progress = set.poll(at);
        if progress.advanced.contains(&id) {
            let log = set.log(id).expect("it advanced");
            let (end, start) = (log.high_watermark().0, log.log_start_offset().0);
            self.model.acknowledged_end = end;
            self.model.log_start = start;
        }
    }

    fn clean(&mut self) {
        let at = self.now();
        let budget_bytes = 1 + self.rng.below(3000);
        let turns = 1 + self.rng.below(4);
        let set = self.set();
        for _ in 0..turns {
            set.clean(at, budget_bytes);
            set.poll(at);
        }
    }

    fn raise_log_start(&mut self) {
        let (id, end) = (self.id, self.model.acknowledged_end);
        let wanted =
            Offset(self.model.log_start + i64::try_from(self.rng.below(20)).expect("small")).0.min(end);
        if self.set().advance_log_start(id, Offset(wanted)).is_ok() {
            self.model.wanted_log_start = self.model.wanted_log_start.max(wanted);
        }
    }

    fn pin_or_unpin(&mut self) {
        let id = self.id;
        if self.pinned {
            self.set().unpin(id);
        } else {
            self.set().pin(id);
        }
        self.pinned = !self.pinned;
    }

    /// Reads everything and judges it.
    fn compare(&mut self) -> Result<(), String> {
        let id = self.id;
        let set = self.set.as_mut().expect("open");
        let Some(log) = set.log(id) else { return Ok(()) };
        let (mut from, end) = (log.log_start_offset(), log.high_watermark());
        let start = from;
        let mut found: BTreeMap<i64, (String, Option<String>)> = BTreeMap::new();
        let mut markers = BTreeSet::new();
        while from < end {
            let bytes =
                match set.read(id, from, 700, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted) {
                    Ok(bytes) => bytes,
                    Err(_) if self.disk.is_off() => return Ok(()),
                    Err(error) => return Err(format!("read at {from}: {error}")),
                };
            check!(!bytes.is_empty(), "nothing at {from} below {end}");
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (batch, after) = BatchView::parse(rest).map_err(|error| error.to_string())?;
                check!(batch.crc_matches() && batch.next_offset() > from, "a bad batch at {from}");
                if batch.is_control() {
                    markers.extend((batch.record_count() > 0).then_some(batch.base_offset().0));
                    (from, rest) = (batch.next_offset(), after);
                    continue;
                }
                for record in &batch.records().map_err(|error| error.to_string())? {
                    let record = record.map_err(|error| error.to_string())?;
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it was text");
                    let key = text(record.key.expect("all have keys"));
                    found.insert(record.offset.0, (key, record.value.map(text)));
                }
                from = batch.next_offset();
                rest = after;
            }
        }
        let told = set.log(id).expect("it was there").last_stable_offset().0;
        let seen = match committed_offsets(set, id, 300) {
            Err(_) if self.disk.is_off() => return Ok(()),
            seen => seen?,
        };
        let model = &self.model;
        let stable = model.first_unstable(end.0).map_or(end.0, |first| first.max(start.0));
        check!(told == stable, "last stable offset {told}, expected {stable}");
        let counts = |offset: &i64| *offset < stable && model.counts(*offset, end.0);
        let expected: Vec<_> = found.range(start.0..).map(|(at, _)| *at).filter(counts).collect();
        check!(seen == expected, "sees {seen:?} committed, expected {expected:?}");
        for offset in found.keys() {
            let marker = model.records.get(offset).and_then(|_| model.marker_of(*offset));
            let is_there = marker.is_none_or(|(at, _)| at >= end.0 || markers.contains(&at));
            check!(is_there, "{offset} is there and its marker {marker:?} is not");
        }
        self.judge(start, end, stable, &found)
    }

    fn judge(
        &mut self,
        start: Offset,
        end: Offset,
        stable: i64,
        found: &BTreeMap<i64, (String, Option<String>)>,
    ) -> Result<(), String> {
        let model = &self.model;
        let counts = |offset: &i64| *offset < stable && model.counts(*offset, end.0);
        let mut last: BTreeMap<&str, i64> = BTreeMap::new();
        for (offset, record) in model.records.range(..stable).filter(|(offset, _)| counts(offset)) {
            last.insert(&record.key, *offset);
        }
        let untouched = model.records.range(stable.max(start.0)..end.0);
        if let Some((offset, _)) = untouched.into_iter().find(|(offset, _)| !found.contains_key(offset)) {
            return Err(format!("{offset} is above the last stable offset {stable} and gone"));
        }
        for (offset, (key, value)) in found {
            let Some(written) = self.model.records.get(offset) else {
                return Err(format!("{offset} was never written"));
            };
            check!(written.key == *key && written.value == *value, "{offset} reads {key}={value:?}");
        }
        self.removed +=
            (self.model.records.range(start.0..end.0).count() - found.range(start.0..).count()) as u64;
        for (key, offset) in last {
            let written = &self.model.records[&offset];
            let has_expired = written.value.is_none()
                && START_MS + self.clock_ms >= written.timestamp_ms + DELETE_RETENTION_MS;
            if found.contains_key(&offset) || offset < start.0 {
                continue;
            }
            check!(has_expired, "the last record of {key}, at {offset}, is gone");
            let risen = found.iter().find(|(at, (other, _))| other == key && counts(at));
            check!(risen.is_none(), "{key} was deleted at {offset} and is back: {risen:?}");
        }
        Ok(())
    }
}
