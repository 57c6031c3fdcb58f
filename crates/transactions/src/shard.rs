//! The shard: what the runtime drives. It sends each request to its handler and keeps hard and soft state apart.

use milepost_model::{
    Atomicity, Corrupt, DeletedTopic, Encoded, Instant, LeaderEpoch, Now, Offset, Origin, Outcome,
    ProducerIdentity, Shard, Ticket, TransactionEnd,
};

use crate::hard::Hard;
use crate::soft::Soft;
use crate::turn::{TransactionOutcome, Turn};
use crate::{
    Effect, Record, Reply, Request, TransactionCounts, TransactionSettings, add_partitions, admin, codec,
    deadlines, end_transaction, init_producer_id, markers,
};

#[cfg(test)]
mod tests;

/// The transactional ids of one partition of `__transaction_state`.
#[derive(Debug)]
pub struct Transactions {
    settings: TransactionSettings,
    coordinator_epoch: LeaderEpoch,
    hard: Hard,
    soft: Soft,
}

impl Transactions {
    /// A shard about which nothing is known yet. `coordinator_epoch` is the epoch of the partition's leader, which goes
    /// into markers. `hash_seed` is to be random in production, against clients that choose names with care; it has no
    /// influence on records or replies.
    #[must_use]
    pub fn new(settings: TransactionSettings, coordinator_epoch: LeaderEpoch, hash_seed: u64) -> Self {
        Self { settings, coordinator_epoch, hard: Hard::new(hash_seed), soft: Soft::new(hash_seed) }
    }

    /// How many transactional ids there are.
    #[must_use]
    pub fn transactional_id_count(&self) -> usize {
        self.hard.len()
    }

    /// The whole hard state as text: equal texts mean equal states. For tests and for people; it is long.
    #[must_use]
    pub fn describe_hard_state(&self) -> String {
        self.hard.describe()
    }

    fn turn(&mut self, now: Now) -> Turn<'_> {
        Turn::new(now, &self.settings, self.coordinator_epoch, &self.hard, &mut self.soft)
    }
}

impl Shard for Transactions {
    type Request<'a> = Request<'a>;
    type Reply = Reply;
    type Record = Record;
    type Effect = Effect;
    type Counts = TransactionCounts;

    fn decode(&self, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<Option<Record>, Corrupt> {
        codec::decode(&self.hard, key, value)
    }

    fn encode(&self, record: &Record, into: &mut Encoded) {
        codec::encode(&self.settings, record, into);
    }

    fn handle(&mut self, now: Now, ticket: Ticket, request: Request<'_>) -> TransactionOutcome {
        let mut turn = self.turn(now);
        match &request {
            Request::InitProducerId(request) => {
                init_producer_id::init_producer_id(&mut turn, ticket, request);
            }
            Request::AddPartitions(request) => add_partitions::add_partitions(&mut turn, ticket, request),
            Request::VerifyPartitions(request) => {
                add_partitions::verify_partitions(&mut turn, ticket, request);
            }
            Request::EndTransaction(request) => end_transaction::end_transaction(&mut turn, ticket, request),
            Request::Describe(request) => admin::describe(&mut turn, ticket, request),
            Request::List(request) => admin::list(&mut turn, ticket, request),
            Request::MarkersWritten(written) => markers::markers_written(&mut turn, ticket, written),
            Request::AbortTimedOut(request) => deadlines::abort_timed_out(&mut turn, ticket, request),
        }
        turn.finish(Atomicity::OneBatch)
    }

    /// `__transaction_state` has no transactions of its own, so the origin says nothing.
    fn replay(&mut self, position: Offset, _origin: Origin, record: Record) {
        self.hard.replay(position, record);
    }

    fn replay_marker(&mut self, _position: Offset, _producer: ProducerIdentity, _end: TransactionEnd) {}

    /// A partition that is gone stays in its transaction, as in Kafka: whoever writes the markers finds it gone.
    fn on_topics_deleted(&mut self, _now: Now, _topics: &[DeletedTopic]) -> TransactionOutcome {
        Outcome::nothing()
    }

    fn next_deadline(&self) -> Option<Instant> {
        deadlines::next_deadline(&self.soft)
    }

    fn on_deadline(&mut self, now: Now) -> TransactionOutcome {
        let mut turn = self.turn(now);
        deadlines::sweep(&mut turn);
        turn.finish(Atomicity::MaySplit)
    }

    fn on_loaded(&mut self, now: Now) -> TransactionOutcome {
        let mut turn = self.turn(now);
        markers::resume(&mut turn);
        deadlines::schedule(turn.soft, turn.settings, now);
        turn.finish(Atomicity::MaySplit)
    }

    /// Every request is answered at once, so nobody waits here.
    fn forget(&mut self, _ticket: Ticket) {}
}
