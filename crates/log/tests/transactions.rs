//! Transactions as one log sees them: where readers of committed records stop, what they are told to skip, and that
//! neither is forgotten.

mod support;

use milepost_batch::{BatchOptions, BatchView, Marker};
use milepost_log::{
    AbortedTransaction, AppendError, AppendOrigin, Appended, FirstBatch, IsolationLevel, LogKind, LogSet,
    LogSettings, MarkerEpoch, PRODUCER_EXPIRY_CHECK_MS, PartitionConfig,
};
use milepost_model::{
    Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TopicPartition, TransactionEnd,
};
use milepost_storage::{
    LocalEngine, LocalSettings, MemoryDisk, MemoryEngine, Pace, SimulatedFileSystem, Space,
};
use support::*;

const COORDINATOR_EPOCH: i32 = 3;
const COMMIT: TransactionEnd = TransactionEnd::Commit;
const ABORT: TransactionEnd = TransactionEnd::Abort;

fn producer(id: i64, epoch: i16) -> ProducerIdentity {
    ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(epoch) }
}

fn mark_as(
    set: &mut LogSet,
    id: TopicPartition,
    producer: ProducerIdentity,
    end: TransactionEnd,
    coordinator_epoch: i32,
    rule: MarkerEpoch,
) -> Result<Appended, AppendError> {
    set.append_marker(id, producer, Marker { end, coordinator_epoch }, rule, now(2))
}

fn mark(set: &mut LogSet, id: TopicPartition, producer_id: i64, end: TransactionEnd) -> i64 {
    let rule = MarkerEpoch::AtLeastKnown;
    let marked = mark_as(set, id, producer(producer_id, 0), end, COORDINATOR_EPOCH, rule);
    marked.expect("a marker").last_offset.0
}

/// Appends one record of a producer's transaction.
fn write(set: &mut LogSet, id: TopicPartition, producer_id: i64, sequence: i32) -> i64 {
    let batch = transactional(producer_id, 0, sequence, &[b"value"]);
    append(set, id, &batch).expect("a batch of a transaction").base_offset.0
}

fn stable(set: &LogSet, id: TopicPartition) -> i64 {
    set.log(id).expect("is there").last_stable_offset().0
}

fn aborted(set: &mut LogSet, id: TopicPartition, from: i64, to: i64) -> Vec<(i64, i64)> {
    let all = set.aborted_transactions(id, Offset(from), Offset(to)).expect("reads");
    let pair = |one: &AbortedTransaction| (one.producer_id.0, one.first_offset.0);
    all.iter().map(pair).collect()
}

/// The offsets that a reader of committed records sees, read in steps of about one batch.
fn committed(set: &mut LogSet, id: TopicPartition) -> Vec<i64> {
    committed_offsets(set, id, 100).expect("reads")
}

fn small_segments() -> PartitionConfig {
    PartitionConfig { segment_bytes: 300, ..PartitionConfig::default() }
}

#[test]
fn readers_of_committed_records_stop_at_the_first_open_transaction() {
    let (mut set, _) = open(&MemoryDisk::new());
    let id = create(&mut set, 1, PartitionConfig::default());
    append(&mut set, id, &batch(&[b"plain"])).unwrap();
    assert_eq!((write(&mut set, id, 7, 0), write(&mut set, id, 8, 0)), (1, 2));
    append(&mut set, id, &batch(&[b"plain"])).unwrap();
    settle(&mut set, now(1));
    assert_eq!(stable(&set, id), 1);
    assert_eq!(committed(&mut set, id), [0]);
    let everything =
        set.read(id, Offset(0), 1000, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted).unwrap();
    let within =
        set.read(id, Offset(0), 1000, FirstBatch::AlwaysWhole, IsolationLevel::ReadCommitted).unwrap();
    assert!(everything.starts_with(&within) && within.len() < everything.len() / 2);
    // From the last stable offset on there is nothing, which is no error; the first batch is not forced out either.
    let beyond = set.read(id, Offset(1), 0, FirstBatch::AlwaysWhole, IsolationLevel::ReadCommitted);
    assert!(beyond.unwrap().is_empty());
    mark(&mut set, id, 7, COMMIT);
    settle(&mut set, now(1));
    assert_eq!(stable(&set, id), 2, "the other one is open");
    mark(&mut set, id, 8, ABORT);
    settle(&mut set, now(1));
    assert_eq!(stable(&set, id), 6);
    assert_eq!(committed(&mut set, id), [0, 1, 3]);
    assert_eq!(aborted(&mut set, id, 0, 6), [(8, 2)]);
}

#[test]
fn a_marker_counts_for_readers_once_it_is_durable() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    write(&mut set, id, 7, 0);
    settle(&mut set, now(1));
    disk.set_pace(Pace::Held);
    mark(&mut set, id, 7, COMMIT);
    let log = set.log(id).unwrap();
    assert_eq!(log.ongoing_transaction(producer(7, 0)), None, "for what follows it has ended");
    assert_eq!(stable(&set, id), 0, "for readers it has not");
    // The next one of the producer begins above the high watermark, where it holds nobody up.
    write(&mut set, id, 7, 1);
    set.begin_round(now(1));
    set.poll(now(1));
    assert_eq!(stable(&set, id), 0);
    let open_start = set.log(id).unwrap().active_producers().next().unwrap().transaction_start;
    assert_eq!(open_start, Some(Offset(0)));
    disk.complete();
    set.poll(now(1));
    assert_eq!(stable(&set, id), 2);
    assert_eq!(set.log(id).unwrap().high_watermark(), Offset(3));
    assert_eq!(set.log(id).unwrap().ongoing_transaction(producer(7, 0)), Some(Offset(2)));
    assert_eq!(set.log(id).unwrap().ongoing_transaction(producer(7, 1)), None, "not of that epoch");
}

#[test]
fn a_batch_outside_of_the_open_transaction_is_refused() {
    let (mut set, _) = open(&MemoryDisk::new());
    let id = create(&mut set, 1, PartitionConfig::default());
    write(&mut set, id, 7, 0);
    let outside = append(&mut set, id, &numbered(7, 0, 1, &[b"x"]));
    assert!(matches!(outside, Err(AppendError::OutsideTransaction)), "{outside:?}");
    let gap = append(&mut set, id, &transactional(7, 0, 2, &[b"x"]));
    assert!(matches!(gap, Err(AppendError::OutOfOrderSequence { expected: 1 })));
    mark(&mut set, id, 7, COMMIT);
    assert!(append(&mut set, id, &numbered(7, 0, 1, &[b"x"])).is_ok());
    let fenced = mark_as(&mut set, id, producer(7, 0), COMMIT, 2, MarkerEpoch::AtLeastKnown);
    let known = COORDINATOR_EPOCH;
    assert!(matches!(fenced, Err(AppendError::StaleCoordinatorEpoch { known: found }) if found == known));
    // A batch sent twice is a duplicate, whatever became of its transaction.
    assert!(append(&mut set, id, &transactional(7, 0, 0, &[b"value"])).unwrap().duplicate);
    settle(&mut set, now(1));
    assert_eq!(stable(&set, id), 3);
}

#[test]
fn coordinators_begin_transactions_without_sequence_numbers_and_are_fenced_by_the_producers_epoch() {
    let (mut set, _) = open(&MemoryDisk::new());
    let id = partition(1);
    set.create_partition(id, "__consumer_offsets-0", LogKind::Internal, PartitionConfig::default()).unwrap();
    let commit = |epoch, transactional: bool| {
        let identity = transactional.then_some(producer(7, epoch));
        build(BatchOptions::coordinator(identity), START_MS, &[b"offset"])
    };
    let append = |set: &mut LogSet, epoch| {
        set.append(id, &commit(epoch, true), AppendOrigin::Coordinator, now(1)).map(|it| it.base_offset.0)
    };
    assert_eq!(append(&mut set, 1).unwrap(), 0);
    assert_eq!(append(&mut set, 1).unwrap(), 1, "base sequence 0 again");
    assert!(matches!(append(&mut set, 0), Err(AppendError::StaleProducerEpoch { .. })));
    let plain = set.append(id, &commit(0, false), AppendOrigin::Coordinator, now(1)).unwrap();
    assert_eq!(plain.base_offset.0, 2);
    settle(&mut set, now(1));
    assert_eq!(stable(&set, id), 0);
    mark_as(&mut set, id, producer(7, 2), ABORT, 1, MarkerEpoch::AboveKnown).unwrap();
    settle(&mut set, now(1));
    assert_eq!(stable(&set, id), 4);
    assert_eq!(aborted(&mut set, id, 0, 4), [(7, 0)]);
    assert!(matches!(append(&mut set, 1), Err(AppendError::StaleProducerEpoch { .. })));
}

#[test]
fn a_marker_for_nothing_is_harmless_and_makes_its_epochs_known() {
    let (mut set, _) = open(&MemoryDisk::new());
    let id = create(&mut set, 1, PartitionConfig::default());
    let rule = MarkerEpoch::AtLeastKnown;
    mark_as(&mut set, id, producer(7, 4), ABORT, 5, rule).unwrap();
    mark_as(&mut set, id, producer(7, 4), ABORT, 5, rule).unwrap();
    settle(&mut set, now(1));
    assert_eq!(stable(&set, id), 2);
    assert!(aborted(&mut set, id, 0, 2).is_empty());
    let stale = mark_as(&mut set, id, producer(7, 3), COMMIT, 5, rule);
    assert!(matches!(stale, Err(AppendError::StaleProducerEpoch { known: ProducerEpoch(4) })));
    let fenced = mark_as(&mut set, id, producer(7, 5), COMMIT, 4, rule);
    assert!(matches!(fenced, Err(AppendError::StaleCoordinatorEpoch { known: 5 })));
    let known = set.log(id).unwrap().active_producers().next().unwrap();
    assert_eq!((known.identity, known.coordinator_epoch), (producer(7, 4), Some(5)));
    assert_eq!((known.last_sequence, known.transaction_start), (None, None));
    assert_eq!(known.last_timestamp, now(2).wall);
    assert_eq!(set.log(id).unwrap().log_end_offset(), Offset(2), "what was refused left nothing");
}

#[test]
fn a_marker_is_a_control_batch_that_fits_everywhere_and_carries_the_time_the_topic_asks_for() {
    let (mut set, _) = open(&MemoryDisk::new());
    let config = PartitionConfig {
        segment_bytes: 100,
        timestamp_type: milepost_batch::TimestampType::LogAppendTime,
        max_message_bytes: 1,
        ..PartitionConfig::default()
    };
    let id = create(&mut set, 1, config);
    mark(&mut set, id, 7, COMMIT);
    mark(&mut set, id, 7, COMMIT);
    settle(&mut set, now(1));
    let bytes =
        set.read(id, Offset(1), 1000, FirstBatch::AlwaysWhole, IsolationLevel::ReadCommitted).unwrap();
    let (marker, _) = BatchView::parse(&bytes).unwrap();
    assert!(marker.is_control() && marker.is_transactional() && marker.crc_matches());
    assert_eq!(marker.timestamp_type(), milepost_batch::TimestampType::LogAppendTime);
    assert_eq!((marker.base_offset(), marker.max_timestamp()), (Offset(1), now(2).wall));
    assert_eq!(marker.leader_epoch(), set.leader_epoch());
    assert_eq!((marker.base_sequence(), marker.producer()), (None, Some(producer(7, 0))));
}

#[test]
fn aborted_transactions_are_those_that_reach_into_the_range_wherever_their_markers_lie() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, small_segments());
    // 7 is open from 0 to 9; within it 8 aborts twice and 9 once; 10 commits.
    write(&mut set, id, 7, 0);
    write(&mut set, id, 8, 0);
    assert_eq!(mark(&mut set, id, 8, ABORT), 2);
    write(&mut set, id, 9, 0);
    write(&mut set, id, 8, 1);
    write(&mut set, id, 10, 0);
    assert_eq!(mark(&mut set, id, 8, ABORT), 6);
    assert_eq!(mark(&mut set, id, 10, COMMIT), 7);
    assert_eq!(mark(&mut set, id, 9, ABORT), 8);
    assert_eq!(mark(&mut set, id, 7, ABORT), 9);
    write(&mut set, id, 8, 2);
    assert_eq!(mark(&mut set, id, 8, ABORT), 11);
    settle(&mut set, now(1));
    assert!(set.log(id).unwrap().segment_count() > 3);
    assert_eq!(stable(&set, id), 12);
    for _ in 0..2 {
        assert_eq!(aborted(&mut set, id, 0, 12), [(7, 0), (8, 1), (9, 3), (8, 4), (8, 10)]);
        assert_eq!(aborted(&mut set, id, 0, 1), [(7, 0)]);
        assert_eq!(aborted(&mut set, id, 0, 2), [(7, 0), (8, 1)]);
        assert_eq!(aborted(&mut set, id, 5, 6), [(7, 0), (9, 3), (8, 4)]);
        assert_eq!(aborted(&mut set, id, 9, 10), [(7, 0)]);
        assert_eq!(aborted(&mut set, id, 10, 12), [(8, 10)]);
        assert_eq!(committed(&mut set, id), [5]);
        stop_cleanly(set, now(3));
        (set, _) = open(&disk);
        set.configure(id, LogKind::User, small_segments());
    }
}

#[test]
fn open_and_aborted_transactions_survive_every_way_to_stop() {
    /// What happens between two steps of the history.
    #[derive(Clone, Copy, Debug)]
    enum Break {
        None,
        Checkpoint,
        Crash,
        CleanStop,
    }
    const BREAKS: [Break; 4] = [Break::None, Break::Checkpoint, Break::Crash, Break::CleanStop];
    fn pass(mut set: LogSet, disk: &MemoryDisk, at: Break) -> LogSet {
        settle(&mut set, now(1));
        match at {
            Break::None => return set,
            Break::Checkpoint => {
                set.request_checkpoint();
                settle(&mut set, now(1));
                return set;
            }
            Break::Crash => {
                disk.crash();
                drop(set);
            }
            Break::CleanStop => stop_cleanly(set, now(1)),
        }
        let (mut set, report) = open(disk);
        assert!(report.offline.is_empty());
        set.configure(partition(1), LogKind::User, small_segments());
        set
    }
    let all = |count: usize| (0..count).map(|at| (BREAKS[at % 4], BREAKS[at / 4 % 4], BREAKS[at / 16 % 4]));
    for (first, second, third) in all(64) {
        let disk = MemoryDisk::new();
        let (mut set, _) = open(&disk);
        let id = create(&mut set, 1, small_segments());
        append(&mut set, id, &batch(&[b"plain"])).unwrap();
        write(&mut set, id, 7, 0);
        write(&mut set, id, 8, 0);
        set = pass(set, &disk, first);
        assert_eq!(stable(&set, id), 1, "{first:?}");
        mark(&mut set, id, 7, ABORT);
        set = pass(set, &disk, second);
        assert_eq!(stable(&set, id), 2, "{first:?} {second:?}");
        write(&mut set, id, 7, 1);
        write(&mut set, id, 8, 1);
        set = pass(set, &disk, third);
        let of = |set: &LogSet, id_of: i64| set.log(id).unwrap().ongoing_transaction(producer(id_of, 0));
        assert_eq!((of(&set, 7), of(&set, 8)), (Some(Offset(4)), Some(Offset(2))));
        mark(&mut set, id, 8, COMMIT);
        mark(&mut set, id, 7, ABORT);
        set = pass(set, &disk, Break::Crash);
        assert_eq!(stable(&set, id), 8);
        assert_eq!(aborted(&mut set, id, 0, 8), [(7, 1), (7, 4)]);
        assert_eq!(committed(&mut set, id), [0, 2, 5], "{first:?} {second:?} {third:?}");
        let stale = mark_as(&mut set, id, producer(7, 0), ABORT, 2, MarkerEpoch::AtLeastKnown);
        assert!(matches!(stale, Err(AppendError::StaleCoordinatorEpoch { known: COORDINATOR_EPOCH })));
    }
}

#[test]
fn what_a_crash_takes_back_of_a_transaction_was_never_there() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open(&disk);
    let id = create(&mut set, 1, PartitionConfig::default());
    write(&mut set, id, 7, 0);
    settle(&mut set, now(1));
    disk.set_pace(Pace::Held);
    mark(&mut set, id, 7, ABORT);
    write(&mut set, id, 8, 0);
    set.begin_round(now(1));
    disk.crash();
    drop(set);
    disk.set_pace(Pace::AtOnce);
    let (set, _) = open(&disk);
    assert_eq!(set.log(id).unwrap().ongoing_transaction(producer(7, 0)), Some(Offset(0)));
    assert!(!set.log(id).unwrap().knows_producer(ProducerId(8)));
    assert_eq!(stable(&set, id), 0);
}

#[test]
fn an_open_transaction_outlives_the_expiry_of_producers() {
    let disk = MemoryDisk::new();
    let settings = LogSettings { producer_id_expiration_ms: 1000, ..LogSettings::default() };
    let (mut set, _) = open_with(&disk, settings);
    let id = create(&mut set, 1, PartitionConfig::default());
    write(&mut set, id, 7, 0);
    append(&mut set, id, &numbered(8, 0, 0, &[b"x"])).unwrap();
    settle(&mut set, now(1));
    let later = now(i64::try_from(PRODUCER_EXPIRY_CHECK_MS).unwrap() + 10_000);
    settle(&mut set, later);
    set.poll(later);
    assert!(!set.log(id).unwrap().knows_producer(ProducerId(8)));
    assert_eq!(set.log(id).unwrap().ongoing_transaction(producer(7, 0)), Some(Offset(0)));
    assert_eq!(stable(&set, id), 0);
}

#[test]
fn a_log_start_above_an_open_transaction_leaves_it_open() {
    let (mut set, _) = open(&MemoryDisk::new());
    let id = create(&mut set, 1, small_segments());
    for sequence in 0..10 {
        write(&mut set, id, 7, sequence);
        settle(&mut set, now(1));
    }
    set.advance_log_start(id, Offset(8)).unwrap();
    settle(&mut set, now(1));
    assert_eq!(set.log(id).unwrap().log_start_offset(), Offset(8));
    assert_eq!(stable(&set, id), 8, "never below the log start");
    assert!(committed(&mut set, id).is_empty());
    assert_eq!(set.log(id).unwrap().ongoing_transaction(producer(7, 0)), Some(Offset(0)));
    mark(&mut set, id, 7, ABORT);
    settle(&mut set, now(1));
    assert_eq!(stable(&set, id), 11);
    assert_eq!(aborted(&mut set, id, 8, 11), [(7, 0)]);
    assert!(committed(&mut set, id).is_empty());
}

#[test]
fn the_abort_index_is_kafkas_file_and_lives_as_long_as_its_segment() {
    let system = SimulatedFileSystem::new(1);
    let open_simulated = || {
        let settings = LogSettings { max_unwritten_bytes: 0, ..LogSettings::default() };
        let start = LocalEngine::open(std::sync::Arc::new(system.clone()), LocalSettings::small()).unwrap();
        LogSet::open(start.engine, settings, now(0)).unwrap().0
    };
    let index_files = || -> Vec<(String, Vec<u8>)> {
        let is_index = |(path, _): &(String, Vec<u8>)| path.ends_with(".txnindex");
        system.files().into_iter().filter(is_index).collect()
    };
    let mut set = open_simulated();
    let id = create(&mut set, 1, small_segments());
    write(&mut set, id, 7, 0);
    mark(&mut set, id, 7, COMMIT);
    settle(&mut set, now(1));
    assert!(index_files().is_empty(), "nothing was aborted");
    write(&mut set, id, 258, 0);
    append(&mut set, id, &batch(&[&[b'x'; 150]])).unwrap();
    assert_eq!(mark(&mut set, id, 258, ABORT), 4);
    settle(&mut set, now(1));
    let files = index_files();
    assert_eq!(files.len(), 1);
    assert!(
        files[0].0.ends_with("topic1-0/00000000000000000004.txnindex"),
        "in the segment of the marker: {files:?}"
    );
    let hex: String = files[0].1.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "00000000000000000102000000000000000200000000000000040000000000000005");
    stop_cleanly(set, now(2));
    let mut set = open_simulated();
    set.configure(id, LogKind::User, small_segments());
    assert_eq!(aborted(&mut set, id, 0, 5), [(258, 2)]);
    append(&mut set, id, &batch(&[&[b'x'; 200]])).unwrap();
    settle(&mut set, now(3));
    set.advance_log_start(id, Offset(5)).unwrap();
    settle(&mut set, now(3));
    set.poll(now(3));
    assert!(index_files().is_empty(), "it went with its segment");
}

#[test]
fn on_a_full_disk_no_marker_is_accepted_and_what_was_aborted_is_known() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open_with(&disk, LogSettings::default());
    let id = create(&mut set, 1, PartitionConfig::default());
    write(&mut set, id, 7, 0);
    mark(&mut set, id, 7, ABORT);
    write(&mut set, id, 7, 1);
    set.begin_round(now(1));
    set.poll(now(1));
    disk.set_space(Space::Full);
    set.poll(now(1));
    let marker = Marker { end: ABORT, coordinator_epoch: COORDINATOR_EPOCH };
    let refused = set.append_marker(id, producer(7, 0), marker, MarkerEpoch::AtLeastKnown, now(1));
    assert!(matches!(refused, Err(AppendError::DiskFull)));
    assert_eq!(stable(&set, id), 2);
    assert_eq!(aborted(&mut set, id, 0, 2), [(7, 0)]);
    disk.set_space(Space::Ready);
    set.poll(now(1));
    mark(&mut set, id, 7, ABORT);
    settle(&mut set, now(1));
    assert_eq!(stable(&set, id), 4);
}

/// A folder of a release before transactions.
#[test]
fn a_checkpoint_of_version_one_is_opened() {
    let fixture = include_str!("fixtures/checkpoint-version-1.txt");
    let disk = MemoryDisk::new();
    let mut engine = MemoryEngine::open(&disk).unwrap();
    let mut document = Vec::new();
    let mut files = Vec::new();
    for line in fixture.lines().filter(|line| !line.starts_with('#')) {
        let (name, hex) = line.split_once(' ').unwrap();
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let Some((directory, name)) = name.split_once('/') else {
            document = bytes;
            continue;
        };
        let name = milepost_storage::FileName { directory: directory.into(), name: name.into() };
        let file = engine.segments.create(&name).unwrap();
        engine.segments.write(file, 0, &bytes).unwrap();
        files.push(file);
    }
    engine.segments.begin_checkpoint(&files, document);
    assert_eq!(engine.segments.poll_checkpoint(), milepost_storage::CheckpointState::Done);
    // The rounds that it covers were given back.
    (0..10).for_each(|_| _ = engine.journal.submit(Vec::new()));
    engine.journal.trim(milepost_storage::RoundNumber(11));
    drop(engine);
    for _ in 0..2 {
        let (mut set, report) = open(&disk);
        assert!(report.offline.is_empty() && report.partitions == 2, "{report:?}");
        let id = partition(1);
        let records = read_all(&mut set, id);
        assert_eq!(records.len(), 12);
        assert_eq!((records[0].clone(), records[11].clone()), ((2, b"aa".to_vec()), (13, b"cc".to_vec())));
        assert!(
            append(&mut set, id, &numbered_at(START_MS + 5, 7, 2, 10, &[b"aa", b"bb"])).unwrap().duplicate
        );
        let gap = append(&mut set, id, &numbered(7, 2, 14, &[b"x"]));
        assert!(matches!(gap, Err(AppendError::OutOfOrderSequence { expected: 12 })));
        assert_eq!(set.log(id).unwrap().last_stable_offset(), Offset(14));
        let newest = set.log(id).unwrap().active_producers().last().unwrap();
        assert_eq!((newest.identity, newest.last_sequence), (producer(9, 0), Some(i32::MAX)));
        assert_eq!(newest.last_timestamp, Timestamp(START_MS + 11));
        // What is written from here on is version 2.
        set.request_checkpoint();
        set.create_partition(partition(3), "another-0", LogKind::User, PartitionConfig::default()).unwrap();
        stop_cleanly(set, now(2));
        let engine = MemoryEngine::open(&disk).unwrap();
        assert_eq!(engine.checkpoint.unwrap()[..2], [0, 2]);
        drop(engine.journal);
        drop(engine.segments);
        let (mut set, _) = open(&disk);
        set.delete_partition(partition(3));
        stop_cleanly(set, now(3));
    }
}
