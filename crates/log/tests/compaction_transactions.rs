//! What the cleaner does with transactions, rule by rule. The numbers are those of Kafka's tickets about its own.

mod support;

use milepost_batch::{BatchBuilder, BatchOptions, BatchView, ControlType, Marker};
use milepost_log::{
    AbortedTransaction, AppendOrigin, LogKind, LogSet, LogSettings, MarkerEpoch, PRODUCER_EXPIRY_CHECK_MS,
    PartitionConfig,
};
use milepost_model::{
    Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TopicPartition, TransactionEnd,
};
use milepost_storage::MemoryDisk;
use support::cleaning::*;
use support::{START_MS, committed_offsets, create, now, open_with, settle};

const COMMIT: TransactionEnd = TransactionEnd::Commit;
const ABORT: TransactionEnd = TransactionEnd::Abort;

fn producer(id: i64) -> ProducerIdentity {
    ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(0) }
}

/// A batch of one record in a transaction, as a coordinator writes it: the sequence is 0 each time.
fn put_in_transaction(
    set: &mut LogSet,
    id: TopicPartition,
    at_ms: i64,
    producer_id: i64,
    key: &str,
    value: &str,
) -> i64 {
    let mut builder = BatchBuilder::new(BatchOptions::coordinator(Some(producer(producer_id))));
    let time = Timestamp(START_MS + at_ms);
    builder.append(time, Some(key.as_bytes()), Some(value.as_bytes()), &[]).expect("fits");
    let batch = builder.build(Offset::ZERO);
    let appended = set.append(id, &batch, AppendOrigin::Coordinator, now(at_ms)).expect("appends");
    settle(set, now(at_ms));
    appended.base_offset.0
}

fn mark(
    set: &mut LogSet,
    id: TopicPartition,
    at_ms: i64,
    producer: ProducerIdentity,
    end: TransactionEnd,
) -> i64 {
    let marker = Marker { end, coordinator_epoch: 1 };
    let marked = set.append_marker(id, producer, marker, MarkerEpoch::AtLeastKnown, now(at_ms));
    settle(set, now(at_ms));
    marked.expect("a marker").base_offset.0
}

fn aborted(set: &mut LogSet, id: TopicPartition) -> Vec<(i64, i64)> {
    let end = set.log(id).expect("is there").last_stable_offset();
    let all = set.aborted_transactions(id, Offset(0), end).expect("reads");
    all.iter().map(|one: &AbortedTransaction| (one.producer_id.0, one.first_offset.0)).collect()
}

/// What is left of the markers: offset, and how many records the control batch has.
fn markers(set: &mut LogSet, id: TopicPartition) -> Vec<(i64, i32)> {
    let all = batches(set, id);
    let views = all.iter().map(|batch| BatchView::parse(batch).expect("whole").0);
    views.filter(BatchView::is_control).map(|batch| (batch.base_offset().0, batch.record_count())).collect()
}

/// Offset and value of the records of users, read without looking at transactions.
fn values(set: &mut LogSet, id: TopicPartition) -> Vec<(i64, String)> {
    let mut all = Vec::new();
    for batch in batches(set, id) {
        let (batch, _) = BatchView::parse(&batch).expect("whole");
        if batch.is_control() {
            continue;
        }
        for record in &batch.records().expect("opens") {
            let record = record.expect("reads");
            let value = record.value.expect("no tombstones here").to_vec();
            all.push((record.offset.0, String::from_utf8(value).expect("text")));
        }
    }
    all
}

fn committed(set: &mut LogSet, id: TopicPartition) -> Vec<i64> {
    committed_offsets(set, id, 100).expect("reads")
}

/// Makes everything so far cleanable by a record that nobody asks for.
fn clean_all(set: &mut LogSet, id: TopicPartition, at_ms: i64) {
    put(set, id, at_ms, "filler", Some("x"));
    compact_now(set, id, at_ms);
}

#[test]
fn aborted_records_go_at_once_and_markers_when_their_records_are_gone_and_their_time_is_over() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, config());
    put_in_transaction(&mut set, id, 0, 7, "a", "aborted");
    put_in_transaction(&mut set, id, 0, 8, "b", "committed");
    assert_eq!(mark(&mut set, id, 0, producer(7), ABORT), 2);
    assert_eq!(mark(&mut set, id, 0, producer(8), COMMIT), 3);
    // The producers write elsewhere meanwhile: nothing of theirs is kept for their own sake.
    for (producer_id, sequence) in [(7, "c"), (8, "d")] {
        put_in_transaction(&mut set, id, 0, producer_id, sequence, "later");
        mark(&mut set, id, 0, producer(producer_id), COMMIT);
    }
    assert_eq!(aborted(&mut set, id), [(7, 0)]);
    clean_all(&mut set, id, 10);
    assert_eq!(values(&mut set, id)[0], (1, "committed".into()));
    assert_eq!(markers(&mut set, id), [(2, 1), (3, 1), (5, 1), (7, 1)], "data was there until now");
    assert_eq!(aborted(&mut set, id), [(7, 0)]);
    // Now the aborted one has no data; a reader in the middle still gets its marker.
    clean_all(&mut set, id, 20);
    assert_eq!(markers(&mut set, id)[0], (2, 1));
    assert!(aborted(&mut set, id).is_empty());
    clean_all(&mut set, id, 20 + HOUR_MS - 1);
    assert_eq!(markers(&mut set, id)[0], (2, 1));
    clean_all(&mut set, id, 20 + HOUR_MS);
    assert_eq!(markers(&mut set, id), [(3, 1), (5, 1), (7, 1)], "the others still have data");
    // What was committed is overwritten; then its marker goes the same way.
    put(&mut set, id, 21 + HOUR_MS, "b", Some("newer"));
    clean_all(&mut set, id, 30 + HOUR_MS);
    assert!(!values(&mut set, id).contains(&(1, "committed".into())));
    clean_all(&mut set, id, 40 + HOUR_MS);
    assert_eq!(markers(&mut set, id).len(), 3);
    clean_all(&mut set, id, 40 + 2 * HOUR_MS);
    assert_eq!(markers(&mut set, id), [(5, 1), (7, 1)]);
}

#[test]
fn an_open_transaction_holds_compaction_up_and_its_records_count_for_nothing() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, config());
    for round in 0..10 {
        put(&mut set, id, round, "key", Some("below"));
    }
    let first = put_in_transaction(&mut set, id, 10, 7, "key", "undecided");
    for round in 0..10 {
        put(&mut set, id, 20 + round, "other", Some("above"));
    }
    set.request_cleaning(id, now(50));
    clean(&mut set, 50);
    assert!(set.log(id).unwrap().is_cleaning_wanted(), "it waits for the end of the transaction");
    let left = values(&mut set, id);
    assert_eq!(
        left.iter().filter(|(offset, _)| *offset >= first).count(),
        11,
        "nothing above it was touched"
    );
    assert!(left.iter().any(|(_, value)| value == "below"), "nobody knows yet whether it is superseded");
    mark(&mut set, id, 60, producer(7), ABORT);
    clean(&mut set, 70);
    assert!(!set.log(id).unwrap().is_cleaning_wanted());
    let left: Vec<_> = values(&mut set, id).into_iter().map(|(_, value)| value).collect();
    assert_eq!(left, ["below", "above"], "what was aborted superseded nothing");
    assert_eq!(committed(&mut set, id), [9, 20]);
}

/// KAFKA-8351: one transaction over several segments and groups. KAFKA-13727: what is told about it with each of them must
/// not make it forgotten that its data was met.
#[test]
fn the_marker_of_a_transaction_over_many_segments_stays_while_its_data_does() {
    let (mut set, _) = open_with(&MemoryDisk::new(), settings());
    let id = create(&mut set, 1, config());
    let mut filled = 0;
    let mut fill = |set: &mut LogSet| {
        for _ in 0..8 {
            filled += 1;
            put(set, id, 0, &format!("filler{filled}"), Some("takes room"));
        }
    };
    put_in_transaction(&mut set, id, 0, 7, "a", "aborted");
    put_in_transaction(&mut set, id, 0, 8, "b", "committed");
    fill(&mut set);
    put_in_transaction(&mut set, id, 0, 7, "a", "aborted too");
    fill(&mut set);
    put_in_transaction(&mut set, id, 0, 9, "c", "of another");
    let abort = mark(&mut set, id, 0, producer(7), ABORT);
    let commit = mark(&mut set, id, 0, producer(8), COMMIT);
    mark(&mut set, id, 0, producer(9), COMMIT);
    for (producer_id, key) in [(7, "e"), (8, "f")] {
        // Or the last batch of each would be kept for its own sake.
        put_in_transaction(&mut set, id, 0, producer_id, key, "later");
        mark(&mut set, id, 0, producer(producer_id), COMMIT);
    }
    fill(&mut set);
    assert!(set.log(id).unwrap().segment_count() > 5);
    let before = committed(&mut set, id);
    clean_all(&mut set, id, 10);
    assert_eq!(aborted(&mut set, id), [(7, 0)]);
    let horizon_of = |set: &mut LogSet, offset: i64| {
        let all = batches(set, id);
        let found = all
            .iter()
            .map(|batch| BatchView::parse(batch).unwrap().0)
            .find(|it| it.base_offset().0 == offset);
        found.expect("the marker is there").delete_horizon()
    };
    assert_eq!(horizon_of(&mut set, abort), None, "its data was there until now");
    clean_all(&mut set, id, 20);
    assert_eq!(horizon_of(&mut set, abort), Some(Timestamp(START_MS + 20 + HOUR_MS)));
    assert_eq!(horizon_of(&mut set, commit), None, "its data is there");
    clean_all(&mut set, id, 20 + HOUR_MS);
    let mut after = committed(&mut set, id);
    after.retain(|offset| before.contains(offset));
    assert_eq!(after, before);
    assert!(!markers(&mut set, id).iter().any(|(offset, _)| *offset == abort));
}

/// KAFKA-8335: every commit of a transaction has sequence 0, so the last batch of a producer is told by its offset alone.
#[test]
fn a_log_of_transactional_commits_does_not_grow() {
    let (mut set, _) =
        open_with(&MemoryDisk::new(), LogSettings { early_cleaning_bytes: 4000, ..settings() });
    let id = support::partition(1);
    set.create_partition(id, "__consumer_offsets-0", LogKind::Internal, config()).unwrap();
    let mut bound_bytes = 0;
    for round in 0..600 {
        let at_ms = round * HOUR_MS / 20;
        put_in_transaction(&mut set, id, at_ms, 7, "group", &format!("offset {round}"));
        let end = if round % 3 == 0 { ABORT } else { COMMIT };
        mark(&mut set, id, at_ms, producer(7), end);
        clean(&mut set, at_ms);
        bound_bytes = bound_bytes.max(set.log(id).unwrap().size_bytes());
    }
    assert!(bound_bytes < 10_000, "{bound_bytes}");
    let last = values(&mut set, id);
    assert_eq!(last.last().unwrap().1, "offset 599".to_owned());
}

#[test]
fn what_tells_most_of_an_active_producer_stays_as_an_empty_batch() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open_with(&disk, LogSettings { producer_id_expiration_ms: 5 * HOUR_MS, ..settings() });
    let id = create(&mut set, 1, config());
    // 7 wrote, and what it wrote was overwritten; of 8 only a marker with a new epoch tells.
    put_in_transaction(&mut set, id, 0, 7, "a", "old");
    mark(&mut set, id, 0, producer(7), COMMIT);
    put_in_transaction(&mut set, id, 0, 8, "b", "old");
    let bumped = ProducerIdentity { epoch: ProducerEpoch(1), ..producer(8) };
    assert_eq!(mark(&mut set, id, 0, bumped, ABORT), 3);
    put(&mut set, id, 0, "a", Some("new"));
    for round in 0..4 {
        clean_all(&mut set, id, 10 + round * 2 * HOUR_MS / 3);
    }
    let all = batches(&mut set, id);
    let shape = |bytes: &Vec<u8>| {
        let (batch, _) = BatchView::parse(bytes).unwrap();
        (batch.base_offset().0, batch.record_count(), batch.is_control())
    };
    let shapes: Vec<_> = all.iter().map(shape).take(4).collect();
    assert_eq!(shapes, [(0, 0, false), (1, 1, true), (3, 0, true), (4, 1, false)]);
    assert!(matches!(BatchView::parse(&all[1]).unwrap().0.control_type(), Ok(Some(ControlType::Marker(_)))));
    assert_eq!(BatchView::parse(&all[2]).unwrap().0.producer(), Some(bumped));
    let known: Vec<_> = set.log(id).unwrap().active_producers().map(|it| it.identity).collect();
    assert_eq!(known, [producer(7), bumped]);
    // Once nobody remembers them, nothing of them is kept.
    let later = 10 * HOUR_MS + i64::try_from(PRODUCER_EXPIRY_CHECK_MS).unwrap();
    set.poll(now(later));
    assert_eq!(set.log(id).unwrap().active_producers().count(), 0);
    for round in 0..3 {
        clean_all(&mut set, id, later + 10 + round * HOUR_MS);
    }
    let first = batches(&mut set, id);
    assert_eq!(shape(&first[0]), (4, 1, false));
    assert!(markers(&mut set, id).is_empty());
}

#[test]
fn the_last_batch_below_the_last_stable_offset_stays_so_that_readers_reach_it() {
    let settings = LogSettings { producer_id_expiration_ms: HOUR_MS, ..settings() };
    let (mut set, _) = open_with(&MemoryDisk::new(), settings);
    let id = create(&mut set, 1, config());
    put(&mut set, id, 0, "a", Some("1"));
    put_in_transaction(&mut set, id, 0, 7, "b", "aborted");
    assert_eq!(mark(&mut set, id, 0, producer(7), ABORT), 2);
    // Begins a new segment.
    set.request_cleaning(id, now(0));
    let open = put_in_transaction(&mut set, id, 0, 9, "c", "open");
    // Nobody remembers 7 any more, so nothing of it is kept for its own sake.
    let later = HOUR_MS + i64::try_from(PRODUCER_EXPIRY_CHECK_MS).unwrap();
    set.poll(now(later));
    for round in 0..3 {
        set.request_cleaning(id, now(later + round * 2 * HOUR_MS));
        clean(&mut set, later + round * 2 * HOUR_MS);
        let all = batches(&mut set, id);
        let shapes: Vec<_> =
            all.iter().map(|batch| BatchView::parse(batch).unwrap().0.next_offset().0).collect();
        assert_eq!(shapes, [1, 3, open + 1], "the second is the last below the last stable offset");
        assert_eq!(committed(&mut set, id), [0]);
    }
    mark(&mut set, id, later, producer(9), COMMIT);
    for round in 3..6 {
        clean_all(&mut set, id, later + round * 2 * HOUR_MS);
    }
    assert!(!markers(&mut set, id).iter().any(|(offset, _)| *offset == 2), "it is no longer the last");
}

#[test]
fn a_pass_that_knows_too_few_keys_keeps_what_is_told_of_the_rest() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open_with(&disk, LogSettings { max_cleaned_keys: 5, ..settings() });
    let large = PartitionConfig { segment_bytes: 4000, ..config() };
    let id = create(&mut set, 1, large.clone());
    for round in 0..4 {
        put(&mut set, id, 0, &format!("key{round}"), Some("x"));
    }
    put_in_transaction(&mut set, id, 0, 7, "key0", "aborted");
    for round in 4..12 {
        put(&mut set, id, 0, &format!("key{round}"), Some("x"));
    }
    put_in_transaction(&mut set, id, 0, 7, "key5", "aborted");
    mark(&mut set, id, 0, producer(7), ABORT);
    let before = committed(&mut set, id);
    set.request_cleaning(id, now(1));
    for step in 0..20 {
        set.clean(now(1), 200);
        settle(&mut set, now(1));
        assert_eq!(committed(&mut set, id), before, "after {step} steps");
    }
    support::stop_cleanly(set, now(2));
    let (mut set, _) = open_with(&disk, settings());
    set.configure(id, LogKind::User, large);
    assert_eq!(committed(&mut set, id), before);
}

#[test]
fn the_abort_index_of_a_cleaned_segment_survives_a_crash() {
    let disk = MemoryDisk::new();
    let (mut set, _) = open_with(&disk, settings());
    let id = create(&mut set, 1, config());
    for round in 0..6 {
        put(&mut set, id, 0, &format!("key{round}"), Some("kept"));
        put_in_transaction(&mut set, id, 0, 7, &format!("key{round}"), "aborted");
        mark(&mut set, id, 0, producer(7), ABORT);
    }
    let before = (aborted(&mut set, id), committed(&mut set, id));
    assert_eq!(before.0.len(), 6);
    clean_all(&mut set, id, 10);
    let after = (aborted(&mut set, id), committed(&mut set, id));
    assert_eq!(after.0, before.0);
    disk.crash();
    drop(set);
    let (mut set, report) = open_with(&disk, settings());
    assert!(report.offline.is_empty());
    set.configure(id, LogKind::User, config());
    assert_eq!((aborted(&mut set, id), committed(&mut set, id)), after);
}
