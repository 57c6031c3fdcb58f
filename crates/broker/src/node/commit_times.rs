//! How long commits take: from the admission of an OffsetCommit until its answer is handed to the connection's socket.

use milepost_model::{Instant, Latencies};

#[derive(Debug, Default)]
pub(crate) struct CommitTimes {
    /// When the commits were admitted whose answers are written and not handed over yet. No longer than one step answers.
    answered: Vec<Instant>,
    taken: Latencies,
}

impl CommitTimes {
    /// A commit that was admitted then has its answer.
    pub(crate) fn note_answered(&mut self, admitted: Instant) {
        self.answered.push(admitted);
    }

    pub(crate) fn is_owed_a_time(&self) -> bool {
        !self.answered.is_empty()
    }

    /// Everything that was answered has left by now.
    pub(crate) fn note_sent(&mut self, now: Instant) {
        for admitted in self.answered.drain(..) {
            self.taken.record_us(now.us_since(admitted));
        }
    }

    pub(crate) fn taken(&self) -> &Latencies {
        &self.taken
    }
}
