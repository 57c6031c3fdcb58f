//! Transactions as the node has them: the shards of `__transaction_state`, who waits for them, and what they want done.
//!
//! The topic is made when the first transactional id is looked for, as Kafka does; until then there are no shards and a
//! data folder without transactions has nothing of theirs.

use std::collections::VecDeque;
use std::sync::Arc;

use milepost_coordinator::{Coordinators, Refusal, Settings as RuntimeSettings};
use milepost_log::metadata::{MetadataRecord, ProposeError, Topic};
use milepost_model::{Instant, Now, PartitionIndex, partition_for};
use milepost_transactions::{AbortTimedOut, Effect, Reply, Request, TransactionCounts, Transactions};

use super::coordinator_waits::{Answered, CoordinatorWaits, single};
use super::markers::MarkerWrites;
use super::verification::{HeldRequest, HeldRequests};
use super::{IdTaker, Node, RequestKey};
use crate::handlers::{
    add_offsets_to_txn, add_partitions_to_txn, describe_transactions, end_txn, init_producer_id,
    list_transactions,
};
use crate::random;
use crate::topics::{self, TRANSACTIONS_TOPIC};

/// What a coordinator of transactions said, or the runtime in its stead.
pub(crate) type TransactionResult = Answered<Reply>;

/// What to do when a coordinator of transactions has answered.
#[derive(Debug)]
pub(crate) enum TransactionAnswer {
    InitProducerId(RequestKey, init_producer_id::Asked),
    AddPartitionsToTxn(RequestKey, add_partitions_to_txn::Asked),
    AddOffsetsToTxn(RequestKey),
    EndTxn(RequestKey, end_txn::Asked),
    DescribeTransactions(RequestKey, describe_transactions::Asked),
    ListTransactions(RequestKey, list_transactions::Asked),
    /// A request waits to hear whether its partitions are part of the transaction.
    Verification(std::rc::Rc<HeldRequest>),
    /// The markers of this transactional id, of this number among all markers, are told to be durable.
    MarkersWritten(Arc<str>, u64),
    /// Nobody asked: a transaction timed out.
    Nobody,
}

/// All that the node has in hand about transactions.
#[derive(Default)]
pub(crate) struct TransactionWork {
    /// The shards, once the topic exists.
    pub(crate) coordinators: Option<Coordinators<Transactions>>,
    waits: CoordinatorWaits<TransactionAnswer, Reply>,
    pub(crate) markers: MarkerWrites,
    pub(super) held: HeldRequests,
    /// Who waits for a block of producer ids. There are no more than unanswered requests, and transactions that timed out
    /// in one sweep.
    pub(super) id_takers: VecDeque<IdTaker>,
    /// How many skipped sweeps were logged.
    pub(super) logged_skips: u64,
}

impl TransactionWork {
    /// What the shards counted.
    pub(crate) fn counts(&self) -> TransactionCounts {
        self.coordinators.as_ref().map_or_else(TransactionCounts::default, |shards| *shards.counts())
    }

    /// Says so if sweeps were skipped since this was last asked.
    pub(super) fn log_skipped_sweeps(&mut self) {
        let skipped = self.counts().skipped_sweeps;
        if skipped > self.logged_skips {
            tracing::warn!(
                "the wall clock was set by more than an interval at which transactions are looked at: timeouts and expired \
                 transactional ids are not looked for this time ({} times)",
                skipped - self.logged_skips
            );
            self.logged_skips = skipped;
        }
    }

    /// When something is to be done even if nobody asks.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let shards = self.coordinators.as_ref().and_then(Coordinators::next_deadline);
        [shards, self.markers.next_deadline(), self.held.next_deadline()].into_iter().flatten().min()
    }
}

impl Node {
    /// Writes the record of `__transaction_state`, unless it is there or on its way.
    ///
    /// # Errors
    /// [`ProposeError`] when nothing can be written now.
    pub(crate) fn propose_transactions_topic(&mut self, now: Now) -> Result<(), ProposeError> {
        let is_there = self.metadata.image().topic(TRANSACTIONS_TOPIC).is_some();
        if is_there || self.metadata.is_pending(TRANSACTIONS_TOPIC) {
            return Ok(());
        }
        let topic = topics::new_transactions_topic(random::uuid(self.random.as_mut()), &self.settings);
        self.metadata.propose(&mut self.logs, vec![MetadataRecord::Topic(Arc::new(topic))], now)?;
        Ok(())
    }

    /// Makes the shards of `__transaction_state`, all to be loaded.
    pub(super) fn open_transaction_coordinators(&mut self, topic: &Topic) {
        let mut seed = [0; 8];
        self.random.fill(&mut seed);
        let (settings, epoch) = (self.settings.transactions.clone(), self.logs.leader_epoch());
        let make = move |_| Transactions::new(settings.clone(), epoch, u64::from_le_bytes(seed));
        let coordinators =
            Coordinators::new(topic.id, topic.partition_count, RuntimeSettings::default(), make);
        self.transactions.coordinators = Some(coordinators);
    }

    /// Asks the coordinator of a transactional id. `request` is borrowed from what `then` holds, or lives as long.
    pub(crate) fn ask_transactions(
        &mut self,
        now: Now,
        then: TransactionAnswer,
        transactional_id: &str,
        request: Request<'_>,
    ) {
        self.ask_all_transactions(now, then, vec![(Shard::Of(transactional_id), request)]);
    }

    /// Asks several coordinators of transactions; what follows has their answers in this order.
    pub(crate) fn ask_all_transactions(
        &mut self,
        now: Now,
        then: TransactionAnswer,
        parts: Vec<(Shard<'_>, Request<'_>)>,
    ) {
        let Some(coordinators) = self.transactions.coordinators.as_mut().filter(|_| !parts.is_empty()) else {
            let refused = parts.iter().map(|_| Err(Refusal::NotCoordinator)).collect();
            finish(self, now, then, refused);
            return;
        };
        let count = u32::try_from(coordinators.partition_count()).expect("a count is not negative");
        let tickets = self.transactions.waits.open(then, parts.len());
        for (ticket, (shard, request)) in tickets.into_iter().zip(parts) {
            let partition = match shard {
                Shard::Of(transactional_id) => partition_for(transactional_id, count),
                Shard::Number(partition) => partition,
            };
            coordinators.submit(&mut self.logs, now, partition, ticket, request);
        }
    }

    /// How many shards of transactions there are.
    pub(crate) fn transaction_shard_count(&self) -> i32 {
        self.transactions.coordinators.as_ref().map_or(0, Coordinators::partition_count)
    }

    /// Gives out what coordinators of either kind have released, and does what those of transactions want done.
    ///
    /// Answers come before effects: a coordinator that said that a partition is part of a transaction, and then that the
    /// transaction ended, is heard in that order, so that nothing is appended to a transaction behind its marker.
    pub(super) fn release_answers(&mut self, now: Now) {
        loop {
            self.release_group_answers();
            if !self.release_transaction_answers(now) && !self.carry_out_effects(now) {
                return;
            }
        }
    }

    fn release_transaction_answers(&mut self, now: Now) -> bool {
        let Some(coordinators) = &mut self.transactions.coordinators else { return false };
        let answers: Vec<_> = coordinators.drain_answers().collect();
        let is_some = !answers.is_empty();
        for (ticket, answer) in answers {
            if let Some((then, results)) = self.transactions.waits.answered(ticket, answer) {
                finish(self, now, then, results);
            }
        }
        is_some
    }

    fn carry_out_effects(&mut self, now: Now) -> bool {
        let Some(coordinators) = &mut self.transactions.coordinators else { return false };
        let effects: Vec<Effect> = coordinators.drain_effects().collect();
        let is_some = !effects.is_empty();
        for effect in effects {
            match effect {
                Effect::WriteMarkers(markers) => self.begin_markers(now, markers),
                Effect::TakeProducerId { transactional_id, producer } => {
                    self.take_producer_id(now, IdTaker::AbortTimedOut { transactional_id, producer });
                }
            }
        }
        is_some
    }

    /// Aborts a transaction that timed out, with the producer id that was missing for that.
    pub(super) fn abort_timed_out(&mut self, now: Now, request: AbortTimedOut<'_>) {
        let id = request.transactional_id;
        self.ask_transactions(now, TransactionAnswer::Nobody, id, Request::AbortTimedOut(request));
    }
}

/// Which shard of transactions is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shard<'a> {
    /// That of a transactional id.
    Of(&'a str),
    /// The one of this partition.
    Number(PartitionIndex),
}

fn finish(node: &mut Node, now: Now, then: TransactionAnswer, results: Vec<TransactionResult>) {
    match then {
        TransactionAnswer::InitProducerId(key, asked) => {
            init_producer_id::finish(node, now, key, asked, single(results));
        }
        TransactionAnswer::AddPartitionsToTxn(key, asked) => {
            add_partitions_to_txn::finish(node, key, &asked, results);
        }
        TransactionAnswer::AddOffsetsToTxn(key) => add_offsets_to_txn::finish(node, key, single(results)),
        TransactionAnswer::EndTxn(key, asked) => end_txn::finish(node, now, key, asked, single(results)),
        TransactionAnswer::DescribeTransactions(key, asked) => {
            describe_transactions::finish(node, key, &asked, results);
        }
        TransactionAnswer::ListTransactions(key, asked) => {
            list_transactions::finish(node, key, &asked, results);
        }
        TransactionAnswer::Verification(held) => node.verified(now, held, single(results)),
        TransactionAnswer::MarkersWritten(id, number) => {
            node.markers_noted(now, &id, number, single(results).is_ok());
        }
        TransactionAnswer::Nobody => {}
    }
}
