//! Requests that wait for partitions: produces and deletions of records until they are durable, fetches until there is
//! enough to read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use milepost_model::{Instant, Offset, TopicPartition};

use crate::fetch_sessions::SessionId;
use crate::handlers::{
    delete_records::Deletions, fetch::FetchPlan, produce::Produced, write_txn_markers::Markers,
};
use crate::node::{ConnectionId, RequestKey};

/// A produce whose batches are written and not all durable yet.
pub(crate) type ProduceWait = DurableWait<Produced>;
/// All waiting produces; partitions advance with their high watermark.
pub(crate) type ProduceWaits = DurableWaits<Produced>;
/// A DeleteRecords some of whose log starts are not durable yet.
pub(crate) type DeletionWait = DurableWait<Deletions>;
/// All waiting DeleteRecords; partitions advance with their log start.
pub(crate) type DeletionWaits = DurableWaits<Deletions>;

/// A WriteTxnMarkers some of whose markers are not durable yet.
pub(crate) type MarkerWait = DurableWait<Markers>;
/// All waiting WriteTxnMarkers; partitions advance with their high watermark.
pub(crate) type MarkerWaits = DurableWaits<Markers>;

/// A request that did its work in some partitions, in not all of which it is durable yet.
#[derive(Debug)]
pub(crate) struct DurableWait<T> {
    pub(crate) key: RequestKey,
    pub(crate) deadline: Instant,
    /// Partitions that are not durable yet.
    pub(crate) remaining: usize,
    pub(crate) results: T,
}

/// All such requests of one kind.
#[derive(Debug)]
pub(crate) struct DurableWaits<T> {
    next: u64,
    waits: BTreeMap<u64, DurableWait<T>>,
    /// By partition, in the order of their work.
    by_partition: BTreeMap<TopicPartition, VecDeque<(Offset, u64)>>,
    by_deadline: BTreeSet<(Instant, u64)>,
}

impl<T> Default for DurableWaits<T> {
    fn default() -> Self {
        Self { next: 0, waits: BTreeMap::new(), by_partition: BTreeMap::new(), by_deadline: BTreeSet::new() }
    }
}

impl<T> DurableWaits<T> {
    /// Waits until every one of these partitions is durable up to and including the offset.
    pub(crate) fn park(&mut self, wait: DurableWait<T>, needs: &[(TopicPartition, Offset)]) {
        self.next += 1;
        for (partition, last) in needs {
            self.by_partition.entry(*partition).or_default().push_back((*last, self.next));
        }
        self.by_deadline.insert((wait.deadline, self.next));
        self.waits.insert(self.next, wait);
    }

    fn take(&mut self, id: u64) -> Option<DurableWait<T>> {
        let wait = self.waits.remove(&id)?;
        self.by_deadline.remove(&(wait.deadline, id));
        Some(wait)
    }

    /// A partition became durable below `end`: the waits that are now complete, in the order they came.
    pub(crate) fn advance(&mut self, partition: TopicPartition, end: Offset) -> Vec<DurableWait<T>> {
        let mut complete = Vec::new();
        let Some(queue) = self.by_partition.get_mut(&partition) else { return Vec::new() };
        while let Some((_, id)) = queue.pop_front_if(|(last, _)| *last < end) {
            // A wait that ran into its timeout is gone already.
            if let Some(wait) = self.waits.get_mut(&id) {
                wait.remaining -= 1;
                if wait.remaining == 0 {
                    complete.push(id);
                }
            }
        }
        if queue.is_empty() {
            self.by_partition.remove(&partition);
        }
        complete.into_iter().filter_map(|id| self.take(id)).collect()
    }

    /// A partition is gone: the waits that can no longer be answered.
    pub(crate) fn forget_partition(&mut self, partition: TopicPartition) -> Vec<DurableWait<T>> {
        let queue = self.by_partition.remove(&partition).unwrap_or_default();
        queue.into_iter().filter_map(|(_, id)| self.take(id)).collect()
    }

    /// The waits whose time is up.
    pub(crate) fn expired(&mut self, now: Instant) -> Vec<DurableWait<T>> {
        let due: Vec<u64> = self.by_deadline.range(..=(now, u64::MAX)).map(|(_, id)| *id).collect();
        due.into_iter().filter_map(|id| self.take(id)).collect()
    }

    /// Takes all of them (a stop that cannot wait for the disk).
    pub(crate) fn take_all(&mut self) -> Vec<DurableWait<T>> {
        self.by_partition.clear();
        self.by_deadline.clear();
        std::mem::take(&mut self.waits).into_values().collect()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.by_deadline.first().map(|(deadline, _)| *deadline)
    }
}

/// A fetch that found too little to answer with.
#[derive(Debug)]
pub(crate) struct FetchWait {
    pub(crate) key: RequestKey,
    pub(crate) deadline: Instant,
    pub(crate) plan: FetchPlan,
}

/// All waiting fetches.
#[derive(Debug, Default)]
pub(crate) struct FetchWaits {
    next: u64,
    waits: BTreeMap<u64, FetchWait>,
    by_partition: BTreeSet<(TopicPartition, u64)>,
    by_deadline: BTreeSet<(Instant, u64)>,
    by_connection: BTreeSet<(ConnectionId, u64)>,
    /// At most one a session: a later request takes the place of an earlier one.
    by_session: BTreeMap<SessionId, u64>,
}

impl FetchWaits {
    /// Waits until one of the partitions grows, or the deadline.
    pub(crate) fn park(&mut self, wait: FetchWait) {
        self.next += 1;
        for partition in wait.plan.partitions() {
            self.by_partition.insert((partition, self.next));
        }
        self.by_deadline.insert((wait.deadline, self.next));
        self.by_connection.insert((wait.key.connection, self.next));
        if let Some(session) = wait.plan.continues() {
            self.by_session.insert(session, self.next);
        }
        self.waits.insert(self.next, wait);
    }

    /// Takes the fetches that watch this partition; those still unsatisfied are parked again by the caller.
    pub(crate) fn watching(&mut self, partition: TopicPartition) -> Vec<FetchWait> {
        let all = (partition, 0)..=(partition, u64::MAX);
        let ids: Vec<u64> = self.by_partition.range(all).map(|(_, id)| *id).collect();
        ids.into_iter().filter_map(|id| self.take(id)).collect()
    }

    /// Takes the fetch that waits in this session.
    pub(crate) fn take_session(&mut self, session: SessionId) -> Option<FetchWait> {
        let id = *self.by_session.get(&session)?;
        self.take(id)
    }

    /// Takes the fetches whose time is up.
    pub(crate) fn expired(&mut self, now: Instant) -> Vec<FetchWait> {
        let due: Vec<u64> = self.by_deadline.range(..=(now, u64::MAX)).map(|(_, id)| *id).collect();
        due.into_iter().filter_map(|id| self.take(id)).collect()
    }

    /// Takes all of them (a stop).
    pub(crate) fn take_all(&mut self) -> Vec<FetchWait> {
        let ids: Vec<u64> = self.waits.keys().copied().collect();
        ids.into_iter().filter_map(|id| self.take(id)).collect()
    }

    /// Drops what a closed connection waited for.
    pub(crate) fn forget_connection(&mut self, connection: ConnectionId) {
        let all = (connection, 0)..=(connection, u64::MAX);
        let ids: Vec<u64> = self.by_connection.range(all).map(|(_, id)| *id).collect();
        for id in ids {
            drop(self.take(id));
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.by_deadline.first().map(|(deadline, _)| *deadline)
    }

    fn take(&mut self, id: u64) -> Option<FetchWait> {
        let wait = self.waits.remove(&id)?;
        self.by_deadline.remove(&(wait.deadline, id));
        self.by_connection.remove(&(wait.key.connection, id));
        if let Some(session) = wait.plan.continues() {
            self.by_session.remove(&session);
        }
        for partition in wait.plan.partitions() {
            self.by_partition.remove(&(partition, id));
        }
        Some(wait)
    }
}
