//! Starts: after a clean stop, with damage, with files that nothing names; and the files as Kafka's tools see them.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_log::{
    AppendError, AppendOrigin, FirstBatch, IsolationLevel, LogKind, LogSet, LogSettings, OpenError,
    PartitionConfig, ReadError, RecoveryReport, WRITE_BEHIND_BYTES, WRITE_BEHIND_MS,
};
use milepost_model::{LeaderEpoch, Offset, Timestamp};
use milepost_storage::{
    DamagedRound, Engine, LocalEngine, LocalSettings, MemoryDisk, MemoryEngine, Operation, Pace, RoundNumber,
    SimulatedFileSystem, StreamId,
};
use support::dump::check_segment_files;
use support::*;

fn open_simulated(system: &SimulatedFileSystem) -> (LogSet, RecoveryReport) {
    let start = LocalEngine::open(Arc::new(system.clone()), LocalSettings::small()).expect("opens");
    // The files are looked at: nothing waits to be written.
    let settings = LogSettings { max_unwritten_bytes: 0, ..LogSettings::default() };
    LogSet::open(start.engine, settings, now(0)).expect("opens")
}

fn small_segments() -> PartitionConfig {
    PartitionConfig { segment_bytes: 1000, index_interval_bytes: 100, ..PartitionConfig::default() }
}

fn segment_files(system: &SimulatedFileSystem) -> BTreeMap<String, Vec<u8>> {
    system.files().into_iter().filter(|(path, _)| path.starts_with("topic")).collect()
}

#[test]
fn after_a_clean_stop_no_file_is_read_and_nothing_replayed() {
    let system = SimulatedFileSystem::new(1);
    let (mut set, _) = open_simulated(&system);
    let id = create(&mut set, 1, small_segments());
    for number in 0..40u8 {
        append(&mut set, id, &numbered(5, 0, i32::from(number), &[&[number; 50]])).expect("appends");
        settle(&mut set, now(1));
    }
    let expected = read_all(&mut set, id);
    stop_cleanly(set, now(2));

    // The first read of one of the partition's files, whichever it is, will fail.
    system.fail(Operation::Read, "topic1-0/", 0, std::io::ErrorKind::Other);
    let (mut set, report) = open_simulated(&system);
    assert_eq!(report, RecoveryReport { partitions: 1, ..RecoveryReport::default() });
    let log = set.log(id).expect("is there");
    assert_eq!((log.high_watermark(), log.log_end_offset()), (Offset(40), Offset(40)));
    assert_eq!(set.leader_epoch(), LeaderEpoch(2));
    // Producer state is there without reading a batch: the last five are duplicates, the next is accepted.
    let again = append(&mut set, id, &numbered(5, 0, 35, &[&[35; 50]])).expect("is known");
    assert_eq!((again.duplicate, again.base_offset), (true, Offset(35)));
    append(&mut set, id, &numbered(5, 0, 40, &[b"next"])).expect("appends");
    settle(&mut set, now(3));
    let first = set.read(id, Offset(0), 100, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted);
    assert!(matches!(first, Err(ReadError::Store(_))), "a file was read before: {first:?}");
    let all = read_all(&mut set, id);
    assert_eq!(all[..40], expected);
    assert_eq!(all[40], (40, b"next".to_vec()));
}

#[test]
fn segments_roll_by_size_time_index_and_their_files_are_what_kafka_reads() {
    let system = SimulatedFileSystem::new(1);
    let (mut set, _) = open_simulated(&system);
    let by_size = create(&mut set, 1, small_segments());
    let by_time = create(&mut set, 2, PartitionConfig { segment_ms: 100, ..small_segments() });
    let by_index = create(
        &mut set,
        3,
        PartitionConfig { segment_index_bytes: 36, segment_bytes: 1 << 20, ..small_segments() },
    );
    for number in 0..60i64 {
        // Time goes back now and then, as producers' clocks do.
        let time = START_MS + number * 10 - if number % 7 == 3 { 45 } else { 0 };
        append(&mut set, by_size, &batch_at(time, &[&[1; 60], b"second"])).expect("appends");
        append(&mut set, by_index, &compressed(time, &[&[1; 60], b"second"])).expect("appends");
        if number % 6 == 0 {
            append(&mut set, by_time, &batch_at(time, &[b"x"])).expect("appends");
        }
        if number % 5 == 0 {
            settle(&mut set, now(1));
        }
    }
    settle(&mut set, now(1));
    let files = segment_files(&system);
    let logs =
        |folder: &str| files.keys().filter(|path| path.starts_with(folder) && path.ends_with(".log")).count();
    assert!(logs("topic1-0") > 5, "{:?}", files.keys());
    assert_eq!(logs("topic2-0"), 5, "one more than 100 ms after each first");
    assert!(logs("topic3-0") > 5, "{:?}", files.keys());
    assert!(files.contains_key("topic1-0/00000000000000000000.log"));
    let entries = |suffix: &str| -> usize {
        files.iter().filter(|(path, _)| path.ends_with(suffix)).map(|(_, bytes)| bytes.len()).sum()
    };
    assert!(entries(".index") / 8 > 30 && entries(".timeindex") / 12 > 30);
    let is_bounded = |(path, bytes): (&String, &Vec<u8>)| !path.ends_with("index") || bytes.len() <= 36;
    assert!(files.iter().filter(|(path, _)| path.starts_with("topic3")).all(is_bounded));
    assert_eq!(check_segment_files(&files), Ok(logs("topic")));
    // Every record of a sealed segment's largest time is found through the final entry of its time index.
    for id in [by_size, by_time, by_index] {
        let all = read_all(&mut set, id);
        assert_eq!(all.len() as i64, set.log(id).expect("is there").high_watermark().0);
    }
}

#[test]
fn the_dump_rules_notice_a_wrong_index() {
    let system = SimulatedFileSystem::new(1);
    let (mut set, _) = open_simulated(&system);
    let id = create(&mut set, 1, small_segments());
    for number in 0..6i64 {
        append(&mut set, id, &batch_at(START_MS + number, &[&[1; 60]])).expect("appends");
    }
    settle(&mut set, now(1));
    for suffix in ["index", "timeindex"] {
        let mut files = segment_files(&system);
        let index = files.get_mut(&format!("topic1-0/00000000000000000000.{suffix}")).expect("has entries");
        *index.last_mut().expect("has entries") ^= 1;
        assert!(check_segment_files(&files).is_err(), "{suffix}");
    }
}

#[test]
fn each_start_has_one_more_epoch_and_the_log_knows_where_each_began() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    append(&mut set, id, &batch(&[b"a", b"b"])).expect("appends");
    settle(&mut set, now(1));
    drop(set);
    // A start that writes nothing leaves no trace.
    let (set, _) = open(&disk);
    assert_eq!(set.leader_epoch(), LeaderEpoch(2));
    drop(set);
    disk.crash();
    let (mut set, _) = open(&disk);
    append(&mut set, id, &batch(&[b"c"])).expect("appends");
    settle(&mut set, now(1));
    stop_cleanly(set, now(2));
    let (mut set, _) = open(&disk);
    let mut end = |epoch| set.end_offset_for_epoch(id, LeaderEpoch(epoch)).expect("reads");
    assert_eq!(end(1), Some((LeaderEpoch(1), Offset(2))));
    assert_eq!(end(2), Some((LeaderEpoch(1), Offset(2))));
    assert_eq!(end(3), Some((LeaderEpoch(3), Offset(3))));
    assert_eq!(end(4), Some((LeaderEpoch(4), Offset(3))));
    assert_eq!(end(5), None);
}

#[test]
fn what_was_accepted_but_not_durable_is_not_in_a_checkpoint() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, small_segments());
    append(&mut set, id, &numbered(5, 0, 0, &[&[1; 60]])).expect("appends");
    settle(&mut set, now(1));
    // These change the producer, the segment and the log end, but wait while a checkpoint is made.
    for sequence in 1..20 {
        append(&mut set, id, &numbered(5, 0, sequence, &[&[1; 60]])).expect("appends");
    }
    set.request_checkpoint();
    set.poll(now(1));
    disk.crash();
    drop(set);
    let (mut set, report) = open(&disk);
    assert_eq!(report.rounds_replayed, 0);
    assert_eq!(set.log(id).expect("is there").log_end_offset(), Offset(1));
    let gap = append(&mut set, id, &numbered(5, 0, 2, &[b"x"]));
    assert!(matches!(gap, Err(AppendError::OutOfOrderSequence { expected: 1 })));
    assert!(append(&mut set, id, &numbered(5, 0, 0, &[&[1; 60]])).expect("is known").duplicate);
}

#[test]
fn a_checkpoint_gives_the_journal_back_and_runs_beside_rounds() {
    let disk = MemoryDisk::new();
    let settings = LogSettings { checkpoint_journal_bytes: 500, ..LogSettings::default() };
    let (mut set, _) = open_with(&disk, settings);
    let id = create(&mut set, 1, PartitionConfig::default());
    disk.set_pace(Pace::Held);
    for number in 0..10 {
        append(&mut set, id, &batch(&[&[number; 100]])).expect("appends");
        set.begin_round(now(1));
        disk.complete();
        set.poll(now(1));
        // The checkpoint that this poll began is still running while the next round is written.
        append(&mut set, id, &batch(&[&[number; 100]])).expect("appends");
        set.begin_round(now(1));
        disk.complete();
        set.poll(now(1));
    }
    disk.set_pace(Pace::AtOnce);
    disk.complete();
    settle(&mut set, now(1));
    disk.crash();
    drop(set);
    let engine = MemoryEngine::open(&disk).expect("opens");
    let first = engine.replay.rounds.first().map(|round| round.number);
    assert!(first.is_none_or(|first| first > RoundNumber(10)), "nothing was trimmed: {first:?}");
    let (mut set, _) = LogSet::open(engine, LogSettings::default(), now(0)).expect("opens");
    assert_eq!(read_all(&mut set, id).len(), 20);
}

#[test]
fn a_damaged_round_holds_its_partitions_offline_for_good_and_serves_the_rest() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let good = create(&mut set, 1, PartitionConfig::default());
    let bad = create(&mut set, 2, PartitionConfig::default());
    for id in [good, bad, bad] {
        append(&mut set, id, &batch(&[b"a"])).expect("appends");
        settle(&mut set, now(1));
    }
    drop(set);
    let mut engine = MemoryEngine::open(&disk).expect("opens");
    let index = engine.replay.rounds.len() - 2;
    let round = engine.replay.rounds.remove(index);
    let streams: Vec<StreamId> = round.entries.iter().map(|entry| entry.stream).collect();
    engine.replay.damaged =
        vec![DamagedRound { number: round.number, streams, place: "journal at 7".into() }];
    let (mut set, report) = LogSet::open(engine, LogSettings::default(), now(0)).expect("opens");
    assert_eq!(report.offline.len(), 1);
    assert!(report.offline[0].0 == bad && report.offline[0].1.contains("journal at 7"), "{report:?}");
    settle(&mut set, now(1));
    for _ in 0..2 {
        assert!(matches!(append(&mut set, bad, &batch(&[b"x"])), Err(AppendError::Offline { .. })));
        let read = set.read(bad, Offset(0), 100, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted);
        assert!(matches!(read, Err(ReadError::Offline { .. })));
        append(&mut set, good, &batch(&[b"b"])).expect("the rest is served");
        settle(&mut set, now(1));
        // The damaged round is trimmed by now; that must not bring the partition back with a hole.
        stop_cleanly(set, now(1));
        (set, _) = open(&disk);
    }
    set.delete_partition(bad);
    settle(&mut set, now(1));
    assert_eq!(set.partitions().collect::<Vec<_>>(), [good]);
    assert_eq!(read_all(&mut set, good).len(), 3);
}

#[test]
fn a_missing_file_holds_its_partition_offline() {
    let system = SimulatedFileSystem::new(1);
    let (mut set, _) = open_simulated(&system);
    let lost = create(&mut set, 1, small_segments());
    let kept = create(&mut set, 2, small_segments());
    for id in [lost, kept] {
        append(&mut set, id, &batch(&[b"a"])).expect("appends");
    }
    settle(&mut set, now(1));
    stop_cleanly(set, now(1));
    let mut start = LocalEngine::open(Arc::new(system.clone()), LocalSettings::small()).expect("opens");
    let files = start.engine.segments.list().expect("lists");
    let file = files.iter().find(|file| &*file.directory == "topic1-0").expect("has a file");
    start.engine.segments.remove(file).expect("removes");
    let (mut set, report) = LogSet::open(start.engine, LogSettings::default(), now(0)).expect("opens");
    assert_eq!(report.offline.len(), 1);
    assert!(matches!(append(&mut set, lost, &batch(&[b"b"])), Err(AppendError::Offline { .. })));
    assert_eq!(read_all(&mut set, kept).len(), 1);
}

#[test]
fn deleted_partitions_leave_no_files_and_their_folder_can_be_used_again() {
    let system = SimulatedFileSystem::new(1);
    let (mut set, _) = open_simulated(&system);
    let old = create(&mut set, 1, small_segments());
    append(&mut set, old, &batch(&[b"old"])).expect("appends");
    settle(&mut set, now(1));
    set.delete_partition(old);
    assert!(set.log(old).is_none());
    assert!(matches!(append(&mut set, old, &batch(&[b"x"])), Err(AppendError::UnknownPartition)));
    // A topic of the same name, before the old one is gone.
    let new = partition(2);
    set.create_partition(new, "topic1-0", LogKind::User, small_segments()).expect("creates");
    append(&mut set, new, &batch(&[b"new"])).expect("appends");
    settle(&mut set, now(1));
    settle(&mut set, now(1));
    assert!(
        !segment_files(&system).keys().any(|path| path.starts_with("topic1-0/")),
        "{:?}",
        segment_files(&system).keys()
    );
    assert_eq!(read_all(&mut set, new), [(0, b"new".to_vec())]);
    let third = partition(3);
    set.create_partition(third, "topic1-0", LogKind::User, small_segments()).expect("creates");
    assert_eq!(set.log(third).expect("is there").directory(), "topic1-0");
    drop(set);
    let (mut set, _) = open_simulated(&system);
    assert_eq!(read_all(&mut set, new), [(0, b"new".to_vec())]);
}

#[test]
fn segments_below_the_log_start_are_removed() {
    let system = SimulatedFileSystem::new(1);
    let (mut set, _) = open_simulated(&system);
    let id = create(&mut set, 1, small_segments());
    for number in 0..40u8 {
        append(&mut set, id, &batch(&[&[number; 60]])).expect("appends");
    }
    settle(&mut set, now(1));
    let before = set.log(id).expect("is there").segment_count();
    assert!(set.advance_log_start(id, Offset(41)).is_err());
    set.advance_log_start(id, Offset(25)).expect("below the high watermark");
    assert_eq!(set.log(id).expect("is there").log_start_offset(), Offset(0), "not before it is durable");
    settle(&mut set, now(1));
    settle(&mut set, now(1));
    let log = set.log(id).expect("is there");
    assert_eq!(log.log_start_offset(), Offset(25));
    assert!(log.segment_count() < before);
    assert_eq!(
        segment_files(&system).keys().filter(|path| path.ends_with(".log")).count(),
        log.segment_count()
    );
    assert_eq!(read_all(&mut set, id).first().map(|(offset, _)| *offset), Some(25));
    drop(set);
    let (mut set, _) = open_simulated(&system);
    assert!(is_out_of_range(&set.read(
        id,
        Offset(24),
        100,
        FirstBatch::AlwaysWhole,
        IsolationLevel::ReadUncommitted
    )));
    assert_eq!(read_all(&mut set, id).len(), 15);
}

#[test]
fn a_gap_between_checkpoint_and_journal_refuses_to_start() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    for _ in 0..3 {
        append(&mut set, id, &batch(&[b"a"])).expect("appends");
        settle(&mut set, now(1));
    }
    drop(set);
    let mut engine: Engine = MemoryEngine::open(&disk).expect("opens");
    engine.replay.rounds.remove(1);
    let refused = LogSet::open(engine, LogSettings::default(), now(0));
    assert!(matches!(refused.map(|_| ()), Err(OpenError::MissingRounds { .. })));
    let mut engine: Engine = MemoryEngine::open(&disk).expect("opens");
    engine.checkpoint = Some(vec![0, 99]);
    let refused = LogSet::open(engine, LogSettings::default(), now(0));
    assert!(matches!(refused.map(|_| ()), Err(OpenError::Version { found: 99, .. })));
}

#[test]
fn times_are_found_across_segments_and_after_a_restart() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, small_segments());
    for number in 0..50i64 {
        let time = START_MS + number * 10;
        let bytes = if number % 2 == 0 {
            compressed(time, &[&[1; 60], b"b"])
        } else {
            batch_at(time, &[&[1; 60], b"b"])
        };
        append(&mut set, id, &bytes).expect("appends");
    }
    settle(&mut set, now(1));
    stop_cleanly(set, now(1));
    let (mut set, _) = open(&disk);
    let mut find = |ms: i64| {
        let found = set.offset_for_timestamp(id, Timestamp(START_MS + ms)).expect("reads");
        found.map(|(offset, timestamp, epoch)| (offset.0, timestamp.0 - START_MS, epoch.0))
    };
    assert_eq!(find(-5), Some((0, 0, 1)));
    assert_eq!(find(1), Some((1, 1, 1)));
    assert_eq!(find(2), Some((2, 10, 1)));
    assert_eq!(find(250), Some((50, 250, 1)));
    assert_eq!(find(491), Some((99, 491, 1)));
    assert_eq!(find(492), None);
    let max = set.offset_of_max_timestamp(id).expect("reads");
    assert_eq!(max, Some((Offset(99), Timestamp(START_MS + 491), LeaderEpoch(1))));
}

#[test]
fn append_time_is_stamped_where_the_topic_says_so() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let config = PartitionConfig {
        timestamp_type: milepost_batch::TimestampType::LogAppendTime,
        ..PartitionConfig::default()
    };
    let id = create(&mut set, 1, config);
    let appended = set.append(id, &batch_at(5, &[b"a"]), AppendOrigin::Client, now(77)).expect("appends");
    assert_eq!(appended.log_append_time, Some(Timestamp(START_MS + 77)));
    settle(&mut set, now(78));
    let found = set.offset_for_timestamp(id, Timestamp(START_MS + 77)).expect("reads");
    assert_eq!(found, Some((Offset(0), Timestamp(START_MS + 77), LeaderEpoch(1))));
    assert_eq!(read_all(&mut set, id).len(), 1);
}

#[test]
fn a_deletion_that_is_not_durable_has_not_happened() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    append(&mut set, id, &batch(&[b"a"])).expect("appends");
    settle(&mut set, now(1));
    set.delete_partition(id);
    // A checkpoint between the deletion and its round: the partition must still be in it.
    set.request_checkpoint();
    set.poll(now(1));
    set.poll(now(1));
    disk.crash();
    drop(set);
    let (mut set, report) = open(&disk);
    assert_eq!(report.rounds_replayed, 0);
    assert_eq!(read_all(&mut set, id), [(0, b"a".to_vec())]);
}

#[test]
fn many_sealed_segments_are_closed_only_after_they_are_synced() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig { segment_bytes: 200, ..small_segments() });
    for number in 0..200u8 {
        append(&mut set, id, &batch(&[&[number; 60]])).expect("appends");
    }
    settle(&mut set, now(1));
    assert!(set.log(id).expect("is there").segment_count() > milepost_log::MAX_OPEN_SEALED_SEGMENTS);
    let all = read_all(&mut set, id);
    set.request_checkpoint();
    settle(&mut set, now(1));
    set.poll(now(1));
    assert_eq!(read_all(&mut set, id), all, "closed files are opened again");
    disk.crash();
    drop(set);
    let (mut set, report) = open(&disk);
    assert_eq!((report.rounds_replayed, report.offline), (0, Vec::new()));
    assert_eq!(read_all(&mut set, id), all);
}

#[test]
fn the_reserve_lets_a_durable_round_reach_its_segments() {
    let system = SimulatedFileSystem::new(1);
    let (mut set, _) = open_simulated(&system);
    let id = create(&mut set, 1, PartitionConfig::default());
    append(&mut set, id, &batch(&[b"a"])).expect("appends");
    settle(&mut set, now(1));
    let full = || system.fail(Operation::Write, "topic1-0/", 0, std::io::ErrorKind::StorageFull);
    full();
    append(&mut set, id, &batch(&[b"b"])).expect("appends");
    settle(&mut set, now(1));
    assert_eq!(read_all(&mut set, id).len(), 2);
    // If that is not enough the segment follows the journal later: what is durable stays so, and is read then.
    full();
    full();
    append(&mut set, id, &batch(&[b"c"])).expect("appends");
    set.begin_round(now(1));
    assert_eq!(set.poll(now(1)).poisoned, None);
    assert_eq!(set.log(id).expect("is there").high_watermark(), Offset(3));
    assert_eq!(read_all(&mut set, id).len(), 3, "there is room again");
    drop(set);
    let (mut set, _) = open_simulated(&system);
    assert_eq!(read_all(&mut set, id).len(), 3);
}

#[test]
fn what_is_durable_reaches_its_segment_when_it_is_read_gathers_or_has_waited() {
    let system = SimulatedFileSystem::new(1);
    let start = LocalEngine::open(Arc::new(system.clone()), LocalSettings::small()).expect("opens");
    let (mut set, _) = LogSet::open(start.engine, LogSettings::default(), now(0)).expect("opens");
    let id = create(&mut set, 1, PartitionConfig::default());
    let in_file = || system.files().get("topic1-0/00000000000000000000.log").map_or(0, Vec::len);
    let one = batch(&[b"a"]);
    append(&mut set, id, &one).expect("appends");
    settle(&mut set, now(1));
    assert_eq!((set.log(id).expect("is there").high_watermark(), in_file()), (Offset(1), 0));
    assert_eq!(read_all(&mut set, id).len(), 1);
    assert_eq!(in_file(), one.len(), "who reads finds it written");

    append(&mut set, id, &one).expect("appends");
    settle(&mut set, now(2));
    assert_eq!(set.next_deadline(), Some(now(2).monotonic.plus_ms(WRITE_BEHIND_MS)));
    settle(&mut set, now(1001));
    assert_eq!(in_file(), one.len());
    settle(&mut set, now(1002));
    assert_eq!((in_file(), set.next_deadline()), (2 * one.len(), None));

    while in_file() == 2 * one.len() {
        append(&mut set, id, &one).expect("appends");
        settle(&mut set, now(1003));
        assert!(set.log(id).expect("is there").size_bytes() < 2 * WRITE_BEHIND_BYTES);
    }
    set.request_checkpoint();
    append(&mut set, id, &one).expect("appends");
    settle(&mut set, now(1004));
    assert_eq!(in_file() as u64, set.log(id).expect("is there").size_bytes(), "a checkpoint names all of it");
}

#[test]
fn on_a_full_disk_what_reached_its_file_is_read_all_the_same() {
    let system = SimulatedFileSystem::new(1);
    let (mut set, _) = open_simulated(&system);
    let id = create(&mut set, 1, PartitionConfig::default());
    append(&mut set, id, &batch(&[b"a"])).expect("appends");
    settle(&mut set, now(1));
    for _ in 0..40 {
        system.fail(Operation::Write, "topic1-0/", 0, std::io::ErrorKind::StorageFull);
    }
    append(&mut set, id, &batch(&[b"b"])).expect("appends");
    settle(&mut set, now(1));
    assert_eq!(set.log(id).expect("is there").high_watermark(), Offset(2));
    let bytes = set
        .read(id, Offset(0), 1000, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted)
        .expect("it is in the file");
    let mut found = Vec::new();
    assert_eq!(collect(&bytes, Offset(0), &mut found), Offset(1));
    let refused = set.read(id, Offset(1), 1000, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted);
    assert!(refused.as_ref().is_err_and(ReadError::may_pass), "{refused:?}");
    let refused = set.offset_for_timestamp(id, Timestamp(START_MS));
    assert!(refused.is_err(), "half of the log must not answer for all of it: {refused:?}");
    system.clear_faults();
    assert_eq!(read_all(&mut set, id).len(), 2);
}
