//! What a shard wants done is heard of no sooner than its record is durable, and never if it was not written.

use milepost_storage::{Pace, Space};

use super::counters::Request;
use super::rig::Rig;
use crate::{Answer, Refusal, Settings};

#[test]
fn an_effect_waits_for_its_record() {
    let mut rig = Rig::single();
    rig.disk.set_pace(Pace::Held);
    rig.submit(Request::Announce("a"));
    assert!(rig.effects().is_empty(), "decided and replayed");
    rig.round();
    rig.submit(Request::Announce("b"));
    assert!(rig.effects().is_empty(), "in flight");
    rig.complete();
    assert_eq!(rig.effects(), ["a"]);
    rig.round();
    rig.complete();
    assert_eq!(rig.effects(), ["b"]);
}

#[test]
fn an_effect_outlives_the_patience_of_its_asker() {
    let mut rig = Rig::single();
    rig.disk.set_pace(Pace::Held);
    let ticket = rig.submit(Request::Announce("a"));
    rig.round();
    rig.pass_ms(Settings::default().commit_timeout_ms);
    assert_eq!(rig.answers(), [(ticket, Answer::Refused(Refusal::TimedOut))]);
    assert!(rig.effects().is_empty());
    rig.complete();
    assert_eq!(rig.effects(), ["a"]);
}

#[test]
fn nothing_is_heard_of_what_was_not_written() {
    let mut rig = Rig::single();
    rig.set_space(Space::Full);
    let ticket = rig.submit(Request::Announce("a"));
    assert_eq!(rig.answers(), [(ticket, Answer::Refused(Refusal::NoSpace))]);
    rig.set_space(Space::Ready);
    rig.round();
    assert!(rig.effects().is_empty());
}

#[test]
fn an_effect_goes_with_its_shard() {
    let mut rig = Rig::single();
    rig.disk.set_pace(Pace::Held);
    rig.submit(Request::Announce("a"));
    rig.shards.flush(&mut rig.logs, rig.now);
    rig.shards.close();
    rig.round();
    rig.complete();
    assert!(rig.effects().is_empty());
}
