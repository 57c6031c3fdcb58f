//! All shards of one topic: routing, loading in turn, and lists of who has something to do.
//!
//! The driver's loop: submit what came in; [`Coordinators::flush`] before a round begins; after the round
//! [`Coordinators::on_durable`] with the partitions that advanced; [`Coordinators::load_step`] while
//! [`Coordinators::has_load_work`]; [`Coordinators::on_deadline`] at [`Coordinators::next_deadline`]; and
//! [`Coordinators::drain_answers`] and [`Coordinators::drain_effects`] after each of them.

use std::collections::VecDeque;
use std::sync::Arc;

use milepost_batch::Marker;
use milepost_log::{AppendError, LogSet, MarkerEpoch};
use milepost_model::{
    Counts, DeletedTopic, Instant, Latencies, Now, Offset, PartitionIndex, ProducerIdentity, Shard, Ticket,
    TopicId, TopicPartition,
};

use crate::{Answer, Failure, LoadProgress, Refusal, Settings, ShardRuntime, ShardStatus};

/// Makes an empty shard for a partition.
pub type MakeShard<S> = dyn Fn(PartitionIndex) -> S + Send + Sync;

/// How many shards are doing what (Kafka's `num-partitions` by `state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionStates {
    /// They are being loaded.
    pub loading: u64,
    /// They are served.
    pub active: u64,
    /// Their logs cannot be understood.
    pub failed: u64,
}

/// The shards of a topic, one a partition.
pub struct Coordinators<S: Shard> {
    topic: TopicId,
    shards: Vec<ShardRuntime<S>>,
    /// What each shard's `next_deadline` said when it was last touched.
    deadlines: Vec<Option<Instant>>,
    /// Shards to load, the next one first.
    loading: VecDeque<usize>,
    /// Shards to load that wait for the log's end to become durable.
    load_waiting: Vec<usize>,
    /// Shards with an open batch, in the order in which they got it.
    dirty: Vec<usize>,
    is_dirty: Vec<bool>,
    answers: Vec<(Ticket, Answer<S::Reply>)>,
    effects: Vec<S::Effect>,
    counts: S::Counts,
    load_time: Latencies,
}

impl<S: Shard> Coordinators<S> {
    /// The shards of the first `partition_count` partitions of `topic`, all to be loaded.
    pub fn new(
        topic: TopicId,
        partition_count: i32,
        settings: Settings,
        make: impl Fn(PartitionIndex) -> S + Send + Sync + 'static,
    ) -> Self {
        let make: Arc<MakeShard<S>> = Arc::new(make);
        let shards: Vec<_> = (0..partition_count)
            .map(|index| TopicPartition { topic, partition: PartitionIndex(index) })
            .map(|id| ShardRuntime::new(id, settings, Arc::clone(&make)))
            .collect();
        let count = shards.len();
        Self {
            topic,
            shards,
            deadlines: vec![None; count],
            loading: (0..count).collect(),
            load_waiting: Vec::new(),
            dirty: Vec::new(),
            is_dirty: vec![false; count],
            answers: Vec::new(),
            effects: Vec::new(),
            counts: S::Counts::default(),
            load_time: Latencies::default(),
        }
    }

    /// How many shards there are; the number by which groups are spread over them.
    pub fn partition_count(&self) -> i32 {
        i32::try_from(self.shards.len()).expect("it came from an i32")
    }

    /// What the shard of a partition is doing; `None` when there is no such partition.
    pub fn status(&self, partition: PartitionIndex) -> Option<ShardStatus<'_>> {
        Some(self.shards.get(index_of(partition)?)?.status())
    }

    /// The shards, in the order of their partitions.
    pub fn shards(&self) -> impl Iterator<Item = &ShardRuntime<S>> {
        self.shards.iter()
    }

    /// The shards that failed.
    pub fn failures(&self) -> impl Iterator<Item = (PartitionIndex, &Failure)> {
        self.shards.iter().filter_map(|shard| match shard.status() {
            ShardStatus::Failed(failure) => Some((shard.id().partition, failure)),
            _ => None,
        })
    }

    /// How many shards are doing what.
    pub fn partition_states(&self) -> PartitionStates {
        let mut states = PartitionStates::default();
        for shard in &self.shards {
            match shard.status() {
                ShardStatus::Loading => states.loading += 1,
                ShardStatus::Active => states.active += 1,
                ShardStatus::Failed(_) => states.failed += 1,
                ShardStatus::Closed => {}
            }
        }
        states
    }

    /// What the shards counted since the start.
    pub fn counts(&self) -> &S::Counts {
        &self.counts
    }

    /// How long loads took (Kafka's `partition-load-time`).
    pub fn load_time(&self) -> &Latencies {
        &self.load_time
    }

    /// Whether every shard is past its loading.
    pub fn is_loaded(&self) -> bool {
        self.loading.is_empty() && self.load_waiting.is_empty()
    }

    /// Whether [`Coordinators::load_step`] would get further now.
    pub fn has_load_work(&self) -> bool {
        !self.loading.is_empty()
    }

    /// Whether [`Coordinators::flush`] would append something.
    pub fn has_open_batches(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Loads about `budget_bytes` of the next shard whose turn it is.
    pub fn load_step(&mut self, logs: &mut LogSet, now: Now, budget_bytes: usize) {
        let Some(index) = self.loading.pop_front() else { return };
        match self.shards[index].load_step(logs, now, budget_bytes) {
            LoadProgress::More => self.loading.push_back(index),
            LoadProgress::WaitingForDurable => self.load_waiting.push(index),
            LoadProgress::Finished => {
                if let (ShardStatus::Active, Some(loaded)) =
                    (self.shards[index].status(), self.shards[index].loaded())
                {
                    self.load_time.record_us(loaded.took_us);
                }
                self.after(index);
            }
        }
    }

    /// Hands a request to the shard of a partition.
    pub fn submit(
        &mut self,
        logs: &mut LogSet,
        now: Now,
        partition: PartitionIndex,
        ticket: Ticket,
        request: S::Request<'_>,
    ) {
        match index_of(partition).filter(|&index| index < self.shards.len()) {
            Some(index) => {
                self.shards[index].submit(logs, now, ticket, request);
                self.after(index);
            }
            None => self.answers.push((ticket, Answer::Refused(Refusal::NotCoordinator))),
        }
    }

    /// Writes the end of a producer's transaction into a shard's log; see [`ShardRuntime::append_marker`].
    ///
    /// # Errors
    /// What the log says.
    pub fn append_marker(
        &mut self,
        logs: &mut LogSet,
        now: Now,
        partition: PartitionIndex,
        producer: ProducerIdentity,
        marker: Marker,
        rule: MarkerEpoch,
    ) -> Result<Offset, AppendError> {
        let index = index_of(partition).filter(|&index| index < self.shards.len());
        let index = index.ok_or(AppendError::UnknownPartition)?;
        let appended = self.shards[index].append_marker(logs, now, producer, marker, rule);
        self.after(index);
        appended
    }

    /// Tells every shard of deleted topics; one that is being loaded hears of them when it is loaded, and one that could
    /// not write down what follows hears of them again.
    pub fn on_topics_deleted(&mut self, logs: &mut LogSet, now: Now, topics: &Arc<[DeletedTopic]>) {
        for index in 0..self.shards.len() {
            self.shards[index].on_topics_deleted(logs, now, topics);
            self.after(index);
        }
    }

    /// Appends every open batch. To be called right before a round begins.
    pub fn flush(&mut self, logs: &mut LogSet, now: Now) {
        for index in std::mem::take(&mut self.dirty) {
            self.is_dirty[index] = false;
            self.shards[index].flush(logs, now);
            self.after(index);
        }
    }

    /// Releases the answers whose records became durable. `advanced` are the partitions whose high watermark moved;
    /// those of other topics are passed over.
    pub fn on_durable(&mut self, logs: &LogSet, advanced: &[TopicPartition]) {
        let topic = self.topic;
        for id in advanced.iter().filter(|id| id.topic == topic) {
            let Some(index) = index_of(id.partition).filter(|&index| index < self.shards.len()) else {
                continue;
            };
            self.shards[index].on_durable(logs);
            self.after(index);
            if let Some(at) = self.load_waiting.iter().position(|&waiting| waiting == index) {
                self.load_waiting.remove(at);
                self.loading.push_back(index);
            }
        }
    }

    /// When [`Coordinators::on_deadline`] wants to be called next. Calling it earlier is harmless.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.iter().flatten().min().copied()
    }

    /// Time passed.
    pub fn on_deadline(&mut self, logs: &mut LogSet, now: Now) {
        for index in 0..self.shards.len() {
            if self.deadlines[index].is_some_and(|deadline| deadline <= now.monotonic) {
                self.shards[index].on_deadline(logs, now);
                self.after(index);
            }
        }
    }

    /// The connection of this ticket went: nobody wants the answer.
    pub fn forget(&mut self, ticket: Ticket) {
        if let Some(index) = self.shards.iter_mut().position(|shard| shard.forget(ticket)) {
            self.after(index);
        }
    }

    /// Stops serving all shards: every open ticket is refused with [`Refusal::NotCoordinator`]. For a clean stop the
    /// driver flushes and waits for the round first, so that parked answers still leave.
    pub fn close(&mut self) {
        self.loading.clear();
        self.load_waiting.clear();
        for index in 0..self.shards.len() {
            self.shards[index].close();
            self.after(index);
        }
    }

    /// Hands over the answers given since the last call, in the order in which they were given.
    pub fn drain_answers(&mut self) -> std::vec::Drain<'_, (Ticket, Answer<S::Reply>)> {
        self.answers.drain(..)
    }

    /// Hands over what the shards want done since the last call. An effect may come twice, never too early; what comes
    /// of it is submitted as a request.
    pub fn drain_effects(&mut self) -> std::vec::Drain<'_, S::Effect> {
        self.effects.drain(..)
    }

    /// Keeps the lists true after a shard was called.
    fn after(&mut self, index: usize) {
        let shard = &mut self.shards[index];
        shard.drain_answers(&mut self.answers);
        self.effects.extend(shard.drain_effects());
        self.counts.add(shard.take_counts());
        self.deadlines[index] = shard.next_deadline();
        if shard.has_open_batch() && !self.is_dirty[index] {
            self.is_dirty[index] = true;
            self.dirty.push(index);
        }
        if self.shards[index].status() == ShardStatus::Loading
            && !self.loading.contains(&index)
            && !self.load_waiting.contains(&index)
        {
            self.loading.push_back(index);
        }
    }
}

fn index_of(partition: PartitionIndex) -> Option<usize> {
    usize::try_from(partition.0).ok()
}
