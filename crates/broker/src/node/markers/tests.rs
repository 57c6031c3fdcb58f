use milepost_model::{LeaderEpoch, ProducerEpoch, ProducerId, Timestamp, TopicId, TransactionEnd};
use milepost_transactions::TransactionVersion;

use super::*;

const AT: TopicPartition = TopicPartition { topic: TopicId([1; 16]), partition: PartitionIndex(0) };

fn markers(prepared_at: i64) -> WriteMarkers {
    let partition = TransactionPartition { topic: "t".into(), partition: PartitionIndex(0) };
    WriteMarkers {
        transactional_id: "a".into(),
        producer: ProducerIdentity { id: ProducerId(7), epoch: ProducerEpoch(1) },
        coordinator_epoch: LeaderEpoch(1),
        end: TransactionEnd::Commit,
        version: TransactionVersion::V0,
        partitions: Arc::new(BTreeSet::from([partition])),
        prepared_at: Timestamp(prepared_at),
    }
}

#[test]
fn markers_that_are_asked_for_twice_are_written_once() {
    let mut writes = MarkerWrites::default();
    assert!(writes.begin(markers(10)));
    // A coordinator that was loaded again asks anew, with its next epoch.
    assert!(!writes.begin(WriteMarkers { coordinator_epoch: LeaderEpoch(2), ..markers(10) }));
    assert!(writes.begin(markers(20)), "the next transaction");
    assert_eq!(writes.works.len(), 1);
}

#[test]
fn what_is_left_of_an_earlier_transaction_counts_for_nothing() {
    let mut writes = MarkerWrites::default();
    let id: Arc<str> = "a".into();
    writes.begin(markers(10));
    writes.written(&id, AT, Offset(5));
    writes.retry(Instant(0), &id);
    writes.begin(markers(20));
    assert_eq!(writes.next_deadline(), None, "there is nothing to be tried again");
    writes.written(&id, AT, Offset(6));
    assert_eq!(writes.passed(AT, Some(Offset(6))), Vec::<Arc<str>>::new());
    assert_eq!(writes.works[&id].in_flight, 1);
    assert_eq!(writes.passed(AT, None), [id], "the partition is gone");
    assert!(writes.by_partition.is_empty());
}

#[test]
fn tries_come_less_and_less_often() {
    let mut writes = MarkerWrites::default();
    let id: Arc<str> = "a".into();
    writes.begin(markers(10));
    let mut now = Instant(0);
    let mut pauses = Vec::new();
    for _ in 0..9 {
        writes.retry(now, &id);
        let at = writes.next_deadline().expect("a try");
        assert!(writes.due(Instant(at.0 - 1)).is_empty());
        assert_eq!(writes.due(at), std::slice::from_ref(&id));
        pauses.push(at.ms_since(now));
        now = at;
    }
    assert_eq!(pauses, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
}
