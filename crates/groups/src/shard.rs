//! The shard: what the runtime drives. It sends each request to its handler and keeps hard and soft state apart.

use std::sync::Arc;

use milepost_model::{
    Atomicity, Corrupt, DeletedTopic, Encoded, Instant, NoEffect, Now, Offset, Origin, Outcome,
    ProducerIdentity, Shard, Ticket, TransactionEnd,
};

use crate::consumer::ClusterTopics;
use crate::hard::Hard;
use crate::soft::Soft;
use crate::turn::{GroupOutcome, Turn};
use crate::{
    GroupCensus, GroupCounts, GroupSettings, Record, Reply, Request, admin, classic, codec, consumer,
    embedded, expiry, offsets,
};

#[cfg(test)]
mod tests;

/// The groups of one partition of `__consumer_offsets`, and what they committed.
#[derive(Debug)]
pub struct Groups {
    settings: GroupSettings,
    hard: Hard,
    soft: Soft,
}

impl Groups {
    /// A shard about which nothing is known yet. `hash_seed` is to be random in production, against clients that choose
    /// names with care; it has no influence on records or replies.
    #[must_use]
    pub fn new(settings: GroupSettings, hash_seed: u64) -> Self {
        Self { settings, hard: Hard::new(hash_seed), soft: Soft::new(hash_seed) }
    }

    /// The same with the topics of the cluster, and what is set for single groups, as they are now. Later ones come in
    /// with requests.
    #[must_use]
    pub fn with_topics(mut self, topics: &Arc<ClusterTopics>) -> Self {
        self.soft.consumers.note_topics(topics);
        self
    }

    /// How many groups there are.
    #[must_use]
    pub fn group_count(&self) -> usize {
        self.hard.group_count()
    }

    /// How many committed offsets there are. Counts group by group.
    #[must_use]
    pub fn offset_count(&self) -> usize {
        self.hard.offset_count()
    }

    /// Which groups there are, and how many offsets. Looks at every group; it contains what is not durable yet, so
    /// nothing of it may be told to a client.
    #[must_use]
    pub fn census(&self) -> GroupCensus {
        admin::census(&self.hard, &self.soft)
    }

    /// The whole hard state as text: equal texts mean equal states. For tests and for people; it is long.
    #[must_use]
    pub fn describe_hard_state(&self) -> String {
        self.hard.describe()
    }

    fn turn(&mut self, now: Now) -> Turn<'_> {
        Turn::new(now, &self.settings, &self.hard, &mut self.soft)
    }
}

impl Shard for Groups {
    type Request<'a> = Request<'a>;
    type Reply = Reply;
    type Record = Record;
    type Effect = NoEffect;
    type Counts = GroupCounts;

    fn decode(&self, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<Option<Record>, Corrupt> {
        codec::decode(&self.hard, key, value)
    }

    fn encode(&self, record: &Record, into: &mut Encoded) {
        codec::encode(record, into);
    }

    fn handle(&mut self, now: Now, ticket: Ticket, request: Request<'_>) -> GroupOutcome {
        let mut turn = self.turn(now);
        match &request {
            Request::JoinGroup(request) => classic::join_group(&mut turn, ticket, request),
            Request::SyncGroup(request) => classic::sync_group(&mut turn, ticket, request),
            Request::Heartbeat(request) => classic::heartbeat(&mut turn, ticket, request),
            Request::LeaveGroup(request) => classic::leave_group(&mut turn, ticket, request),
            Request::ConsumerGroupHeartbeat(request) => {
                consumer::consumer_group_heartbeat(&mut turn, ticket, request);
            }
            Request::DescribeConsumerGroup(request) => {
                consumer::describe_consumer_group(&mut turn, ticket, request);
            }
            Request::OffsetCommit(request) => offsets::offset_commit(&mut turn, ticket, request),
            Request::TxnOffsetCommit(request) => offsets::txn_offset_commit(&mut turn, ticket, request),
            Request::OffsetFetch(request) => offsets::offset_fetch(&mut turn, ticket, request),
            Request::ListGroups(request) => admin::list_groups(&mut turn, ticket, request),
            Request::DescribeGroup(request) => admin::describe_group(&mut turn, ticket, request),
            Request::DeleteGroups(request) => admin::delete_groups(&mut turn, ticket, request),
            Request::OffsetDelete(request) => offsets::offset_delete(&mut turn, ticket, request),
            Request::Embedded(request) => embedded::embedded(&mut turn, ticket, request),
        }
        turn.finish(Atomicity::OneBatch)
    }

    fn replay(&mut self, position: Offset, origin: Origin, record: Record) {
        self.hard.replay(position, origin, record);
    }

    fn replay_marker(&mut self, position: Offset, producer: ProducerIdentity, end: TransactionEnd) {
        self.hard.replay_marker(position, producer, end);
    }

    fn on_topics_deleted(&mut self, _now: Now, topics: &[DeletedTopic]) -> GroupOutcome {
        Outcome {
            records: offsets::tombstones_of_topics(&self.hard, topics),
            atomicity: Atomicity::MaySplit,
            ..Outcome::nothing()
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        if !self.soft.sweep.remaining.is_empty() {
            return Some(Instant::default());
        }
        let sweep = self.soft.sweep.due.map(|(due, _)| due);
        sweep.into_iter().chain(self.soft.next_wake()).chain(self.soft.consumers.next_wake()).min()
    }

    fn on_deadline(&mut self, now: Now) -> GroupOutcome {
        let mut turn = self.turn(now);
        while let Some(group_id) = turn.soft.pop_due(now.monotonic) {
            classic::on_group_deadline(&mut turn, &group_id);
        }
        while let Some(group_id) = turn.soft.consumers.pop_due(now.monotonic) {
            consumer::on_consumer_group_deadline(&mut turn, &group_id);
        }
        expiry::sweep_if_due(&mut turn);
        turn.finish(Atomicity::MaySplit)
    }

    fn on_loaded(&mut self, now: Now) -> GroupOutcome {
        let mut turn = self.turn(now);
        for group_id in turn.hard.group_ids() {
            let Some(group) = turn.hard.group(&group_id) else { continue };
            match group.consumer() {
                Some(consumer) => consumer::on_consumer_group_loaded(&mut turn, group, consumer),
                None => classic::on_group_loaded(&mut turn, group),
            }
        }
        expiry::schedule_sweep(&mut turn.soft.sweep, turn.settings, now);
        turn.finish(Atomicity::MaySplit)
    }

    fn forget(&mut self, ticket: Ticket) {
        self.soft.forget(ticket);
    }
}
