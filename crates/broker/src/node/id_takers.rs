//! Who needs a producer id: it is taken from the block at hand, or a further block is reserved and waited for.

use std::sync::Arc;

use milepost_log::metadata::MetadataRecord;
use milepost_model::{Now, ProducerId, ProducerIdentity};
use milepost_transactions::AbortTimedOut;

use super::{Node, RequestKey};
use crate::handlers::{end_txn, init_producer_id};
use crate::producer_ids::BLOCK_LENGTH;

/// What the id is for.
#[derive(Debug)]
pub(crate) enum IdTaker {
    /// An idempotent producer without a transactional id.
    Idempotent(RequestKey),
    /// A producer that starts.
    InitProducerId(RequestKey, init_producer_id::Asked),
    /// A producer whose epochs are used up.
    EndTxn(RequestKey, end_txn::Asked),
    /// A transaction that timed out, whose producer's epochs are used up.
    AbortTimedOut { transactional_id: Arc<str>, producer: ProducerIdentity },
}

impl Node {
    /// Gives the next id, or waits for a block of them.
    pub(crate) fn take_producer_id(&mut self, now: Now, taker: IdTaker) {
        if let Some(id) = self.producer_ids.take() {
            self.give_producer_id(now, taker, id);
        } else if self.producer_ids.reserving().is_some() || self.reserve_producer_ids(now) {
            self.transactions.id_takers.push_back(taker);
        } else {
            match taker {
                IdTaker::Idempotent(key) | IdTaker::InitProducerId(key, _) => {
                    init_producer_id::refuse_id(self, key);
                }
                IdTaker::EndTxn(key, _) => end_txn::refuse_id(self, key),
                // The next sweep asks again.
                IdTaker::AbortTimedOut { .. } => {}
            }
        }
    }

    fn give_producer_id(&mut self, now: Now, taker: IdTaker, id: ProducerId) {
        match taker {
            IdTaker::Idempotent(key) => init_producer_id::give(self, key, id),
            IdTaker::InitProducerId(key, asked) => init_producer_id::ask(self, now, key, asked, Some(id)),
            IdTaker::EndTxn(key, asked) => end_txn::ask(self, now, key, asked, Some(id)),
            IdTaker::AbortTimedOut { transactional_id, producer } => {
                let transactional_id = &*transactional_id;
                self.abort_timed_out(
                    now,
                    AbortTimedOut { transactional_id, producer, fresh_producer_id: id },
                );
            }
        }
    }

    /// A block is there: all who waited get theirs, in their order.
    pub(super) fn give_producer_ids(&mut self, now: Now) {
        for taker in std::mem::take(&mut self.transactions.id_takers) {
            self.take_producer_id(now, taker);
        }
    }

    /// Asks for the next block. `false`: nothing can be written now.
    fn reserve_producer_ids(&mut self, now: Now) -> bool {
        let next = self.metadata.next_unproposed_producer_id().0 + BLOCK_LENGTH;
        let record = MetadataRecord::ProducerIdBlock { next_producer_id: ProducerId(next) };
        match self.metadata.propose(&mut self.logs, vec![record], now) {
            Ok(position) => {
                self.producer_ids.begin_reserving(position);
                true
            }
            Err(error) => {
                tracing::warn!("no producer ids can be reserved now: {error}");
                false
            }
        }
    }
}
