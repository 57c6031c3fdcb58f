//! One turn of the machine: what a handler may read, what it may change, and what it decides.

use std::sync::Arc;

use milepost_model::{Atomicity, DependsOn, LeaderEpoch, Now, Origin, Outcome, Ticket};

use crate::hard::{Hard, HardTransaction};
use crate::soft::Soft;
use crate::{Effect, Record, Reply, Transaction, TransactionCounts, TransactionSettings, TransactionVersion};

/// What a handler decided.
pub(crate) type TransactionOutcome = Outcome<Record, Reply, Effect, TransactionCounts>;

/// What a handler works with. It reads the hard state and may change only the soft one; what shall last goes into a
/// record.
pub(crate) struct Turn<'a> {
    pub(crate) now: Now,
    pub(crate) settings: &'a TransactionSettings,
    pub(crate) coordinator_epoch: LeaderEpoch,
    pub(crate) hard: &'a Hard,
    pub(crate) soft: &'a mut Soft,
    pub(crate) records: Vec<Record>,
    pub(crate) effects: Vec<Effect>,
    /// What this amounts to in numbers.
    pub(crate) counts: TransactionCounts,
    replies: Vec<(Ticket, Reply)>,
    depends_on: DependsOn,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(
        now: Now,
        settings: &'a TransactionSettings,
        coordinator_epoch: LeaderEpoch,
        hard: &'a Hard,
        soft: &'a mut Soft,
    ) -> Self {
        Self {
            now,
            settings,
            coordinator_epoch,
            hard,
            soft,
            records: Vec::new(),
            effects: Vec::new(),
            counts: TransactionCounts::default(),
            replies: Vec::new(),
            depends_on: DependsOn::Nothing,
        }
    }

    /// Answers. The answer speaks of this transactional id, and rests on what was last written about it.
    pub(crate) fn answer(&mut self, hard: Option<&HardTransaction>, ticket: Ticket, reply: Reply) {
        self.answer_from(self.hard.depends_on(hard), ticket, reply);
    }

    /// Answers with something that rests on more than one transactional id. A turn has one answer.
    pub(crate) fn answer_from(&mut self, depends_on: DependsOn, ticket: Ticket, reply: Reply) {
        self.depends_on = depends_on;
        self.replies.push((ticket, reply));
    }

    /// Writes down what a transactional id is doing now. Records of a cluster without `transaction.version` have no room
    /// for all of it; what is dropped is of use only to clients that such a cluster does not have.
    pub(crate) fn record(&mut self, transactional_id: &Arc<str>, mut transaction: Transaction) {
        if self.settings.transaction_version < TransactionVersion::V1 {
            transaction.previous_producer_id = None;
            transaction.next_producer_id = None;
            transaction.client_version = TransactionVersion::V0;
        }
        self.records.push(Record {
            transactional_id: Arc::clone(transactional_id),
            transaction: Some(Arc::new(transaction)),
        });
    }

    /// Removes a transactional id.
    pub(crate) fn remove(&mut self, transactional_id: &Arc<str>) {
        self.records.push(Record { transactional_id: Arc::clone(transactional_id), transaction: None });
    }

    pub(crate) fn finish(self, atomicity: Atomicity) -> TransactionOutcome {
        Outcome {
            records: self.records,
            atomicity,
            origin: Origin::Plain,
            replies: self.replies,
            effects: self.effects,
            counts: self.counts,
            depends_on: self.depends_on,
        }
    }
}
