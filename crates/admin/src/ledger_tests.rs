use milepost_batch::BatchView;
use milepost_client::TopicPartition;
use milepost_model::{Offset, PartitionIndex, Timestamp, TransactionEnd};
use milepost_records::offsets::{GroupMetadataKey, GroupMetadataMember, GroupMetadataValue};

use super::Ledger;
use crate::history::tests::{LOG, PRODUCER, batch, marker, record};

fn ledger(batches: &[Vec<u8>]) -> Ledger {
    let mut ledger = Ledger::default();
    for bytes in batches {
        ledger.take(LOG, &BatchView::parse(bytes).unwrap().0).unwrap();
    }
    ledger
}

fn place() -> TopicPartition {
    TopicPartition::new("t", PartitionIndex(0))
}

/// The group's record with this generation and so many members.
fn shared(at: i64, generation: i32, members: usize) -> Vec<u8> {
    let member = GroupMetadataMember {
        member_id: "m",
        group_instance_id: None,
        client_id: "c",
        client_host: "/h",
        rebalance_timeout_ms: Some(1000),
        session_timeout_ms: 1000,
        subscription: b"",
        assignment: b"",
    };
    let value = GroupMetadataValue {
        protocol_type: Some("consumer"),
        generation: milepost_model::Generation(generation),
        protocol: (members > 0).then_some("range"),
        leader: (members > 0).then_some("m"),
        current_state_timestamp: Some(Timestamp(at)),
        members: vec![member; members],
    };
    let (mut key, mut bytes) = (Vec::new(), Vec::new());
    GroupMetadataKey { group: "g" }.encode(&mut key).unwrap();
    value.encode(&mut bytes).unwrap();
    record(at, &key, &bytes)
}

#[test]
fn a_position_is_one_line_however_often_it_was_committed() {
    let offsets = [5, 7, 7, 3, 9, 1];
    let batches: Vec<Vec<u8>> =
        (0..).zip(offsets).map(|(at, offset)| batch(at, None, &[("g", 0, Some(offset))])).collect();
    let ledger = ledger(&batches);
    let facts = ledger.commit("g", &place()).unwrap();
    assert_eq!((facts.offset, facts.last, facts.commits), (Offset(1), Timestamp(5), 6));
    assert_eq!((facts.moves, facts.rewinds, facts.unmoved), (2, 2, 0));
    assert_eq!(facts.last_rewind, Some((Offset(9), Offset(1), Timestamp(5))));
    assert_eq!(facts.most_a_minute, 6);
    assert!(ledger.commit("other", &place()).is_none());
    let [log] = ledger.logs(|_| LOG)[..] else { panic!("one partition was read") };
    assert_eq!((log.partition, log.records, log.live, log.unreadable), (LOG, 6, 1, 0));
}

#[test]
fn the_most_commits_are_counted_minute_by_minute() {
    let times = [0, 1, 59_999, 60_000, 60_001];
    let ledger = ledger(&times.map(|at| batch(at, None, &[("g", 0, Some(at))])));
    assert_eq!(ledger.commit("g", &place()).unwrap().most_a_minute, 3);
}

#[test]
fn what_a_transaction_wrote_counts_when_it_is_committed() {
    let written = |at| batch(at, Some(PRODUCER), &[("g", 0, Some(8))]);
    let open = ledger(&[written(0)]);
    assert!(open.commit("g", &place()).is_none());
    let aborted = ledger(&[written(0), marker(1, TransactionEnd::Abort)]);
    assert!(aborted.commit("g", &place()).is_none());
    let ended = ledger(&[written(0), marker(1, TransactionEnd::Commit)]);
    assert_eq!(ended.commit("g", &place()).unwrap().offset, Offset(8));
}

#[test]
fn what_was_deleted_is_no_position() {
    let ledger = ledger(&[batch(0, None, &[("g", 0, Some(1))]), batch(1, None, &[("g", 0, None)])]);
    assert!(ledger.commit("g", &place()).is_none());
    assert_eq!(ledger.logs(|_| LOG)[0].live, 0);
}

#[test]
fn rounds_count_until_something_moves() {
    let commit = |at, offset| batch(at, None, &[("g", 0, Some(offset))]);
    let batches =
        [shared(0, 1, 1), commit(1, 5), shared(2, 2, 1), shared(3, 3, 1), commit(4, 5), shared(5, 4, 0)];
    let of = ledger(&batches).rounds("g");
    assert_eq!((of.without_progress, of.empty_since), (2, Some(Timestamp(5))));
    let moved = [&batches[..], &[commit(6, 6)]].concat();
    assert_eq!(ledger(&moved).rounds("g").without_progress, 0);
}

#[test]
fn records_that_cannot_be_read_are_counted_and_no_hindrance() {
    let ledger = ledger(&[record(3, b"\0\x01?", b"?"), batch(4, None, &[("g", 0, Some(1))])]);
    let log = ledger.logs(|_| LOG)[0];
    assert_eq!((log.unreadable, log.last_unreadable, log.live), (1, Some(Offset(3)), 1));
}
