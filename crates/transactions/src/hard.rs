//! The hard state of a shard: what the records of its log say, and nothing else.
//!
//! [`Hard::replay`] is the only way to change it. The fields are private to this module and handlers only ever see a
//! `&Hard`, so that no decision can change what a replay of the log would not change.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use milepost_model::{DependsOn, Offset};

use crate::{Record, Transaction, TransactionState};

/// What the log says.
#[derive(Debug)]
pub(crate) struct Hard {
    transactions: HashMap<Arc<str>, HardTransaction, FixedState>,
    /// The transactional ids in the state Ongoing, so that a sweep for timeouts need not look at all.
    ongoing: BTreeSet<Arc<str>>,
    /// The last tombstone: what an answer about a missing transactional id rests on.
    last_removal: Option<Offset>,
}

/// What the log says about one transactional id.
#[derive(Debug)]
pub(crate) struct HardTransaction {
    id: Arc<str>,
    transaction: Arc<Transaction>,
    last_written: Offset,
}

impl Hard {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self {
            transactions: HashMap::with_hasher(FixedState::with_seed(hash_seed)),
            ongoing: BTreeSet::new(),
            last_removal: None,
        }
    }

    pub(crate) fn transaction(&self, transactional_id: &str) -> Option<&HardTransaction> {
        self.transactions.get(transactional_id)
    }

    /// Every transactional id, in order.
    pub(crate) fn transactional_ids(&self) -> Vec<Arc<str>> {
        let mut ids: Vec<_> = self.transactions.keys().cloned().collect();
        ids.sort_unstable();
        ids
    }

    /// The transactional ids with an open transaction, in order.
    pub(crate) fn ongoing(&self) -> Vec<Arc<str>> {
        self.ongoing.iter().cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.transactions.len()
    }

    /// The shared copy of a transactional id, if it is in use; else a new one.
    pub(crate) fn shared_id(&self, transactional_id: &str) -> Arc<str> {
        self.transaction(transactional_id)
            .map_or_else(|| transactional_id.into(), |hard| Arc::clone(&hard.id))
    }

    /// What an answer about this transactional id rests on; about a missing one, if `None`.
    pub(crate) fn depends_on(&self, hard: Option<&HardTransaction>) -> DependsOn {
        let position = hard.map(|hard| hard.last_written).or(self.last_removal);
        position.map_or(DependsOn::Nothing, DependsOn::Position)
    }

    /// Applies a record. The only writer of the state, live and at every load.
    pub(crate) fn replay(&mut self, position: Offset, record: Record) {
        let Record { transactional_id, transaction } = record;
        let Some(transaction) = transaction else {
            self.ongoing.remove(&transactional_id);
            self.transactions.remove(&transactional_id);
            self.last_removal = Some(position);
            return;
        };
        let id = self.shared_id(&transactional_id);
        if transaction.state == TransactionState::Ongoing {
            self.ongoing.insert(Arc::clone(&id));
        } else {
            self.ongoing.remove(&id);
        }
        let hard = HardTransaction { id: Arc::clone(&id), transaction, last_written: position };
        self.transactions.insert(id, hard);
    }

    /// Everything the state holds, in an order of its own: equal texts mean equal states. Positions of the last write are
    /// left out: they are not state but what answers wait for.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        for id in self.transactional_ids() {
            if let Some(hard) = self.transaction(&id) {
                writeln!(text, "{id:?} {:?}", hard.transaction).expect("writing into a string does not fail");
            }
        }
        writeln!(text, "ongoing {:?}", self.ongoing).expect("writing into a string does not fail");
        text
    }
}

impl HardTransaction {
    pub(crate) fn id(&self) -> &Arc<str> {
        &self.id
    }

    pub(crate) fn transaction(&self) -> &Arc<Transaction> {
        &self.transaction
    }
}
