//! Appending, rounds and reading on the engine in memory.

mod support;

use milepost_batch::BatchView;
use milepost_log::{
    AppendError, AppendOrigin, FirstBatch, IsolationLevel, LogKind, LogSettings, PartitionConfig,
};
use milepost_model::{LeaderEpoch, Offset, Timestamp};
use milepost_storage::{MemoryDisk, Pace, Space};
use support::*;

#[test]
fn what_is_appended_is_read_back_once_it_is_durable() {
    let disk = MemoryDisk::new();
    let (mut set, report) = open(&disk);
    assert_eq!(report, milepost_log::RecoveryReport::default());
    let id = create(&mut set, 1, PartitionConfig::default());
    let first = append(&mut set, id, &batch(&[b"a", b"b"])).expect("appends");
    assert_eq!((first.base_offset, first.last_offset), (Offset(0), Offset(1)));
    let second = append(&mut set, id, &batch(&[b"c"])).expect("appends");
    assert_eq!((second.base_offset, second.last_offset), (Offset(2), Offset(2)));
    let log = set.log(id).expect("is there");
    assert_eq!((log.high_watermark(), log.log_end_offset()), (Offset(0), Offset(3)));
    assert!(
        set.read(id, Offset(0), 1000, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted)
            .expect("reads")
            .is_empty()
    );

    settle(&mut set, now(1));
    assert_eq!(set.log(id).expect("is there").high_watermark(), Offset(3));
    let expected = [(0, b"a".to_vec()), (1, b"b".to_vec()), (2, b"c".to_vec())];
    assert_eq!(read_all(&mut set, id), expected);
    let bytes = set
        .read(id, Offset(1), 1000, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted)
        .expect("reads");
    let (stored, _) = BatchView::parse(&bytes).expect("a batch");
    assert_eq!((stored.base_offset(), stored.leader_epoch()), (Offset(0), LeaderEpoch(1)));
}

#[test]
fn nothing_is_shown_before_the_journal_says_durable() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    disk.set_pace(Pace::Held);
    append(&mut set, id, &batch(&[b"a"])).expect("appends");
    set.begin_round(now(1));
    assert!(set.is_flushing());
    assert_eq!(set.poll(now(1)).advanced, []);
    append(&mut set, id, &batch(&[b"b"])).expect("appends");
    set.begin_round(now(1));
    assert_eq!(read_all(&mut set, id), []);
    disk.complete();
    assert_eq!(set.poll(now(1)).advanced, [id]);
    assert_eq!(set.log(id).expect("is there").high_watermark(), Offset(1));
    assert_eq!(read_all(&mut set, id), [(0, b"a".to_vec())]);
    set.begin_round(now(1));
    // The second round is written to the segment, but not durable: a read must not run into it.
    assert_eq!(read_all(&mut set, id), [(0, b"a".to_vec())]);
    assert_eq!(set.offset_for_timestamp(id, Timestamp(START_MS + 1)).expect("reads"), None);
    disk.complete();
    set.poll(now(1));
    assert_eq!(read_all(&mut set, id).len(), 2);
}

#[test]
fn offsets_outside_the_log_are_refused() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    append(&mut set, id, &batch(&[b"a"])).expect("appends");
    settle(&mut set, now(1));
    append(&mut set, id, &batch(&[b"b"])).expect("appends");
    let mut read =
        |offset| set.read(id, Offset(offset), 1000, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted);
    assert!(is_out_of_range(&read(-1)));
    assert!(is_out_of_range(&read(3)));
    // Between the high watermark and the log end there is nothing yet, which is no error.
    assert!(read(1).expect("empty").is_empty());
    assert!(read(2).expect("empty").is_empty());
}

#[test]
fn a_read_gives_whole_batches_and_the_first_even_if_it_is_large() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    let large = vec![7; 500];
    let one = batch(&[&large]);
    for _ in 0..5 {
        append(&mut set, id, &one).expect("appends");
    }
    settle(&mut set, now(1));
    let mut read = |max, first| {
        set.read(id, Offset(1), max, first, IsolationLevel::ReadUncommitted).expect("reads").len() / one.len()
    };
    assert_eq!(read(one.len() * 3 - 1, FirstBatch::OnlyIfFits), 2);
    assert_eq!(read(one.len() * 3, FirstBatch::OnlyIfFits), 3);
    assert_eq!(read(one.len() - 1, FirstBatch::OnlyIfFits), 0);
    assert_eq!(read(one.len() - 1, FirstBatch::AlwaysWhole), 1);
    assert_eq!(read(0, FirstBatch::AlwaysWhole), 1);
    assert_eq!(read(usize::MAX, FirstBatch::AlwaysWhole), 4);
}

#[test]
fn a_duplicate_gets_the_offsets_of_its_original_and_writes_nothing() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    append(&mut set, id, &batch(&[b"x"])).expect("appends");
    let original = append(&mut set, id, &numbered(9, 0, 0, &[b"a", b"b"])).expect("appends");
    let duplicate = append(&mut set, id, &numbered(9, 0, 0, &[b"a", b"b"])).expect("is known");
    assert!(duplicate.duplicate && !original.duplicate);
    assert_eq!((duplicate.base_offset, duplicate.last_offset), (Offset(1), Offset(2)));
    assert_eq!(duplicate.log_append_time, Some(Timestamp(START_MS + 1)));
    let gap = append(&mut set, id, &numbered(9, 0, 3, &[b"d"]));
    assert!(matches!(gap, Err(AppendError::OutOfOrderSequence { expected: 2 })));
    let stale = {
        append(&mut set, id, &numbered(9, 1, 0, &[b"e"])).expect("a higher epoch begins at 0");
        append(&mut set, id, &numbered(9, 0, 2, &[b"f"]))
    };
    assert!(matches!(stale, Err(AppendError::StaleProducerEpoch { .. })));
    settle(&mut set, now(1));
    assert_eq!(read_all(&mut set, id).len(), 4);
}

#[test]
fn refused_batches_leave_nothing_behind() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig { segment_bytes: 200, ..PartitionConfig::default() });
    let mut damaged = batch(&[b"a"]);
    *damaged.last_mut().expect("not empty") ^= 1;
    assert!(matches!(append(&mut set, id, &damaged), Err(AppendError::Invalid(_))));
    let two = [batch(&[b"a"]), batch(&[b"b"])].concat();
    assert!(matches!(append(&mut set, id, &two), Err(AppendError::MoreThanOneBatch)));
    assert!(matches!(append(&mut set, id, &[0; 20]), Err(AppendError::NotABatch(_))));
    let large = append(&mut set, id, &batch(&[&[0; 300]]));
    assert!(matches!(large, Err(AppendError::LargerThanSegment { .. })));
    assert!(matches!(append(&mut set, partition(2), &batch(&[b"a"])), Err(AppendError::UnknownPartition)));
    assert!(!set.has_work());
    assert_eq!(set.log(id).expect("is there").log_end_offset(), Offset(0));
}

#[test]
fn internal_logs_go_first_and_a_round_is_bounded() {
    let disk = MemoryDisk::new();
    let one = batch(&[&[0; 100]]);
    let settings = LogSettings { max_round_bytes: 4 * one.len() as u64, ..LogSettings::default() };
    let (mut set, _) = open_with(&disk, settings);
    let user = create(&mut set, 1, PartitionConfig::default());
    let internal = partition(2);
    set.create_partition(internal, "internal-0", LogKind::Internal, PartitionConfig::default())
        .expect("creates");
    settle(&mut set, now(0));
    for _ in 0..6 {
        append(&mut set, user, &one).expect("appends");
    }
    for _ in 0..6 {
        set.append(internal, &one, AppendOrigin::Coordinator, now(1)).expect("appends");
    }
    let mut ends = Vec::new();
    while set.has_work() {
        set.begin_round(now(1));
        set.poll(now(1));
        let end = |id| set.log(id).expect("is there").high_watermark().0;
        ends.push((end(internal), end(user)));
    }
    assert_eq!(ends.last(), Some(&(6, 6)));
    assert!(ends.len() >= 3, "{ends:?}: at most four batches a round");
    assert!(ends[0].0 > 0, "{ends:?}: internal first");
}

#[test]
fn a_full_disk_refuses_appends_lets_deletions_through_and_heals() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    let other = create(&mut set, 2, PartitionConfig::default());
    append(&mut set, id, &batch(&[b"a"])).expect("appends");
    settle(&mut set, now(1));
    append(&mut set, id, &batch(&[b"b"])).expect("accepted before anybody knew");
    disk.set_space(Space::Full);
    set.poll(now(2));
    assert!(matches!(append(&mut set, id, &batch(&[b"c"])), Err(AppendError::DiskFull)));
    let created = set.create_partition(partition(3), "c-0", LogKind::User, PartitionConfig::default());
    assert!(matches!(created, Err(AppendError::DiskFull)));
    set.delete_partition(other);
    for _ in 0..5 {
        set.begin_round(now(3));
        set.poll(now(3));
    }
    assert_eq!(read_all(&mut set, id), [(0, b"a".to_vec())]);
    disk.set_space(Space::Ready);
    set.poll(now(4));
    append(&mut set, id, &batch(&[b"d"])).expect("healed");
    settle(&mut set, now(4));
    assert_eq!(read_all(&mut set, id).len(), 3);
    drop(set);
    let (set, _) = open(&disk);
    assert_eq!(set.partitions().collect::<Vec<_>>(), [id]);
}

#[test]
fn after_a_failed_round_nothing_is_accepted_or_acknowledged() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    disk.set_pace(Pace::Held);
    append(&mut set, id, &batch(&[b"a"])).expect("appends");
    set.begin_round(now(1));
    disk.poison("the cable");
    let progress = set.poll(now(1));
    assert!(progress.poisoned.expect("poisoned").contains("the cable"));
    assert_eq!(progress.advanced, []);
    assert!(matches!(append(&mut set, id, &batch(&[b"b"])), Err(AppendError::Poisoned { .. })));
    assert_eq!(set.log(id).expect("is there").high_watermark(), Offset(0));
}

#[test]
fn busy_internal_logs_do_not_starve_users() {
    let disk = MemoryDisk::new();
    let one = batch(&[&[0; 100]]);
    let settings = LogSettings { max_round_bytes: 4 * one.len() as u64, ..LogSettings::default() };
    let (mut set, _) = open_with(&disk, settings);
    let user = create(&mut set, 1, PartitionConfig::default());
    let internal = partition(2);
    set.create_partition(internal, "internal-0", LogKind::Internal, PartitionConfig::default())
        .expect("creates");
    settle(&mut set, now(0));
    append(&mut set, user, &one).expect("appends");
    for _ in 0..10 {
        for _ in 0..5 {
            set.append(internal, &one, AppendOrigin::Coordinator, now(1)).expect("appends");
        }
        set.begin_round(now(1));
        set.poll(now(1));
    }
    assert!(set.has_work(), "the internal log is still behind");
    assert_eq!(set.log(user).expect("is there").high_watermark(), Offset(1));
}

#[test]
fn clients_wait_when_too_much_is_pending_but_coordinators_do_not() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open_with(&disk, LogSettings { max_pending_bytes: 300, ..LogSettings::default() });
    let id = create(&mut set, 1, PartitionConfig::default());
    while append(&mut set, id, &batch(&[&[0; 50]])).is_ok() {
        assert!(set.log(id).expect("is there").log_end_offset() < Offset(10), "no bound");
    }
    assert!(matches!(append(&mut set, id, &batch(&[b"a"])), Err(AppendError::Overloaded)));
    set.append(id, &batch(&[b"a"]), AppendOrigin::Coordinator, now(1)).expect("its runtime bounds it");
    settle(&mut set, now(1));
    append(&mut set, id, &batch(&[b"a"])).expect("the bytes were written");
}

#[test]
fn on_a_full_disk_records_are_deleted_though_others_wait_for_room() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    append(&mut set, id, &batch(&[b"a", b"b"])).expect("appends");
    settle(&mut set, now(1));
    append(&mut set, id, &batch(&[b"c"])).expect("is accepted, and waits");
    disk.set_space(Space::Full);
    set.advance_log_start(id, Offset(1)).expect("it lies in the log");
    set.begin_round(now(2));
    set.poll(now(2));
    let log = set.log(id).expect("is there");
    assert_eq!((log.log_start_offset(), log.high_watermark()), (Offset(1), Offset(2)));
    disk.set_space(Space::Ready);
    set.poll(now(3));
    settle(&mut set, now(3));
    assert_eq!(read_all(&mut set, id).last().map(|(_, value)| value.clone()), Some(b"c".to_vec()));
}
