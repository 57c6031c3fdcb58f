//! Random histories against a plain model, with restarts, kills and losses of power at any moment.

use milepost_log::{
    AppendError, AppendOrigin, FirstBatch, IsolationLevel, LogKind, LogSet, LogSettings, OpenError,
    PartitionConfig, RecoveryTrust,
};
use milepost_model::{Offset, Timestamp};

use super::model::{Disk, Model, ModelBatch, Part};
use super::rng::Rng;
use super::*;

/// How long one history is.
const STEPS: usize = 250;
const PRODUCERS: i64 = 2;

macro_rules! check {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

mod transactions;

struct History {
    disk: Disk,
    rng: Rng,
    set: Option<LogSet>,
    models: Vec<Model>,
    settings: LogSettings,
    clock_ms: i64,
    next_id: u8,
    next_value: u64,
    epoch: i32,
    was_full: bool,
}

fn config() -> PartitionConfig {
    PartitionConfig {
        segment_bytes: 1500,
        index_interval_bytes: 150,
        segment_ms: 2000,
        ..PartitionConfig::default()
    }
}

fn settings(trust: RecoveryTrust) -> LogSettings {
    LogSettings {
        max_round_bytes: 1200,
        max_unwritten_bytes: 2000,
        checkpoint_journal_bytes: 6000,
        recovery_trust: trust,
        ..LogSettings::default()
    }
}

/// Runs one history from a seed.
pub(crate) fn run(disk: Disk, seed: u64, trust: RecoveryTrust) -> Result<(), String> {
    let mut history = History {
        disk,
        rng: Rng::new(seed),
        set: None,
        models: Vec::new(),
        settings: settings(trust),
        clock_ms: 0,
        next_id: 0,
        next_value: 0,
        epoch: 0,
        was_full: false,
    };
    history.start()?;
    history.create();
    history.create();
    for step in 0..STEPS {
        history.step().map_err(|error| format!("seed {seed}, step {step}: {error}"))?;
    }
    history.finish().map_err(|error| format!("seed {seed}, at the end: {error}"))
}

impl History {
    fn set(&mut self) -> &mut LogSet {
        self.set.as_mut().expect("open between two steps")
    }

    fn now(&self) -> milepost_model::Now {
        now(self.clock_ms)
    }

    fn step(&mut self) -> Result<(), String> {
        self.clock_ms += i64::try_from(self.rng.below(40)).expect("small");
        let dice = self.rng.below(100);
        match dice {
            0..30 => self.append()?,
            30..39 => self.append_in_transaction()?,
            39..45 => self.mark()?,
            45..52 => self.append_again()?,
            52..75 => self.round()?,
            75..88 => self.read()?,
            88 => self.create(),
            89 => {
                let free = self.rng.next() % 30_000;
                let free = (!self.rng.chance(3)).then_some(free);
                self.was_full |= free.is_some();
                self.disk.leave_free(free);
            }
            90 => self.delete(),
            91..93 => self.raise_log_start()?,
            93 => self.set().request_checkpoint(),
            94..96 => {
                let operations = self.rng.next() % 60;
                self.disk.power_off_after(operations);
            }
            96 => self.crash()?,
            97 => {
                // Killed: the operating system lives on.
                self.set = None;
                self.start()?;
            }
            _ => self.stop_and_start()?,
        }
        if self.disk.is_off() {
            self.crash()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), String> {
        self.crash()?;
        self.stop_and_start()?;
        self.crash()?;
        if let Disk::Simulated(system) = &self.disk {
            dump::check_segment_files(&system.files())?;
        }
        Ok(())
    }

    fn crash(&mut self) -> Result<(), String> {
        let seed = self.rng.next();
        self.disk.crash(seed);
        self.set = None;
        self.start()
    }

    fn stop_and_start(&mut self) -> Result<(), String> {
        let at = self.now();
        self.disk.leave_free(None);
        let mut set = self.set.take().expect("open between two steps");
        set.begin_clean_stop(at);
        let mut turns = 0;
        while !set.is_cleanly_stopped() {
            // A failed checkpoint is tried again after a while.
            self.clock_ms += 1;
            let at = self.now();
            set.begin_round(at);
            set.poll(at);
            turns += 1;
            if self.disk.is_off() {
                drop(set);
                return self.crash();
            }
            if let Some(reason) = set.poisoned() {
                check!(self.was_full, "poisoned: {reason}");
                drop(set);
                return self.start();
            }
            check!(turns < 10_000, "it does not stop");
        }
        drop(set);
        // Everything accepted became durable.
        for model in &mut self.models {
            model.acknowledged_end = model.end();
            model.created = true;
            model.log_start = model.wanted_log_start;
        }
        self.start()?;
        Ok(())
    }

    /// Opens, and compares everything with the model; again when the power goes meanwhile.
    fn start(&mut self) -> Result<(), String> {
        self.disk.leave_free(None);
        loop {
            let started = self.try_start();
            if !self.disk.is_off() {
                return started;
            }
            self.set = None;
            let seed = self.rng.next();
            self.disk.crash(seed);
        }
    }

    fn try_start(&mut self) -> Result<(), String> {
        let engine = self.disk.open()?;
        let opened = LogSet::open(engine, self.settings.clone(), self.now());
        let (mut set, report) = opened.map_err(|error: OpenError| format!("does not open: {error}"))?;
        check!(report.offline.is_empty(), "offline: {:?}", report.offline);
        check!(set.leader_epoch().0 > self.epoch, "the epoch did not rise");
        self.epoch = set.leader_epoch().0;
        let known: Vec<_> = self.models.iter().map(|model| model.id).collect();
        for id in set.partitions().filter(|id| !known.contains(id)) {
            // Its deletion was not durable.
            set.delete_partition(id);
        }
        self.set = Some(set);
        let mut models = std::mem::take(&mut self.models);
        let compared = models.iter_mut().try_for_each(|model| self.compare_after_start(model));
        self.models = models;
        compared?;
        let set = self.set.as_ref().expect("just opened");
        self.models.retain(|model| set.log(model.id).is_some());
        while self.models.len() < 2 {
            self.create();
        }
        Ok(())
    }

    fn compare_after_start(&mut self, model: &mut Model) -> Result<(), String> {
        let set = self.set.as_mut().expect("just opened");
        let Some(log) = set.log(model.id) else {
            check!(!model.created, "{} was created durably and is gone", model.id);
            return Ok(());
        };
        let (start, end) = (log.log_start_offset().0, log.high_watermark().0);
        check!(log.log_end_offset().0 == end, "the log does not end at its high watermark");
        check!(
            end >= model.acknowledged_end,
            "{}: {end} below acknowledged {}",
            model.id,
            model.acknowledged_end
        );
        check!(start >= model.log_start && start <= model.wanted_log_start, "log start {start} of {model:?}");
        model.batches.retain(|batch| batch.base < end);
        check!(model.end() == end, "{}: ends inside a batch, at {end}", model.id);
        (model.created, model.acknowledged_end) = (true, end);
        (model.log_start, model.wanted_log_start) = (start, start);
        set.configure(model.id, model.kind, config());
        self.compare_content(model)
    }

    fn compare_content(&mut self, model: &Model) -> Result<(), String> {
        let mut from = Offset(model.log_start);
        let mut found = Vec::new();
        let set = self.set.as_mut().expect("open");
        loop {
            let bytes = set
                .read(model.id, from, 700, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted)
                .map_err(|error| error.to_string())?;
            if bytes.is_empty() {
                break;
            }
            from = collect_checked(&bytes, from, &mut found)?;
        }
        let expected =
            model.records(model.acknowledged_end).filter(|(offset, ..)| *offset >= model.log_start);
        let expected: Vec<_> = expected.map(|(offset, value, _)| (offset, value.clone())).collect();
        check!(found == expected, "{}: reads {} records, expected {}", model.id, found.len(), expected.len());
        self.compare_transactions(model)
    }

    fn create(&mut self) {
        if self.models.len() >= 4 {
            return;
        }
        self.next_id += 1;
        let id = partition(self.next_id);
        let kind = if self.rng.chance(2) { LogKind::Internal } else { LogKind::User };
        // Folders are used again on purpose: a deleted topic of the same name.
        let directory = format!("topic{}-0", self.next_id % 3);
        if self.set().create_partition(id, &directory, kind, config()).is_ok() {
            self.models.push(Model {
                id,
                kind,
                batches: Vec::new(),
                acknowledged_end: 0,
                created: false,
                stable: 0,
                log_start: 0,
                wanted_log_start: 0,
            });
        }
    }

    fn delete(&mut self) {
        if self.models.len() > 2 {
            let index = self.rng.below(self.models.len());
            let model = self.models.remove(index);
            self.set().delete_partition(model.id);
        }
    }

    fn values(&mut self) -> Vec<Vec<u8>> {
        let count = 1 + self.rng.below(3);
        (0..count)
            .map(|_| {
                self.next_value += 1;
                let padding = self.rng.below(120);
                let mut value = self.next_value.to_string().into_bytes();
                value.resize(value.len() + padding, b'.');
                value
            })
            .collect()
    }

    fn append(&mut self) -> Result<(), String> {
        let index = self.rng.below(self.models.len());
        let values = self.values();
        let slices: Vec<_> = values.iter().map(Vec::as_slice).collect();
        let timestamp_ms = START_MS + self.clock_ms - i64::try_from(self.rng.below(100)).expect("small");
        let producer =
            self.rng.chance(2).then(|| i64::try_from(self.rng.below(2)).expect("small") % PRODUCERS);
        let numbered_as = producer.map(|id| (id, self.models[index].next_sequence(id)));
        let bytes = match numbered_as {
            Some((id, sequence)) => numbered_at(timestamp_ms, id, 0, sequence, &slices),
            None if self.rng.chance(3) => compressed(timestamp_ms, &slices),
            None => batch_at(timestamp_ms, &slices),
        };
        let at = self.now();
        let id = self.models[index].id;
        if let Some((producer, sequence)) = numbered_as
            && sequence > 0
            && self.rng.chance(8)
        {
            let gap = numbered_at(timestamp_ms, producer, 0, sequence + 7, &slices);
            let refused = self.set().append(id, &gap, AppendOrigin::Client, at);
            let refused = matches!(
                refused,
                Err(AppendError::OutOfOrderSequence { .. }
                    | AppendError::Poisoned { .. }
                    | AppendError::DiskFull)
            );
            check!(refused, "a gap was accepted");
        }
        match self.set().append(id, &bytes, AppendOrigin::Client, at) {
            Ok(appended) => {
                let model = &mut self.models[index];
                check!(
                    !appended.duplicate,
                    "a new batch taken for a duplicate: {numbered_as:?} of {model:?}"
                );
                check!(appended.base_offset.0 == model.end(), "base offset {}", appended.base_offset);
                let base = model.end();
                let part = Part::Outside;
                model.batches.push(ModelBatch { base, values, timestamp_ms, producer: numbered_as, part });
                Ok(())
            }
            Err(AppendError::Poisoned { .. } | AppendError::DiskFull) => Ok(()),
            Err(error) => Err(format!("append: {error}")),
        }
    }

    /// A producer that did not hear sends one of its last batches again.
    fn append_again(&mut self) -> Result<(), String> {
        let index = self.rng.below(self.models.len());
        let producer = i64::try_from(self.rng.below(2)).expect("small") % PRODUCERS;
        let window: Vec<_> = self.models[index].of_producer(producer).take(5).cloned().collect();
        if window.is_empty() {
            return Ok(());
        }
        let original = &window[self.rng.below(window.len())];
        let slices: Vec<_> = original.values.iter().map(Vec::as_slice).collect();
        let (id, sequence) = original.producer.expect("of a producer");
        let bytes = numbered_at(original.timestamp_ms, id, 0, sequence, &slices);
        let (partition, at) = (self.models[index].id, self.now());
        match self.set().append(partition, &bytes, AppendOrigin::Client, at) {
            Ok(appended) => {
                check!(appended.duplicate, "{partition}: not known to be a duplicate: {original:?}");
                let span = (appended.base_offset.0, appended.last_offset.0 + 1);
                check!(span == (original.base, original.end()), "a duplicate of {original:?} at {span:?}");
                Ok(())
            }
            Err(AppendError::Poisoned { .. } | AppendError::DiskFull) => Ok(()),
            Err(error) => Err(format!("append again {original:?}: {error}")),
        }
    }

    fn round(&mut self) -> Result<(), String> {
        let at = self.now();
        self.set().begin_round(at);
        if self.rng.chance(3) {
            return Ok(());
        }
        self.set().poll(at);
        let set = self.set.as_ref().expect("open");
        for model in &mut self.models {
            let Some(log) = set.log(model.id) else { return Err(format!("{} is gone", model.id)) };
            let end = log.high_watermark().0;
            let stable = log.last_stable_offset().0;
            check!(stable >= model.stable && stable <= end, "last stable offset {stable} of {model:?}");
            model.stable = stable;
            check!(end >= model.acknowledged_end && end <= model.end(), "high watermark {end} of {model:?}");
            model.acknowledged_end = end;
            model.created |= log.is_durable();
            check!(log.log_start_offset().0 >= model.log_start, "the log start moved back");
            model.log_start = log.log_start_offset().0;
        }
        Ok(())
    }

    fn raise_log_start(&mut self) -> Result<(), String> {
        let index = self.rng.below(self.models.len());
        let model = &self.models[index];
        let span = usize::try_from(model.acknowledged_end - model.log_start).expect("forward");
        let offset = model.log_start + i64::try_from(self.rng.below(span + 1)).expect("small");
        let id = model.id;
        self.set().advance_log_start(id, Offset(offset)).map_err(|error| error.to_string())?;
        let model = &mut self.models[index];
        model.wanted_log_start = model.wanted_log_start.max(offset);
        Ok(())
    }

    fn read(&mut self) -> Result<(), String> {
        let index = self.rng.below(self.models.len());
        if self.rng.chance(3) {
            let models = std::mem::take(&mut self.models);
            let compared = self.compare_transactions(&models[index]);
            self.models = models;
            return compared;
        }
        let model = &self.models[index];
        let high_watermark =
            self.set.as_ref().and_then(|set| set.log(model.id)).map_or(0, |log| log.high_watermark().0);
        let id = model.id;
        let start = self.set.as_ref().and_then(|set| set.log(id)).map_or(0, |log| log.log_start_offset().0);
        let span = usize::try_from(model.end() + 4).expect("forward");
        let from = i64::try_from(self.rng.below(span)).expect("small") - 2;
        let max = self.rng.below(1500);
        let set = self.set.as_mut().expect("open");
        let result =
            set.read(id, Offset(from), max, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted);
        if self.disk.is_off() {
            return Ok(());
        }
        if from < start || from > model.end() {
            check!(is_out_of_range(&result), "{from} is in range of {start} to {}", model.end());
            return Ok(());
        }
        let bytes = result.map_err(|error| error.to_string())?;
        let mut found = Vec::new();
        collect_checked(&bytes, Offset(from), &mut found)?;
        let expected: Vec<_> = model.records(high_watermark).filter(|(offset, ..)| *offset >= from).collect();
        let same = found
            .iter()
            .zip(&expected)
            .all(|(found, expected)| (found.0, &found.1) == (expected.0, expected.1));
        check!(same && found.len() <= expected.len(), "reads from {from}: {found:?}");
        check!(expected.is_empty() || !found.is_empty(), "nothing at {from} below {high_watermark}");
        check!(bytes.len() <= max || found.len() <= 3, "more than the limit");
        let time = START_MS
            + i64::try_from(self.rng.below(usize::try_from(self.clock_ms + 1).expect("forward")))
                .expect("small");
        let first = set.offset_for_timestamp(id, Timestamp(time));
        let max = set.offset_of_max_timestamp(id);
        if self.disk.is_off() {
            return Ok(());
        }
        let wanted = model
            .records(high_watermark)
            .find(|(offset, _, timestamp)| *offset >= start && *timestamp >= time)
            .map(|(offset, _, timestamp)| (offset, timestamp));
        let first = first.map_err(|error| error.to_string())?.map(|(offset, at, _)| (offset.0, at.0));
        check!(first == wanted, "time {time}: {first:?}, expected {wanted:?}");
        if start == 0 {
            let mut largest: Option<(i64, i64)> = None;
            for (offset, _, timestamp) in model.records(high_watermark) {
                if largest.is_none_or(|(_, max)| timestamp > max) {
                    largest = Some((offset, timestamp));
                }
            }
            let max = max.map_err(|error| error.to_string())?.map(|(offset, at, _)| (offset.0, at.0));
            check!(max == largest, "max timestamp: {max:?}, expected {largest:?}");
        }
        Ok(())
    }
}
