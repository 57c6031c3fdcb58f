//! No answer leaves before what it rests on is durable (I3), and each ticket is answered once.

use milepost_model::{Instant, Offset, PartitionIndex, Ticket};
use milepost_storage::Pace;

use super::counters::{Reply, Request};
use super::rig::{Rig, SHARD};
use crate::tickets::Tickets;
use crate::{Answer, Refusal, Settings};

fn added(ticket: Ticket) -> (Ticket, Answer<Reply>) {
    (ticket, Answer::Reply(Reply::Added))
}

fn value(ticket: Ticket, value: Option<i64>) -> (Ticket, Answer<Reply>) {
    (ticket, Answer::Reply(Reply::Value(value)))
}

fn timed_out(ticket: Ticket) -> (Ticket, Answer<Reply>) {
    (ticket, Answer::Refused(Refusal::TimedOut))
}

#[test]
fn a_write_is_answered_when_it_is_durable() {
    let mut rig = Rig::single();
    rig.disk.set_pace(Pace::Held);
    let ticket = rig.submit(Request::Add(&["a"]));
    assert_eq!(rig.answers(), [], "decided and replayed");
    rig.shards.flush(&mut rig.logs, rig.now);
    assert_eq!(rig.answers(), [], "appended");
    rig.round();
    assert_eq!(rig.answers(), [], "in flight");
    rig.complete();
    assert_eq!(rig.answers(), [added(ticket)]);
    rig.round();
    assert_eq!(rig.answers(), [], "answered once");
}

#[test]
fn a_read_waits_for_the_last_write_of_its_own_key_only() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["durable"]));
    rig.round();
    rig.answers();
    rig.disk.set_pace(Pace::Held);

    let add = rig.submit(Request::Add(&["a"]));
    let get = rig.submit(Request::Get("a"));
    let list = rig.submit(Request::List);
    let other = rig.submit(Request::Get("durable"));
    let none = rig.submit(Request::Get("none"));
    assert_eq!(rig.answers(), [value(other, Some(1)), value(none, None)]);
    rig.round();
    let later = rig.submit(Request::Add(&["b"]));
    let list_later = rig.submit(Request::List);
    let get_again = rig.submit(Request::Get("a"));
    rig.complete();
    let listing = |ticket, count| (ticket, Answer::Reply(Reply::Listing(count)));
    assert_eq!(rig.answers(), [added(add), value(get, Some(1)), listing(list, 2), value(get_again, Some(1))]);
    rig.round();
    rig.complete();
    assert_eq!(rig.answers(), [added(later), listing(list_later, 3)]);
}

#[test]
fn rounds_gather_while_one_is_in_flight() {
    let mut rig = Rig::single();
    rig.disk.set_pace(Pace::Held);
    let first = rig.submit(Request::Add(&["a"]));
    rig.round();
    let gathered: Vec<_> = (0..50).map(|_| rig.submit(Request::Add(&["a"]))).collect();
    rig.round();
    rig.complete();
    assert_eq!(rig.answers(), [added(first)]);
    rig.round();
    rig.complete();
    assert_eq!(rig.answers(), gathered.into_iter().map(added).collect::<Vec<_>>());
    assert_eq!(rig.with_batches(|batch| batch.record_count()), [1, 50]);
}

/// The first answer among these that rests on a record at or above the high watermark.
fn first_early(answers: &[(Ticket, Answer<Offset>)], high_watermark: Offset) -> Option<Ticket> {
    let is_early =
        |answer: &Answer<Offset>| matches!(answer, Answer::Reply(until) if *until >= high_watermark);
    answers.iter().find(|(_, answer)| is_early(answer)).map(|(ticket, _)| *ticket)
}

/// Parks replies that say what they rest on, out of order, and releases them up to `release_at`.
fn released(release_at: Offset) -> Vec<(Ticket, Answer<Offset>)> {
    let mut tickets = Tickets::new();
    for (number, until) in [(1, 5), (2, 3), (3, 9), (4, 8), (5, 4)] {
        tickets.open(Ticket(number));
        tickets.park(Ticket(number), Offset(until), Offset(until), Instant(0));
    }
    let mut answers = Vec::new();
    tickets.release(release_at, &mut answers);
    answers
}

#[test]
fn releasing_at_the_high_watermark_is_not_early_and_releasing_at_the_log_end_is_found() {
    let (high_watermark, log_end) = (Offset(5), Offset(10));
    let answers = released(high_watermark);
    assert_eq!(answers.iter().map(|(ticket, _)| ticket.0).collect::<Vec<_>>(), [2, 5]);
    assert_eq!(first_early(&answers, high_watermark), None);
    assert_eq!(first_early(&released(log_end), high_watermark), Some(Ticket(1)));
    assert_eq!(first_early(&released(high_watermark.plus(1)), high_watermark), Some(Ticket(1)));
}

#[test]
fn a_slow_disk_is_given_up_on_once_and_the_record_may_still_land() {
    let mut rig = Rig::single();
    rig.disk.set_pace(Pace::Held);
    let add = rig.submit(Request::Add(&["a"]));
    let wait = rig.submit(Request::Wait);
    rig.round();
    rig.pass_ms(3_000);
    let later = rig.submit(Request::Get("a"));
    let deadline = Instant(1_000_000).plus_ms(5_000);
    assert_eq!(rig.shards.next_deadline(), Some(deadline));
    rig.pass_ms(1_999);
    assert_eq!(rig.answers(), []);
    rig.pass_ms(1);
    assert_eq!(rig.now.monotonic, deadline);
    assert_eq!(rig.answers(), [timed_out(add)]);
    rig.complete();
    assert_eq!(rig.answers(), [value(later, Some(1))]);
    rig.pass_ms(60_000);
    assert_eq!(rig.answers(), [], "waiting for others has no bound here");
    let wake = rig.submit(Request::Wake);
    let woken = |ticket| (ticket, Answer::Reply(Reply::Woken));
    assert_eq!(rig.answers(), [woken(wait), woken(wake)]);
    assert_eq!(rig.hard().counters["a"], (1, Offset(0)));
    assert_eq!(rig.shards.next_deadline(), None);
    rig.shards.close();
    assert_eq!(rig.answers(), [], "nobody is left");
}

#[test]
fn a_forgotten_ticket_is_not_answered() {
    let mut rig = Rig::single();
    let (add, wait) = (rig.submit(Request::Add(&["a"])), rig.submit(Request::Wait));
    rig.shards.forget(add);
    rig.shards.forget(wait);
    rig.shards.forget(Ticket(999));
    assert_eq!(rig.shard(SHARD).forgotten, [wait], "the shard knows waiting tickets only");
    rig.round();
    let wake = rig.submit(Request::Wake);
    assert_eq!(rig.answers(), [(wake, Answer::Reply(Reply::Woken))]);
    assert_eq!(rig.hard().counters["a"].0, 1, "what was written stays");
}

#[test]
fn too_many_open_tickets_are_refused() {
    let mut rig = Rig::new(1, Settings { max_open_tickets: 2, ..Settings::default() });
    let add = rig.submit(Request::Add(&["a"]));
    rig.submit(Request::Wait);
    let refused = rig.submit(Request::Get("none"));
    assert_eq!(rig.answers(), [(refused, Answer::Refused(Refusal::Busy))]);
    rig.round();
    let fits = rig.submit(Request::Get("none"));
    assert_eq!(rig.answers(), [added(add), value(fits, None)]);
}

#[test]
fn a_partition_that_is_not_there_has_no_coordinator() {
    let mut rig = Rig::single();
    for partition in [-1, 1, i32::MAX].map(PartitionIndex) {
        let ticket = rig.submit_to(partition, Request::List);
        assert_eq!(rig.answers(), [(ticket, Answer::Refused(Refusal::NotCoordinator))]);
    }
}
