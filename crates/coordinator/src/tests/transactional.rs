//! Writes of producers' transactions among others, and the markers that end them.

use milepost_model::{Offset, ProducerEpoch, ProducerId, ProducerIdentity, TransactionEnd};
use milepost_storage::{Pace, Space};

use super::counters::{Reply, Request};
use super::rig::{Rig, SHARD};
use crate::{Answer, Refusal, Settings, ShardStatus};

const PRODUCER: ProducerIdentity = ProducerIdentity { id: ProducerId(7), epoch: ProducerEpoch(3) };
const OLDER: ProducerIdentity = ProducerIdentity { epoch: ProducerEpoch(2), ..PRODUCER };

#[test]
fn a_transactional_write_is_a_batch_of_its_own_between_the_others() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["a", "b"]));
    rig.submit(Request::AddWithin(PRODUCER, &["c", "d"]));
    rig.submit(Request::Add(&["e"]));
    rig.submit(Request::Add(&["f"]));
    rig.round();
    assert_eq!(rig.answers().len(), 4);
    let batches = rig.with_batches(|batch| {
        assert_eq!(batch.base_sequence(), Some(0));
        (batch.producer(), batch.is_transactional(), batch.record_count())
    });
    assert_eq!(batches, [(None, false, 2), (Some(PRODUCER), true, 2), (None, false, 2)]);
    assert_eq!(rig.hard().counters.len(), 4, "what the transaction wrote is held back");

    let live = rig.hard();
    let mut rig = rig.restart(Settings::default());
    rig.load();
    assert_eq!(rig.hard(), live);
}

#[test]
fn an_answer_to_a_transactional_write_waits_for_the_disk() {
    let mut rig = Rig::single();
    rig.disk.set_pace(Pace::Held);
    let ticket = rig.submit(Request::AddWithin(PRODUCER, &["a"]));
    rig.round();
    assert_eq!(rig.answers(), []);
    rig.complete();
    assert_eq!(rig.answers(), [(ticket, Answer::Reply(Reply::Added))]);
}

#[test]
fn a_marker_stands_behind_what_was_written_before_it_and_the_next_batch_behind_it() {
    for end in [TransactionEnd::Commit, TransactionEnd::Abort] {
        let mut rig = Rig::single();
        rig.submit(Request::AddWithin(PRODUCER, &["a"]));
        rig.submit(Request::Add(&["b"]));
        assert_eq!(rig.marker(PRODUCER, end), Offset(2));
        rig.submit(Request::Add(&["c"]));
        rig.round();
        assert_eq!(rig.answers().len(), 3);
        let hard = rig.hard();
        assert_eq!(hard.counters.contains_key("a"), end == TransactionEnd::Commit);
        assert_eq!(hard.counters["c"], (1, Offset(3)));
        assert_eq!(rig.shard(SHARD).loads, 1, "nothing had to be thrown away");

        let mut rig = rig.restart(Settings::default());
        rig.load();
        assert_eq!(rig.hard(), hard);
    }
}

#[test]
fn a_producer_that_the_log_refuses_has_written_nothing() {
    let mut rig = Rig::single();
    rig.submit(Request::AddWithin(PRODUCER, &["a"]));
    rig.marker(PRODUCER, TransactionEnd::Commit);
    rig.round();
    rig.answers();
    let before = rig.hard();
    let plain = rig.submit(Request::Add(&["b"]));
    let fenced = rig.submit(Request::AddWithin(OLDER, &["c"]));
    rig.round();
    let refused = (fenced, Answer::Refused(Refusal::FencedProducer));
    assert_eq!(rig.answers(), [refused, (plain, Answer::Reply(Reply::Added))]);
    assert_eq!(rig.hard().held_back, before.held_back);
    assert_eq!(rig.shard(SHARD).loads, 1);
}

#[test]
fn on_a_full_disk_nothing_of_a_transaction_is_written() {
    let mut rig = Rig::single();
    rig.set_space(Space::Full);
    let ticket = rig.submit(Request::AddWithin(PRODUCER, &["a"]));
    assert_eq!(rig.answers(), [(ticket, Answer::Refused(Refusal::NoSpace))]);
    assert!(rig.hard().held_back.is_empty());
}

#[test]
fn a_shard_that_is_being_loaded_finds_the_marker_in_its_log() {
    let mut rig = Rig::single();
    rig.submit(Request::AddWithin(PRODUCER, &["a"]));
    rig.submit(Request::AddWithin(PRODUCER, &["b"]));
    rig.round();
    let mut rig = rig.restart(Settings::default());
    rig.shards.load_step(&mut rig.logs, rig.now, 1);
    assert_eq!(rig.shards.status(SHARD), Some(ShardStatus::Loading));
    rig.marker(PRODUCER, TransactionEnd::Commit);
    rig.load();
    assert_eq!(rig.shards.status(SHARD), Some(ShardStatus::Loading), "the marker is not durable");
    rig.round();
    rig.load();
    let hard = rig.hard();
    assert_eq!((hard.counters["a"], hard.counters["b"]), ((1, Offset(0)), (1, Offset(1))));
    assert!(hard.held_back.is_empty());
}

#[test]
fn a_shard_that_failed_has_the_marker_in_its_log_at_the_next_start() {
    let mut rig = Rig::single();
    rig.submit(Request::AddWithin(PRODUCER, &["a"]));
    rig.append(milepost_batch::BatchOptions::coordinator(None), &[(None, None)]);
    rig.round();
    let mut rig = rig.restart(Settings::default());
    rig.load();
    assert!(matches!(rig.shards.status(SHARD), Some(ShardStatus::Failed(_))));
    assert_eq!(rig.marker(PRODUCER, TransactionEnd::Commit), Offset(2));
    rig.round();
    let controls = rig.with_batches(|batch| batch.is_control());
    assert_eq!(controls, [false, false, true]);
}
