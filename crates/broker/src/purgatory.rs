//! Requests that wait for partitions: produces until they are durable, fetches until there is enough to read.

use std::collections::{BTreeMap, VecDeque};

use milepost_model::{Instant, Offset, TopicPartition};

use crate::handlers::{fetch::FetchPlan, produce::Produced};
use crate::node::{ConnectionId, RequestKey};

/// A produce whose batches are written and not all durable yet.
#[derive(Debug)]
pub(crate) struct ProduceWait {
    pub(crate) key: RequestKey,
    pub(crate) deadline: Instant,
    /// Partitions that are not durable yet.
    pub(crate) remaining: usize,
    pub(crate) produced: Produced,
}

/// All waiting produces.
#[derive(Debug, Default)]
pub(crate) struct ProduceWaits {
    next: u64,
    waits: BTreeMap<u64, ProduceWait>,
    /// By partition, in the order of their batches.
    by_partition: BTreeMap<TopicPartition, VecDeque<(Offset, u64)>>,
}

impl ProduceWaits {
    /// Waits until every one of these partitions is durable up to and including the offset.
    pub(crate) fn park(&mut self, wait: ProduceWait, needs: &[(TopicPartition, Offset)]) {
        self.next += 1;
        for (partition, last) in needs {
            self.by_partition.entry(*partition).or_default().push_back((*last, self.next));
        }
        self.waits.insert(self.next, wait);
    }

    /// A partition became durable below `end`: the waits that are now complete, in the order they came.
    pub(crate) fn advance(&mut self, partition: TopicPartition, end: Offset) -> Vec<ProduceWait> {
        let mut complete = Vec::new();
        let Some(queue) = self.by_partition.get_mut(&partition) else { return complete };
        while let Some((last, id)) = queue.front().copied() {
            if last >= end {
                break;
            }
            queue.pop_front();
            // A wait that ran into its timeout is gone already.
            if let Some(wait) = self.waits.get_mut(&id) {
                wait.remaining -= 1;
                if wait.remaining == 0 {
                    complete.extend(self.waits.remove(&id));
                }
            }
        }
        if queue.is_empty() {
            self.by_partition.remove(&partition);
        }
        complete
    }

    /// A partition is gone: the waits that can no longer be answered.
    pub(crate) fn forget_partition(&mut self, partition: TopicPartition) -> Vec<ProduceWait> {
        let queue = self.by_partition.remove(&partition).unwrap_or_default();
        queue.into_iter().filter_map(|(_, id)| self.waits.remove(&id)).collect()
    }

    /// The waits whose time is up.
    pub(crate) fn expired(&mut self, now: Instant) -> Vec<ProduceWait> {
        let due: Vec<u64> =
            self.waits.iter().filter(|(_, wait)| wait.deadline <= now).map(|(id, _)| *id).collect();
        due.iter().filter_map(|id| self.waits.remove(id)).collect()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.waits.values().map(|wait| wait.deadline).min()
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
    by_partition: BTreeMap<TopicPartition, Vec<u64>>,
    by_deadline: BTreeMap<(Instant, u64), ()>,
}

impl FetchWaits {
    /// Waits until one of the partitions grows, or the deadline.
    pub(crate) fn park(&mut self, wait: FetchWait) {
        self.next += 1;
        for partition in wait.plan.partitions() {
            self.by_partition.entry(partition).or_default().push(self.next);
        }
        self.by_deadline.insert((wait.deadline, self.next), ());
        self.waits.insert(self.next, wait);
    }

    /// Takes the fetches that watch this partition; those still unsatisfied are parked again by the caller.
    pub(crate) fn watching(&mut self, partition: TopicPartition) -> Vec<FetchWait> {
        let ids = self.by_partition.remove(&partition).unwrap_or_default();
        ids.into_iter().filter_map(|id| self.take(id)).collect()
    }

    /// Takes the fetches whose time is up.
    pub(crate) fn expired(&mut self, now: Instant) -> Vec<FetchWait> {
        let mut due = Vec::new();
        while let Some((&(deadline, id), ())) = self.by_deadline.first_key_value() {
            if deadline > now {
                break;
            }
            due.extend(self.take(id));
        }
        due
    }

    /// Takes all of them (a stop).
    pub(crate) fn take_all(&mut self) -> Vec<FetchWait> {
        let ids: Vec<u64> = self.waits.keys().copied().collect();
        ids.into_iter().filter_map(|id| self.take(id)).collect()
    }

    /// Drops what a closed connection waited for.
    pub(crate) fn forget_connection(&mut self, connection: ConnectionId) {
        let ids: Vec<u64> = self
            .waits
            .iter()
            .filter(|(_, wait)| wait.key.connection == connection)
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            drop(self.take(id));
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.by_deadline.first_key_value().map(|((deadline, _), ())| *deadline)
    }

    fn take(&mut self, id: u64) -> Option<FetchWait> {
        let wait = self.waits.remove(&id)?;
        self.by_deadline.remove(&(wait.deadline, id));
        for partition in wait.plan.partitions() {
            if let Some(ids) = self.by_partition.get_mut(&partition) {
                ids.retain(|other| *other != id);
                if ids.is_empty() {
                    self.by_partition.remove(&partition);
                }
            }
        }
        Some(wait)
    }
}
