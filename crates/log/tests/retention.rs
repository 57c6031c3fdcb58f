//! Segments that are too old or too many go, the oldest first, and never one that may stay.

mod support;

use milepost_log::{CleanupPolicy, LogSet, LogSettings, PartitionConfig};
use milepost_model::{Offset, TopicPartition};
use milepost_storage::MemoryDisk;
use support::{START_MS, append, batch_at, create, now, open_with, read_all, settle, stop_cleanly};

const VALUE: &[u8] = &[b'x'; 100];

fn config() -> PartitionConfig {
    PartitionConfig {
        segment_bytes: 500,
        cleanup: CleanupPolicy::Delete,
        retention_ms: None,
        retention_bytes: None,
        ..PartitionConfig::default()
    }
}

fn settings() -> LogSettings {
    LogSettings { retention_check_interval_ms: 10, ..LogSettings::default() }
}

/// Ten records a second apart, two or so in a segment.
fn filled(disk: &MemoryDisk, config: PartitionConfig) -> (LogSet, TopicPartition) {
    let (mut set, _) = open_with(disk, settings());
    let id = create(&mut set, 1, config);
    for second in 0..10 {
        append(&mut set, id, &batch_at(START_MS + second * 1000, &[VALUE])).expect("appends");
        settle(&mut set, now(1));
    }
    (set, id)
}

fn check_at(set: &mut LogSet, ms: i64) {
    settle(set, now(ms));
    settle(set, now(ms));
}

fn start(set: &LogSet, id: TopicPartition) -> i64 {
    set.log(id).expect("is there").log_start_offset().0
}

#[test]
fn segments_go_when_their_newest_record_is_too_old() {
    let disk = MemoryDisk::new();
    let (mut set, id) = filled(&disk, PartitionConfig { retention_ms: Some(5000), ..config() });
    check_at(&mut set, 5000);
    assert_eq!(start(&set, id), 0);
    check_at(&mut set, 8500);
    let first = start(&set, id);
    assert!((2..=4).contains(&first), "of the records up to second 3 whole segments went: {first}");
    assert_eq!(read_all(&mut set, id).first().unwrap().0, first);
    // The last segment too, and the log goes on.
    check_at(&mut set, 60_000);
    assert_eq!(start(&set, id), 10);
    assert_eq!(set.log(id).unwrap().size_bytes(), 0);
    let appended = append(&mut set, id, &batch_at(START_MS + 60_000, &[VALUE])).unwrap();
    assert_eq!(appended.base_offset, Offset(10));
    check_at(&mut set, 60_001);
    stop_cleanly(set, now(60_002));
    let (mut set, _) = open_with(&disk, settings());
    assert_eq!((start(&set, id), read_all(&mut set, id).len()), (10, 1));
}

#[test]
fn segments_go_while_the_log_without_them_is_large_enough() {
    let (mut set, id) =
        filled(&MemoryDisk::new(), PartitionConfig { retention_bytes: Some(600), ..config() });
    let before = set.log(id).unwrap().size_bytes();
    assert!(before > 1500);
    check_at(&mut set, 100);
    let left = set.log(id).unwrap().size_bytes();
    assert!((600..=1100).contains(&left), "{left} bytes are left");
    assert!(start(&set, id) > 0);
    assert_eq!(read_all(&mut set, id).last().unwrap().0, 9);
}

#[test]
fn a_record_from_the_future_holds_back_what_comes_after_it() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let config = PartitionConfig { retention_ms: Some(1000), segment_bytes: 200, ..config() };
    let id = create(&mut set, 1, config);
    for ms in [0, 3_000_000, 0, 0] {
        append(&mut set, id, &batch_at(START_MS + ms, &[VALUE])).unwrap();
        settle(&mut set, now(1));
    }
    check_at(&mut set, 60_000);
    assert_eq!(start(&set, id), 1);
}

#[test]
fn a_compacted_log_and_one_that_keeps_everything_lose_nothing_by_age() {
    for cleanup in [CleanupPolicy::Keep, CleanupPolicy::Compact] {
        let config = PartitionConfig { retention_ms: Some(1), retention_bytes: Some(1), cleanup, ..config() };
        let (mut set, id) = filled(&MemoryDisk::new(), config);
        check_at(&mut set, 100_000);
        assert_eq!((start(&set, id), read_all(&mut set, id).len()), (0, 10));
    }
}

#[test]
fn deleted_records_of_the_last_segment_give_their_space_back() {
    let (mut set, id) = filled(&MemoryDisk::new(), config());
    set.advance_log_start(id, Offset(10)).unwrap();
    settle(&mut set, now(2));
    assert!(set.log(id).unwrap().size_bytes() > 0, "the last segment is still there");
    check_at(&mut set, 100);
    assert_eq!((start(&set, id), set.log(id).unwrap().size_bytes()), (10, 0));
}
