//! What follows from a topic's deletion is written, whatever comes between.

use milepost_model::Offset;
use milepost_storage::{Pace, Space};

use super::counters::Request;
use super::rig::{Rig, SHARD};
use crate::{DEADLINE_RETRY_MS, Settings, ShardStatus};

fn names(rig: &Rig) -> Vec<String> {
    rig.hard().counters.keys().cloned().collect()
}

#[test]
fn on_a_full_disk_it_is_written_once_there_is_room() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["a", "b"]));
    rig.round();
    rig.set_space(Space::Full);
    rig.delete_topic("a");
    assert_eq!(names(&rig), ["a", "b"]);
    for _ in 0..3 {
        rig.pass_ms(DEADLINE_RETRY_MS);
    }
    assert_eq!(names(&rig), ["a", "b"], "nothing can be written yet");
    assert!(rig.shards.next_deadline().is_some(), "it is tried again");
    rig.set_space(Space::Ready);
    rig.pass_ms(DEADLINE_RETRY_MS);
    assert_eq!(names(&rig), ["b"]);
    rig.round();
    assert_eq!(rig.high_watermark(SHARD), Offset(3));
    assert_eq!(rig.shards.next_deadline(), None, "once is enough");
}

#[test]
fn what_was_lost_with_the_state_is_written_again() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["a", "b"]));
    rig.round();
    rig.delete_topic("a");
    assert_eq!(names(&rig), ["b"]);
    // The tombstone is in the open batch, and the batch cannot be appended.
    rig.set_space(Space::Full);
    rig.round();
    assert_eq!(rig.shards.status(SHARD), Some(ShardStatus::Loading));
    rig.set_space(Space::Ready);
    rig.load();
    rig.round();
    assert_eq!(names(&rig), ["b"]);
    let mut rig = rig.restart(Settings::default());
    rig.load();
    assert_eq!(names(&rig), ["b"]);
}

#[test]
fn what_is_durable_is_not_written_again() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["a"]));
    rig.round();
    rig.delete_topic("a");
    rig.round();
    rig.submit(Request::Add(&["a"]));
    rig.round();
    rig.submit(Request::Add(&["b"]));
    rig.set_space(Space::Full);
    rig.round();
    rig.set_space(Space::Ready);
    rig.load();
    assert_eq!(names(&rig), ["a"], "the new one is of a new topic of that name");
}

#[test]
fn counts_are_of_what_is_durable() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["a", "b"]));
    rig.submit(Request::Add(&["a"]));
    assert_eq!(rig.counted(), 0);
    rig.disk.set_pace(Pace::Held);
    rig.round();
    // It rests on what is not durable either.
    rig.submit(Request::Get("a"));
    assert_eq!(rig.counted(), 0);
    rig.complete();
    assert_eq!(rig.counted(), 1003);
    rig.submit(Request::Get("a"));
    assert_eq!(rig.counted(), 2003, "this one rests on nothing that was not");
}

#[test]
fn kafka_12660_what_failed_to_be_written_is_not_counted() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["a"]));
    rig.round();
    assert_eq!(rig.counted(), 1);
    // Refused before it is in a batch.
    rig.set_space(Space::Full);
    rig.submit(Request::Add(&["b"]));
    rig.set_space(Space::Ready);
    assert_eq!(rig.counted(), 1);
    // Decided and replayed, and lost with its batch.
    rig.submit(Request::Add(&["c"]));
    rig.set_space(Space::Full);
    rig.round();
    rig.set_space(Space::Ready);
    rig.load();
    rig.round();
    assert_eq!(rig.counted(), 1);
    // What was counted before outlives the reload.
    rig.submit(Request::Add(&["d"]));
    rig.round();
    assert_eq!(rig.counted(), 2);
}

#[test]
fn loads_are_counted_and_timed() {
    let mut rig = Rig::new(2, Settings::default());
    assert_eq!(rig.shards.load_time().count(), 2);
    assert_eq!(rig.shards.partition_states().active, 2);
    for names in [&["a"][..], &["b", "c"]] {
        rig.submit(Request::Add(names));
        rig.round();
    }
    let mut rig = rig.restart(Settings::default());
    assert_eq!(rig.shards.partition_states().loading, 2);
    while rig.shards.has_load_work() {
        rig.now.monotonic = rig.now.monotonic.plus_ms(7);
        rig.shards.load_step(&mut rig.logs, rig.now, 1);
    }
    let loaded = rig.shards.shards().next().and_then(crate::ShardRuntime::loaded).unwrap();
    assert_eq!(loaded.records, 3);
    assert!(loaded.bytes > 60, "{loaded:?}");
    // Shards take turns: the other one was looked at between the two steps of this one.
    assert_eq!(loaded.took_us, 14_000);
    assert_eq!(rig.shards.load_time().count(), 2);
    assert_eq!(rig.shards.load_time().max_us(), 14_000);
}
