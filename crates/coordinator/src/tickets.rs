//! The open tickets of a shard, and the answers that wait for the disk.
//!
//! A ticket is open from its submission to its answer. It *waits* while the shard owes the answer (a JoinGroup that
//! waits for other members: no bound of ours), and is *parked* while the answer waits for its record to become
//! durable (bounded by `offsets.commit.timeout.ms`). Every way out removes it, so that it is answered once.

use std::collections::{BTreeMap, VecDeque};

use milepost_model::{Instant, Offset, Ticket};

use crate::{Answer, Refusal};

/// What an open ticket waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// For the shard to say something.
    Waiting,
    /// For the disk.
    Parked,
}

struct Parked<P> {
    ticket: Ticket,
    /// The record it rests on; it may leave once the high watermark lies above.
    until: Offset,
    deadline: Instant,
    reply: P,
}

pub(crate) struct Tickets<P> {
    open: BTreeMap<Ticket, Stage>,
    /// In the order of parking, which is also the order of the deadlines. A reply whose ticket is no longer open
    /// (forgotten) stays until its turn and is dropped then.
    parked: VecDeque<Parked<P>>,
}

impl<P> Tickets<P> {
    pub(crate) fn new() -> Self {
        Self { open: BTreeMap::new(), parked: VecDeque::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// The replies held, forgotten ones included: they take memory too.
    pub(crate) fn parked_len(&self) -> usize {
        self.parked.len()
    }

    pub(crate) fn open(&mut self, ticket: Ticket) {
        let earlier = self.open.insert(ticket, Stage::Waiting);
        debug_assert!(earlier.is_none(), "{ticket:?} was submitted twice");
    }

    /// Answers a waiting ticket. A ticket that is not waiting gets nothing: it was forgotten or answered before.
    pub(crate) fn answer(
        &mut self,
        ticket: Ticket,
        answer: Answer<P>,
        answers: &mut Vec<(Ticket, Answer<P>)>,
    ) {
        if self.open.get(&ticket) == Some(&Stage::Waiting) {
            self.open.remove(&ticket);
            answers.push((ticket, answer));
        }
    }

    /// Holds the reply to a waiting ticket until the record at `until` is durable.
    pub(crate) fn park(&mut self, ticket: Ticket, reply: P, until: Offset, deadline: Instant) {
        if let Some(stage @ Stage::Waiting) = self.open.get_mut(&ticket) {
            *stage = Stage::Parked;
            self.parked.push_back(Parked { ticket, until, deadline, reply });
        }
    }

    /// Releases what rests on records below the high watermark, in the order of parking.
    ///
    /// Walks over all parked answers: there are those of the round that has just become durable, and those that
    /// gathered meanwhile.
    pub(crate) fn release(&mut self, high_watermark: Offset, answers: &mut Vec<(Ticket, Answer<P>)>) {
        for _ in 0..self.parked.len() {
            let Some(parked) = self.parked.pop_front() else { return };
            if parked.until >= high_watermark {
                self.parked.push_back(parked);
            } else if self.open.remove(&parked.ticket).is_some() {
                answers.push((parked.ticket, Answer::Reply(parked.reply)));
            }
        }
    }

    /// Gives up on parked answers whose time is over.
    pub(crate) fn time_out(&mut self, now: Instant, answers: &mut Vec<(Ticket, Answer<P>)>) {
        while let Some(parked) = self.parked.pop_front_if(|parked| parked.deadline <= now) {
            if self.open.remove(&parked.ticket).is_some() {
                answers.push((parked.ticket, Answer::Refused(Refusal::TimedOut)));
            }
        }
    }

    /// When [`Tickets::time_out`] has something to do.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.parked.front().map(|parked| parked.deadline)
    }

    /// Refuses every open ticket, in the order of the tickets.
    pub(crate) fn refuse_all(&mut self, refusal: Refusal, answers: &mut Vec<(Ticket, Answer<P>)>) {
        self.parked.clear();
        answers.extend(
            std::mem::take(&mut self.open).into_keys().map(|ticket| (ticket, Answer::Refused(refusal))),
        );
    }

    /// Nobody waits for this ticket any more.
    pub(crate) fn forget(&mut self, ticket: Ticket) -> Option<Stage> {
        self.open.remove(&ticket)
    }
}
