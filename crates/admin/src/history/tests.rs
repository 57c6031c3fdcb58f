use milepost_batch::{BatchBuilder, BatchOptions, BatchView, Marker, build_marker};
use milepost_model::{
    LeaderEpoch, Offset, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp,
    TransactionEnd,
};
use milepost_records::offsets::{OffsetCommitKey, OffsetCommitValue};

use super::{Change, History, Reach};

pub(crate) const LOG: PartitionIndex = PartitionIndex(7);
pub(crate) const PRODUCER: ProducerIdentity = ProducerIdentity { id: ProducerId(9), epoch: ProducerEpoch(0) };

/// A batch of commits (group, partition, offset or none for a tombstone) at an offset of the log, which is also its time.
pub(crate) fn batch(
    at: i64,
    producer: Option<ProducerIdentity>,
    commits: &[(&str, i32, Option<i64>)],
) -> Vec<u8> {
    let mut builder = BatchBuilder::new(BatchOptions::coordinator(producer));
    for (group, partition, offset) in commits {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        OffsetCommitKey { group, topic: "t", partition: PartitionIndex(*partition) }
            .encode(&mut key)
            .unwrap();
        let value = offset.map(|offset| {
            let commit = OffsetCommitValue {
                offset: Offset(offset),
                leader_epoch: Some(LeaderEpoch(1)),
                metadata: "m",
                commit_timestamp: Timestamp(at),
                expire_timestamp: None,
                topic_id: None,
            };
            commit.encode(&mut value).unwrap();
            value
        });
        builder.append(Timestamp(at), Some(&key), value.as_deref(), &[]).unwrap();
    }
    builder.build(Offset(at))
}

/// How the transaction of [`PRODUCER`] ended.
pub(crate) fn marker(at: i64, end: TransactionEnd) -> Vec<u8> {
    build_marker(PRODUCER, Marker { end, coordinator_epoch: 0 }, Timestamp(at), Offset(at))
}

/// A batch of one record at an offset of the log, which is also its time.
pub(crate) fn record(at: i64, key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut builder = BatchBuilder::new(BatchOptions::coordinator(None));
    builder.append(Timestamp(at), Some(key), Some(value), &[]).unwrap();
    builder.build(Offset(at))
}

fn history(batches: &[Vec<u8>]) -> History {
    let mut history = History::of("g");
    for bytes in batches {
        history.take(LOG, &BatchView::parse(bytes).unwrap().0).unwrap();
    }
    history
}

fn offsets(history: &History) -> Vec<Option<i64>> {
    let offset = |change: &Change| match change {
        Change::Committed { committed, .. } => Some(committed.offset.0),
        Change::Removed => None,
    };
    history.events().map(|event| offset(&event.change)).collect()
}

#[test]
fn commits_of_the_group_are_told_in_order_and_of_nobody_else() {
    let history = history(&[
        batch(0, None, &[("g", 0, Some(5)), ("other", 0, Some(9))]),
        batch(2, None, &[("g", 0, Some(7))]),
    ]);
    assert_eq!(offsets(&history), [Some(5), Some(7)]);
    assert_eq!(history.reach(), Reach::Everything);
    let at =
        |time: i64| history.at(Timestamp(time)).values().map(|event| event.record.1.0).collect::<Vec<_>>();
    assert_eq!((at(-1), at(0), at(1), at(2)), (vec![], vec![0], vec![0], vec![2]));
}

#[test]
fn what_lies_behind_the_last_gap_is_all_there_is() {
    let between = history(&[batch(0, None, &[("g", 0, Some(1))]), batch(5, None, &[("g", 0, Some(2))])]);
    assert_eq!(between.reach(), Reach::Since(Timestamp(5)));
    let first = history(&[batch(3, None, &[("g", 0, Some(1))]), batch(4, None, &[("g", 0, Some(2))])]);
    assert_eq!(first.reach(), Reach::Since(Timestamp(3)));
    assert_eq!(History::of("g").reach(), Reach::Nothing);

    // The cleaner took a record out of a batch: the batch says that it ends one later than it has records for.
    let mut cleaned = batch(0, None, &[("g", 0, Some(1))]);
    cleaned[23..27].copy_from_slice(&1_i32.to_be_bytes());
    assert_eq!(history(&[cleaned.clone()]).reach(), Reach::Nothing);
    let behind = batch(2, None, &[("g", 0, Some(2))]);
    assert_eq!(history(&[cleaned, behind]).reach(), Reach::Since(Timestamp(2)));
}

#[test]
fn a_transaction_counts_when_it_is_committed_and_only_then() {
    let open = batch(0, Some(PRODUCER), &[("g", 0, Some(5))]);
    let meanwhile = batch(1, None, &[("g", 0, Some(3))]);
    let history_of = |end| history(&[open.clone(), meanwhile.clone(), marker(2, end)]);
    assert_eq!(offsets(&history_of(TransactionEnd::Commit)), [Some(3), Some(5)]);
    assert_eq!(offsets(&history_of(TransactionEnd::Abort)), [Some(3)]);
    let undecided = history(&[open.clone(), meanwhile.clone()]);
    assert_eq!((offsets(&undecided), undecided.pending()), (vec![Some(3)], 1));
}

#[test]
fn what_is_lost_is_known_with_what_was_there_before() {
    let history = history(&[
        batch(0, None, &[("g", 0, Some(5)), ("g", 1, Some(6)), ("g", 2, None)]),
        batch(3, None, &[("g", 0, None), ("g", 1, None)]),
        batch(5, None, &[("g", 1, Some(8)), ("g", 0, None)]),
    ]);
    let lost: Vec<(i32, i64, Option<i64>)> = history
        .lost()
        .into_iter()
        .map(|(one, lost)| (one.partition.0, lost.removed.0, lost.last.map(|event| event.record.1.0)))
        .collect();
    assert_eq!(lost, [(0, 3, Some(0)), (2, 0, None)]);
}
