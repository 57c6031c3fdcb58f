//! The same batches make the same files as in a Kafka broker: abort indexes, and what its cleaner leaves of transactions.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_batch::{BatchView, ControlType};
use milepost_log::{
    AppendOrigin, CleanupPolicy, FirstBatch, IsolationLevel, LogSet, LogSettings, MarkerEpoch,
    PartitionConfig,
};
use milepost_model::{Instant, Now, Offset, Timestamp, TopicPartition};
use milepost_storage::{LocalEngine, LocalSettings, SimulatedFileSystem};
use support::{create, settle};

/// A log on a disk whose files can be looked at.
struct Rig {
    system: SimulatedFileSystem,
    set: LogSet,
    id: TopicPartition,
}

fn fixture(name: &str) -> Vec<u8> {
    let lines = include_str!("fixtures/kafka-4.4.0-transactions.txt").lines();
    let hex = lines.filter_map(|line| line.split_once(' ')).find(|(found, _)| *found == name);
    let (_, hex) = hex.unwrap_or_else(|| panic!("no {name}"));
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal"))
        .collect()
}

fn at(wall: Timestamp) -> Now {
    Now { monotonic: Instant(u64::try_from(wall.0).expect("after 1970") * 1000), wall }
}

/// The batches of a log without their leader epochs, which are ours.
fn batches(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let (batch, rest) = BatchView::parse(bytes).expect("whole");
        all.push([&batch.bytes()[..12], &[0; 4], &batch.bytes()[16..]].concat());
        bytes = rest;
    }
    all
}

impl Rig {
    fn new(config: PartitionConfig) -> Self {
        let system = SimulatedFileSystem::new(1);
        let engine =
            LocalEngine::open(Arc::new(system.clone()), LocalSettings::small()).expect("opens").engine;
        let settings =
            LogSettings { max_unwritten_bytes: 0, cleaner_backoff_ms: 0, ..LogSettings::default() };
        let (mut set, _) = LogSet::open(engine, settings, support::now(0)).expect("opens");
        let id = create(&mut set, 1, config);
        Self { system, set, id }
    }

    /// Appends what Kafka stored, each batch in its way and at its time.
    fn append(&mut self, log: &[u8]) {
        for stored in batches(log) {
            let (batch, _) = BatchView::parse(&stored).expect("whole");
            let now = at(batch.max_timestamp());
            let appended = match batch.control_type().expect("reads") {
                Some(ControlType::Marker(marker)) => {
                    let producer = batch.producer().expect("a marker has one");
                    self.set.append_marker(self.id, producer, marker, MarkerEpoch::AtLeastKnown, now)
                }
                _ => {
                    let sent = [&[0; 8], &stored[8..]].concat();
                    self.set.append(self.id, &sent, AppendOrigin::Client, now)
                }
            };
            assert_eq!(appended.expect("appends").base_offset, batch.base_offset());
            settle(&mut self.set, now);
        }
    }

    fn read(&mut self) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        let mut from = Offset::ZERO;
        while from < self.set.log(self.id).expect("is there").high_watermark() {
            let (first, isolation) = (FirstBatch::AlwaysWhole, IsolationLevel::ReadCommitted);
            let bytes = self.set.read(self.id, from, 100_000, first, isolation).expect("reads");
            all.extend(batches(&bytes));
            from = BatchView::parse(all.last().expect("not the end")).expect("whole").0.next_offset();
        }
        all
    }

    /// The bytes of all abort indexes.
    fn abort_indexes(&self) -> Vec<u8> {
        let mut all = BTreeMap::new();
        for (path, bytes) in self.system.files() {
            if let Some(stem) = path.strip_suffix(".txnindex") {
                let base: i64 =
                    stem.rsplit('/').next().and_then(|name| name.parse().ok()).expect("an offset");
                all.insert(base, bytes);
            }
        }
        all.into_values().flatten().collect()
    }

    fn clean(&mut self, wall: Timestamp) {
        for _ in 0..50 {
            self.set.clean(at(wall), 100_000);
            settle(&mut self.set, at(wall));
        }
    }

    fn compare(&mut self, name: &str) {
        assert_eq!(self.read(), batches(&fixture(&format!("{name}.log"))), "{name}");
        assert_eq!(self.abort_indexes(), fixture(&format!("{name}.txnindex")), "{name}");
    }
}

#[test]
fn the_abort_index_of_interleaved_transactions_is_that_of_kafka() {
    let mut rig = Rig::new(PartitionConfig::default());
    rig.append(&fixture("interleaved.log"));
    rig.compare("interleaved");
}

#[test]
fn what_the_cleaner_leaves_of_transactions_is_what_kafkas_leaves() {
    let mut rig = Rig::new(PartitionConfig {
        segment_ms: 1000,
        cleanup: CleanupPolicy::Compact,
        delete_retention_ms: 2000,
        min_cleanable_dirty_ratio: 0.0,
        ..PartitionConfig::default()
    });
    let before = fixture("before.log");
    rig.append(&before);
    rig.compare("before");
    let end = BatchView::parse(batches(&before).last().expect("some")).expect("whole").0.max_timestamp();
    rig.clean(end);
    rig.compare("pass1");
    // The horizon says when the second pass was.
    let second = fixture("pass2.log");
    let horizon =
        BatchView::parse(&second).expect("whole").0.delete_horizon().expect("a marker without data");
    rig.append(batches(&second).last().expect("some"));
    rig.clean(Timestamp(horizon.0 - 2000));
    rig.compare("pass2");
    rig.append(batches(&fixture("pass3.log")).last().expect("some"));
    rig.clean(Timestamp(horizon.0 + 1));
    rig.compare("pass3");
}
