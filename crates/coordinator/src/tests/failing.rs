//! What happens when a shard's state and its log can no longer be trusted to agree.

use milepost_batch::BatchOptions;
use milepost_model::Offset;
use milepost_storage::{Pace, Space};

use super::counters::{KNOWN_TYPE, Reply, Request};
use super::rig::{Rig, SHARD};
use crate::{Answer, Refusal, ShardStatus};

const NOT_COORDINATOR: Answer<Reply> = Answer::Refused(Refusal::NotCoordinator);

#[test]
fn after_a_failed_append_the_shard_is_loaded_again() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["kept"]));
    rig.round();
    rig.answers();
    let durable = rig.hard();

    let wait = rig.submit(Request::Wait);
    let add = rig.submit(Request::Add(&["lost"]));
    let get = rig.submit(Request::Get("lost"));
    rig.set_space(Space::Full);
    rig.round();
    let refused = |ticket| (ticket, NOT_COORDINATOR);
    assert_eq!(rig.answers(), [refused(wait), refused(add), refused(get)]);
    assert_eq!(rig.shards.status(SHARD), Some(ShardStatus::Loading));
    let meanwhile = rig.submit(Request::Get("lost"));
    assert_eq!(rig.answers(), [(meanwhile, Answer::Refused(Refusal::Loading))]);

    rig.set_space(Space::Ready);
    rig.load();
    assert_eq!(rig.hard(), durable);
    let get = rig.submit(Request::Get("lost"));
    assert_eq!(rig.answers(), [(get, Answer::Reply(Reply::Value(None)))]);
}

#[test]
fn a_reload_waits_for_what_is_still_on_its_way_to_the_disk() {
    let mut rig = Rig::single();
    rig.disk.set_pace(Pace::Held);
    let in_flight = rig.submit(Request::Add(&["in flight"]));
    rig.round();
    let lost = rig.submit(Request::Add(&["lost"]));
    rig.append(BatchOptions::coordinator(None), &[(Some(&[KNOWN_TYPE, b'z']), Some(&5_i64.to_be_bytes()))]);
    rig.round();
    assert_eq!(rig.answers(), [(in_flight, NOT_COORDINATOR), (lost, NOT_COORDINATOR)]);
    for _ in 0..2 {
        rig.load();
        assert!(!rig.shards.is_loaded() && !rig.shards.has_load_work());
        rig.complete();
        assert!(rig.shards.has_load_work());
        rig.round();
    }
    rig.load();
    assert!(rig.shards.is_loaded());
    let hard = rig.hard();
    assert_eq!(hard.counters["in flight"], (1, Offset(0)));
    assert_eq!(hard.counters["z"], (5, Offset(1)));
    assert_eq!(hard.counters.len(), 2);
}

#[test]
fn a_batch_at_another_offset_than_predicted_is_noticed() {
    let mut rig = Rig::single();
    let ticket = rig.submit(Request::Add(&["a"]));
    rig.append(BatchOptions::coordinator(None), &[(Some(&[KNOWN_TYPE, b'z']), Some(&5_i64.to_be_bytes()))]);
    rig.round();
    assert_eq!(rig.answers(), [(ticket, NOT_COORDINATOR)]);
    rig.load();
    let counters = rig.hard().counters;
    assert_eq!(counters.into_iter().collect::<Vec<_>>(), [("z".to_owned(), (5, Offset(0)))]);

    rig.append(BatchOptions::coordinator(None), &[(Some(&[KNOWN_TYPE, b'z']), Some(&6_i64.to_be_bytes()))]);
    rig.round();
    let ticket = rig.submit(Request::Add(&["z"]));
    assert_eq!(rig.answers(), [(ticket, NOT_COORDINATOR)], "noticed before anything is replayed");
    rig.load();
    let ticket = rig.submit(Request::Add(&["z"]));
    rig.round();
    assert_eq!(rig.answers(), [(ticket, Answer::Reply(Reply::Added))]);
    assert_eq!(rig.hard().counters["z"], (7, Offset(2)));
}

#[test]
fn a_poisoned_journal_never_releases_anything() {
    let mut rig = Rig::single();
    rig.disk.set_pace(Pace::Held);
    let in_flight = rig.submit(Request::Add(&["a"]));
    rig.round();
    rig.disk.poison("the test says so");
    rig.poll();
    assert_eq!(rig.answers(), []);
    let refused = rig.submit(Request::Add(&["b"]));
    rig.round();
    let answers = rig.answers();
    assert!(answers.contains(&(in_flight, NOT_COORDINATOR)), "{answers:?}");
    assert!(answers.iter().all(|(_, answer)| matches!(answer, Answer::Refused(_))), "{answers:?}");
    assert!(answers.iter().any(|(ticket, _)| *ticket == refused), "{answers:?}");
}

#[test]
fn closing_refuses_whoever_still_waits() {
    let mut rig = Rig::single();
    let (wait, add) = (rig.submit(Request::Wait), rig.submit(Request::Add(&["a"])));
    rig.shards.close();
    let late = rig.submit(Request::List);
    let refused = |ticket| (ticket, NOT_COORDINATOR);
    assert_eq!(rig.answers(), [refused(wait), refused(add), refused(late)]);
    assert_eq!(rig.shards.status(SHARD), Some(ShardStatus::Closed));
    rig.round();
    assert_eq!(rig.high_watermark(SHARD), Offset(0));
    assert!(rig.shards.is_loaded());
}

#[test]
fn a_clean_stop_answers_what_was_flushed() {
    let mut rig = Rig::single();
    let (wait, add) = (rig.submit(Request::Wait), rig.submit(Request::Add(&["a"])));
    rig.round();
    rig.shards.close();
    assert_eq!(rig.answers(), [(add, Answer::Reply(Reply::Added)), (wait, NOT_COORDINATOR)]);
}
