//! What a shard of transactions counts, for whoever watches it.

use milepost_model::{Counts, TransactionEnd};

/// How often things happened. A decision counts once it is durable.
///
/// What was begun is committed, aborted, or still open. An abort by which a producer only says that it starts anew, with
/// no transaction open, is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionCounts {
    /// Transactions that got their first partition.
    pub begun: u64,
    /// Transactions of which it was decided that they commit.
    pub committed: u64,
    /// Transactions of which it was decided that they abort, for whatever reason.
    pub aborted: u64,
    /// Those among the aborted whose time was over.
    pub timed_out: u64,
    /// Transactional ids removed because nobody used them any more.
    pub expired_ids: u64,
    /// Sweeps (for timeouts, for expiry) that were left out because the wall clock had jumped.
    pub skipped_sweeps: u64,
}

impl Counts for TransactionCounts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, more: Self) {
        self.begun += more.begun;
        self.committed += more.committed;
        self.aborted += more.aborted;
        self.timed_out += more.timed_out;
        self.expired_ids += more.expired_ids;
        self.skipped_sweeps += more.skipped_sweeps;
    }
}

impl TransactionCounts {
    pub(crate) fn note_end(&mut self, end: TransactionEnd) {
        match end {
            TransactionEnd::Commit => self.committed += 1,
            TransactionEnd::Abort => self.aborted += 1,
        }
    }
}
