//! A journal that takes its time, as one with a thread and a real disk does.

use milepost_storage::{Engine, Entry, Journal, JournalState, RoundNumber, Space, Waker};

use crate::rng::Rng;

/// One poll in this many finds a round done.
const POLLS: u64 = 3;

/// Lets rounds of an engine be in flight for a while: what was submitted reaches the disk at some later poll, or never,
/// if the node dies before.
pub(crate) fn slowed(engine: Engine, dice: Rng) -> Engine {
    let mut inner = engine.journal;
    let last = match inner.poll() {
        JournalState::Idle(round) => round,
        _ => RoundNumber::default(),
    };
    Engine { journal: Box::new(SlowJournal { inner, held: None, last, dice }), ..engine }
}

struct SlowJournal {
    inner: Box<dyn Journal>,
    held: Option<Vec<Entry>>,
    /// The last round that was handed over.
    last: RoundNumber,
    dice: Rng,
}

impl Journal for SlowJournal {
    fn epoch(&self) -> u32 {
        self.inner.epoch()
    }

    fn submit(&mut self, entries: Vec<Entry>) -> RoundNumber {
        assert!(self.held.is_none(), "a round is in flight");
        self.held = Some(entries);
        self.last = self.last.next();
        self.last
    }

    fn poll(&mut self) -> JournalState {
        if self.held.is_some() && self.dice.chance(POLLS) {
            let entries = self.held.take().expect("it was just looked at");
            let number = self.inner.submit(entries);
            assert_eq!(number, self.last, "rounds are counted without gaps");
        }
        if self.held.is_some() { JournalState::InFlight } else { self.inner.poll() }
    }

    fn space(&mut self) -> Space {
        self.inner.space()
    }

    fn trim(&mut self, below: RoundNumber) {
        self.inner.trim(below);
    }

    fn untrimmed_bytes(&self) -> u64 {
        self.inner.untrimmed_bytes()
    }

    fn set_waker(&mut self, waker: Waker) {
        self.inner.set_waker(waker);
    }
}
