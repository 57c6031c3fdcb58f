//! What waits for coordinators: which tickets belong together, and what is to be done when the last one is answered.
//!
//! Most requests are one ticket; listings and batches over several shards are one ticket a part, answered together. What
//! coordinators of groups are asked and what those of transactions are asked each has one of these.

use hashbrown::HashMap;
use milepost_coordinator::{Answer, Refusal};
use milepost_model::Ticket;

/// What a coordinator said, or the runtime in its stead.
pub(crate) type Answered<R> = Result<R, Refusal>;

/// `A` says what to do with the answers, `R` is one of them.
#[derive(Debug)]
pub(crate) struct CoordinatorWaits<A, R> {
    next_wait: u64,
    next_ticket: u64,
    waits: HashMap<u64, Wait<A, R>, foldhash::fast::FixedState>,
    tickets: HashMap<Ticket, (u64, usize), foldhash::fast::FixedState>,
}

#[derive(Debug)]
struct Wait<A, R> {
    then: A,
    /// One place a ticket, in the order of the parts.
    results: Vec<Option<Answered<R>>>,
    missing: usize,
}

impl<A, R> Default for CoordinatorWaits<A, R> {
    fn default() -> Self {
        Self { next_wait: 0, next_ticket: 0, waits: HashMap::default(), tickets: HashMap::default() }
    }
}

impl<A, R> CoordinatorWaits<A, R> {
    /// Opens a ticket for each of the parts, of which there is at least one.
    pub(crate) fn open(&mut self, then: A, parts: usize) -> Vec<Ticket> {
        self.next_wait += 1;
        let results = (0..parts).map(|_| None).collect();
        self.waits.insert(self.next_wait, Wait { then, results, missing: parts });
        (0..parts)
            .map(|part| {
                self.next_ticket += 1;
                let ticket = Ticket(self.next_ticket);
                self.tickets.insert(ticket, (self.next_wait, part));
                ticket
            })
            .collect()
    }

    /// Notes an answer. If it was the last one missing, says what is to be done, and gives all of them in the order of the
    /// parts.
    pub(crate) fn answered(&mut self, ticket: Ticket, answer: Answer<R>) -> Option<(A, Vec<Answered<R>>)> {
        let (id, part) = self.tickets.remove(&ticket)?;
        let wait = self.waits.get_mut(&id)?;
        wait.results[part] = Some(match answer {
            Answer::Reply(reply) => Ok(reply),
            Answer::Refused(refusal) => Err(refusal),
        });
        wait.missing -= 1;
        if wait.missing > 0 {
            return None;
        }
        let wait = self.waits.remove(&id)?;
        Some((wait.then, wait.results.into_iter().flatten().collect()))
    }
}

/// The answer to what had one part.
pub(crate) fn single<R>(mut results: Vec<Answered<R>>) -> Answered<R> {
    results.pop().expect("a request to one coordinator has one result")
}
