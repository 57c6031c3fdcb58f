//! What the cleaner keeps and what it takes, rule by rule.

mod support;

use std::collections::BTreeMap;

use milepost_batch::{BatchBuilder, BatchOptions, BatchView, set_max_timestamp};
use milepost_log::{
    AppendOrigin, CleanupPolicy, FirstBatch, IsolationLevel, LogKind, LogSet, LogSettings, PartitionConfig,
};
use milepost_model::{Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TopicPartition};
use milepost_storage::{LocalEngine, LocalSettings, MemoryDisk, Operation, SimulatedFileSystem};
use support::cleaning::*;
use support::{START_MS, create, now, open_with, settle, stop_cleanly};

fn keys(set: &mut LogSet, id: TopicPartition) -> BTreeMap<String, Option<String>> {
    content(set, id).into_iter().map(|(_, key, value)| (key, value)).collect()
}

#[test]
fn of_each_key_the_last_record_stays_at_its_offset() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, config());
    for round in 0..20 {
        for key in ["a", "b", "c"] {
            put(&mut set, id, round, key, Some(&format!("{key}{round}")));
        }
    }
    let before = set.log(id).unwrap().size_bytes();
    compact_now(&mut set, id, 100);
    let value = |text: &str| Some(text.to_owned());
    let expected =
        [(57, "a".into(), value("a19")), (58, "b".into(), value("b19")), (59, "c".into(), value("c19"))];
    assert_eq!(content(&mut set, id), expected);
    let log = set.log(id).unwrap();
    assert!(log.size_bytes() * 10 < before);
    assert_eq!((log.log_start_offset(), log.high_watermark()), (Offset(0), Offset(60)));
    // The log goes on where it was, also after a start.
    assert_eq!(put(&mut set, id, 101, "a", Some("later")), 60);
    assert_eq!(content(&mut set, id).len(), 4);
}

#[test]
fn only_what_is_dirty_enough_and_sealed_is_cleaned_by_itself() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, config());
    for round in 0..50 {
        put(&mut set, id, round, "key", Some("value"));
    }
    clean(&mut set, 100);
    let left = content(&mut set, id).len();
    assert!((2..8).contains(&left), "the last segment stays as it is: {left} records are left");
    // A little more dirt is not worth a pass over the rest while half of the log must be dirty.
    let config = PartitionConfig { min_cleanable_dirty_ratio: 1.0, ..config() };
    set.configure(id, LogKind::User, config);
    for round in 0..50 {
        put(&mut set, id, 200 + round, "key", Some("value"));
    }
    clean(&mut set, 300);
    assert_eq!(content(&mut set, id).len(), left + 50);
}

#[test]
fn a_tombstone_stays_for_its_time_and_what_it_deleted_never_returns() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open_with(&disk, settings());
    let id = create(&mut set, 1, config());
    put(&mut set, id, 0, "kept", Some("1"));
    put(&mut set, id, 0, "deleted", Some("1"));
    let tombstone = put(&mut set, id, 1, "deleted", None);
    compact_now(&mut set, id, 10);
    assert_eq!(keys(&mut set, id).get("deleted"), Some(&None), "the tombstone is there for readers");
    let batch = batches(&mut set, id).pop().unwrap();
    let (batch, _) = BatchView::parse(&batch).unwrap();
    assert_eq!(batch.base_offset().0, tombstone);
    assert_eq!(batch.delete_horizon(), Some(Timestamp(START_MS + 10 + HOUR_MS)), "KIP-534");

    // The horizon is what counts, not the age of the record. A pass looks again only when there is something new.
    put(&mut set, id, 20, "other", Some("1"));
    compact_now(&mut set, id, HOUR_MS + 9);
    assert!(keys(&mut set, id).contains_key("deleted"));
    put(&mut set, id, HOUR_MS + 11, "another", Some("1"));
    compact_now(&mut set, id, HOUR_MS + 11);
    let left: Vec<_> = keys(&mut set, id).into_keys().collect();
    assert_eq!(left, ["another", "kept", "other"]);
    stop_cleanly(set, now(HOUR_MS + 12));
    let (mut set, _) = open_with(&disk, settings());
    assert_eq!(keys(&mut set, id).into_keys().collect::<Vec<_>>(), ["another", "kept", "other"]);
}

#[test]
fn young_records_wait_for_the_minimum_lag_and_old_ones_do_not_wait_beyond_the_maximum() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let config = PartitionConfig { min_compaction_lag_ms: 1000, ..config() };
    let id = create(&mut set, 1, config.clone());
    for round in 0..20 {
        put(&mut set, id, round, "key", Some("value"));
    }
    clean(&mut set, 900);
    assert_eq!(content(&mut set, id).len(), 20);
    clean(&mut set, 1100);
    assert!(content(&mut set, id).len() < 10);

    let config = PartitionConfig {
        min_compaction_lag_ms: 0,
        min_cleanable_dirty_ratio: 1.0,
        max_compaction_lag_ms: 5000,
        ..config
    };
    let id = create(&mut set, 2, config);
    for round in 0..20 {
        put(&mut set, id, 2000 + round, "key", Some("value"));
    }
    clean(&mut set, 6000);
    assert_eq!(content(&mut set, id).len(), 20);
    clean(&mut set, 7100);
    assert!(content(&mut set, id).len() < 10);
}

#[test]
fn a_producers_last_batch_stays_when_it_lost_its_records() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, config());
    for (sequence, key) in [(0, "a"), (1, "b")] {
        let options = BatchOptions {
            producer: Some(ProducerIdentity { id: ProducerId(9), epoch: ProducerEpoch(0) }),
            base_sequence: Some(sequence),
            ..BatchOptions::default()
        };
        let mut builder = BatchBuilder::new(options);
        builder.append(Timestamp(START_MS + 50), Some(key.as_bytes()), Some(b"1"), &[]).unwrap();
        set.append(id, &builder.build(Offset::ZERO), AppendOrigin::Client, now(0)).unwrap();
    }
    settle(&mut set, now(0));
    put(&mut set, id, 1, "a", Some("2"));
    put(&mut set, id, 1, "b", Some("2"));
    compact_now(&mut set, id, 2);
    let all = batches(&mut set, id);
    let shapes: Vec<_> = all
        .iter()
        .map(|batch| BatchView::parse(batch).unwrap().0)
        .map(|batch| (batch.base_offset().0, batch.record_count(), batch.base_sequence()))
        .collect();
    assert_eq!(
        shapes,
        [(1, 0, Some(1)), (2, 1, None), (3, 1, None)],
        "the first batch went, the last is empty"
    );
    assert_eq!(all[0].len(), 61);
    // Its largest timestamp is nobody's any more.
    let largest = set.offset_of_max_timestamp(id).unwrap().map(|(offset, time, _)| (offset.0, time.0));
    assert_eq!(largest, Some((2, START_MS + 1)));
}

#[test]
fn kafka_3894_more_keys_than_fit_take_several_passes() {
    let (mut set, _) = open_with(&MemoryDisk::new(), LogSettings { max_cleaned_keys: 10, ..settings() });
    let id = create(&mut set, 1, PartitionConfig { segment_bytes: 3000, ..config() });
    for round in 0..3 {
        for key in 0..50 {
            put(&mut set, id, round, &format!("key{key}"), Some(&format!("{round}")));
        }
    }
    compact_now(&mut set, id, 10);
    for _ in 0..60 {
        clean(&mut set, 20);
        compact_now(&mut set, id, 20);
    }
    let left = content(&mut set, id);
    assert_eq!(left.len(), 50);
    assert!(left.iter().all(|(offset, _, value)| *offset >= 100 && value.as_deref() == Some("2")));
}

#[test]
fn records_without_a_key_go_once_the_topic_is_compacted() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, PartitionConfig { cleanup: CleanupPolicy::Delete, ..config() });
    let mut builder = BatchBuilder::new(BatchOptions::default());
    builder.append(Timestamp(START_MS), None, Some(b"no key"), &[]).unwrap();
    builder.append(Timestamp(START_MS), Some(b"key"), Some(b"1"), &[]).unwrap();
    set.append(id, &builder.build(Offset::ZERO), AppendOrigin::Client, now(0)).unwrap();
    settle(&mut set, now(0));
    set.configure(id, LogKind::User, config());
    compact_now(&mut set, id, 2);
    assert_eq!(content(&mut set, id), [(1, "key".into(), Some("1".into()))]);
}

#[test]
fn a_reader_that_pinned_the_log_keeps_its_segments() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, config());
    for round in 0..20 {
        put(&mut set, id, round, "key", Some("value"));
    }
    set.pin(id);
    set.request_cleaning(id, now(100));
    clean(&mut set, 100);
    assert_eq!(content(&mut set, id).len(), 20);
    assert!(set.log(id).unwrap().is_cleaning_wanted(), "it waits");
    set.unpin(id);
    clean(&mut set, 200);
    assert_eq!(content(&mut set, id).len(), 1);

    // Pinned in the middle of a pass: the swap waits.
    for round in 0..20 {
        put(&mut set, id, 300 + round, "key", Some("value"));
    }
    set.request_cleaning(id, now(400));
    assert!(set.clean(now(400), 100));
    set.pin(id);
    clean(&mut set, 400);
    assert_eq!(content(&mut set, id).len(), 21);
    assert!(!set.clean(now(401), 300));
    set.poll(now(401));
    assert!(!set.is_checkpointing(), "it waits for the reader, not for another checkpoint");
    set.unpin(id);
    clean(&mut set, 400);
    assert_eq!(content(&mut set, id).len(), 1);
}

#[test]
fn what_cannot_be_read_is_left_alone_and_said() {
    let system = SimulatedFileSystem::new(3);
    let engine =
        || LocalEngine::open(std::sync::Arc::new(system.clone()), LocalSettings::small()).unwrap().engine;
    let (mut set, _) = LogSet::open(engine(), settings(), now(0)).unwrap();
    let id = create(&mut set, 1, config());
    for round in 0..20 {
        put(&mut set, id, round, "key", Some("value"));
    }
    stop_cleanly(set, now(50));
    let files = system.files();
    let path = files.keys().find(|path| path.ends_with("00000000000000000000.log")).unwrap();
    system.tamper(path, 70, |byte| *byte ^= 1);
    let (mut set, _) = LogSet::open(engine(), settings(), now(60)).unwrap();
    set.configure(id, LogKind::User, config());
    set.request_cleaning(id, now(100));
    clean(&mut set, 100);
    let log = set.log(id).unwrap();
    assert!(!log.is_cleaning_wanted());
    assert!(log.uncleanable().unwrap().contains("wrong checksum"), "{:?}", log.uncleanable());
    assert!(log.size_bytes() > 1000, "nothing was thrown away");
}

/// A log whose keys are all written again and again keeps nothing of its old offsets, and goes on for years.
#[test]
fn what_stays_may_lie_further_above_its_source_than_an_index_reaches() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, PartitionConfig { segment_bytes: 1 << 20, ..config() });
    let mut builder = BatchBuilder::new(BatchOptions::default());
    builder.append(Timestamp(START_MS), Some(b"key"), Some(b"old"), &[]).unwrap();
    let mut wide = builder.build(Offset::ZERO);
    // A coordinator's batch is believed, so one can stand for two milliards of offsets.
    wide[23..27].copy_from_slice(&(i32::MAX - 1).to_be_bytes());
    set_max_timestamp(&mut wide, Timestamp(START_MS));
    set.append(id, &wide, AppendOrigin::Coordinator, now(0)).unwrap();
    settle(&mut set, now(0));
    let between = put(&mut set, id, 1, "other", Some("old"));
    let last = [("other", "new"), ("key", "new")].map(|(key, value)| put(&mut set, id, 2, key, Some(value)));
    assert!(between >= i64::from(i32::MAX));
    compact_now(&mut set, id, 3);
    let expected = [
        (last[0], "other".to_owned(), Some("new".to_owned())),
        (last[1], "key".to_owned(), Some("new".to_owned())),
    ];
    assert_eq!(content(&mut set, id), expected);
}

#[test]
fn a_full_disk_before_the_first_read_of_a_pass_does_not_end_cleaning_for_good() {
    let system = SimulatedFileSystem::new(3);
    let engine = LocalEngine::open(std::sync::Arc::new(system.clone()), LocalSettings::small()).unwrap();
    let (mut set, _) = LogSet::open(engine.engine, settings(), now(0)).unwrap();
    let id = create(&mut set, 1, config());
    for round in 0..20 {
        put(&mut set, id, round, "key", Some("value"));
    }
    set.request_cleaning(id, now(100));
    // With the reserve it is tried twice.
    for _ in 0..2 {
        system.fail(Operation::Write, "topic1-0/", 0, std::io::ErrorKind::StorageFull);
    }
    assert!(!set.clean(now(100), 300));
    let log = set.log(id).unwrap();
    assert_eq!((log.uncleanable(), log.is_cleaning_wanted()), (None, true));
    compact_now(&mut set, id, 200);
    assert_eq!(content(&mut set, id).len(), 1);
}

#[test]
fn what_is_wanted_during_a_pass_is_cleaned_after_it() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, config());
    for round in 0..20 {
        put(&mut set, id, round, "key", Some("value"));
    }
    assert!(set.clean(now(100), 100), "a pass began by itself");
    // No other one would.
    set.configure(id, LogKind::User, PartitionConfig { min_cleanable_dirty_ratio: 1.0, ..config() });
    for round in 0..20 {
        put(&mut set, id, 200 + round, "key", Some("value"));
    }
    compact_now(&mut set, id, 300);
    assert_eq!(content(&mut set, id).len(), 1, "it was to be cleaned up to its end");
}

#[test]
fn an_internal_log_stays_within_twice_its_live_bytes_whatever_its_settings_say() {
    const EARLY_BYTES: u64 = 20_000;
    let settings = LogSettings { early_cleaning_bytes: EARLY_BYTES, ..settings() };
    let (mut set, _) = open_with(&MemoryDisk::new(), settings);
    let config = PartitionConfig { segment_bytes: 100 << 20, min_cleanable_dirty_ratio: 1.0, ..config() };
    let id = support::partition(1);
    set.create_partition(id, "internal-0", LogKind::Internal, config).unwrap();
    settle(&mut set, now(0));
    // Few keys; then many, which live on; then few again, on top of the many.
    for (written_keys, rounds) in [(10, 3000), (1000, 20), (10, 3000)] {
        let mut largest = 0;
        for round in 0..rounds {
            for key in 0..written_keys {
                put(&mut set, id, round, &format!("key{key}"), Some("value"));
                set.clean(now(round), 10_000);
                largest = largest.max(set.log(id).unwrap().size_bytes());
            }
        }
        compact_now(&mut set, id, rounds);
        let live_bytes = set.log(id).unwrap().size_bytes();
        // What 10 MiB is to 16.
        let bound = (2 * live_bytes).max(EARLY_BYTES * 8 / 5);
        assert!(largest <= bound, "{largest} bytes with {live_bytes} live, the bound is {bound}");
    }
}

/// KAFKA-8335: all of a coordinator's batches have the sequence 0, and the cleaner took each empty one for the last of a
/// producer, to be kept.
#[test]
fn kafka_8335_no_empty_batches_of_coordinators_are_kept() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, config());
    for round in 0..200 {
        let mut builder = BatchBuilder::new(BatchOptions::coordinator(None));
        builder.append(now(round).wall, Some(b"key"), Some(b"value"), &[]).unwrap();
        set.append(id, &builder.build(Offset::ZERO), AppendOrigin::Coordinator, now(round)).unwrap();
        settle(&mut set, now(round));
    }
    compact_now(&mut set, id, 300);
    let mut batches = 0;
    let (mut next, end) = (Offset::ZERO, set.log(id).unwrap().high_watermark());
    while next < end {
        let bytes =
            set.read(id, next, 1 << 20, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted).unwrap();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (batch, after) = BatchView::parse(rest).unwrap();
            (next, rest) = (batch.next_offset(), after);
            batches += 1;
        }
    }
    assert!(batches < 10, "{batches} batches are left of 200 for one key");
}

#[test]
fn the_files_of_a_compacted_log_are_what_kafka_reads() {
    let system = SimulatedFileSystem::new(3);
    let engine =
        || LocalEngine::open(std::sync::Arc::new(system.clone()), LocalSettings::small()).unwrap().engine;
    let (mut set, _) = LogSet::open(engine(), settings(), now(0)).unwrap();
    let config = PartitionConfig { segment_bytes: 2000, index_interval_bytes: 100, ..config() };
    let id = create(&mut set, 1, config);
    for pass in 1..=3 {
        for round in 0..60 {
            put(&mut set, id, pass * 100 + round, &format!("key{}", round % 30), Some("value"));
        }
        compact_now(&mut set, id, pass * 100 + 60);
        put(&mut set, id, pass * 100 + 61, "key0", Some("value"));
    }
    stop_cleanly(set, now(500));
    let files = system.files();
    let names: Vec<_> = files.keys().filter(|path| path.ends_with(".log")).collect();
    // The offset as a number; the generations are 1 and 2 by turns, each a leading zero more.
    let cleaned = ["topic1-0/000000000000000000146.log", "topic1-0/000000000000000000171.log"];
    assert_eq!(names, [cleaned[0], cleaned[1], "topic1-0/00000000000000000182.log"]);
    assert!(files.contains_key(&cleaned[0].replace(".log", ".index")));
    assert_eq!(support::dump::check_segment_files(&files), Ok(3));
}

#[test]
fn an_internal_log_stays_within_its_bound_while_a_large_users_log_is_cleaned() {
    const EARLY_BYTES: u64 = 20_000;
    let settings = LogSettings { early_cleaning_bytes: EARLY_BYTES, ..settings() };
    let (mut set, _) = open_with(&MemoryDisk::new(), settings);
    let users = create(&mut set, 2, PartitionConfig { segment_bytes: 1 << 20, ..config() });
    for key in 0..1000 {
        put(&mut set, users, 0, &format!("key{key}"), Some(&"value".repeat(2000)));
    }
    let config = PartitionConfig { segment_bytes: 100 << 20, min_cleanable_dirty_ratio: 1.0, ..config() };
    let id = support::partition(1);
    set.create_partition(id, "internal-0", LogKind::Internal, config).unwrap();
    settle(&mut set, now(0));
    let mut largest = 0;
    let mut was_under_way = 0;
    for round in 0..4000 {
        put(&mut set, id, round, "key", Some("value"));
        was_under_way += u32::from(set.clean(now(round), 3000));
        largest = largest.max(set.log(id).unwrap().size_bytes());
    }
    assert!(was_under_way > 1000, "the large log took long: {was_under_way}");
    assert!(largest <= EARLY_BYTES * 8 / 5, "{largest} bytes");
    clean(&mut set, 5000);
    assert_eq!(content(&mut set, users).len(), 1000, "and was cleaned all the same");
}

#[test]
fn a_pass_ends_when_the_log_is_no_longer_compacted() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, config());
    for round in 0..20 {
        put(&mut set, id, round, "key", Some("value"));
    }
    set.request_cleaning(id, now(100));
    assert!(set.clean(now(100), 100));
    set.configure(id, LogKind::User, PartitionConfig { cleanup: CleanupPolicy::Delete, ..config() });
    clean(&mut set, 100);
    assert!(!set.log(id).unwrap().is_cleaning_wanted());
    assert_eq!(content(&mut set, id).len(), 20);
    set.configure(id, LogKind::User, config());
    compact_now(&mut set, id, 200);
    assert_eq!(content(&mut set, id).len(), 1);
}
