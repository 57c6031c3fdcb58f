//! Shards, logs, a disk in memory and a clock that the test moves.

use milepost_batch::{BatchBuilder, BatchOptions, BatchView, Marker};
use milepost_log::{
    AppendOrigin, FirstBatch, IsolationLevel, LogKind, LogSet, LogSettings, MarkerEpoch, PartitionConfig,
};
use milepost_model::{
    DeletedTopic, Instant, Now, Offset, PartitionIndex, ProducerIdentity, Ticket, Timestamp, TopicId,
    TopicPartition, TransactionEnd, WithoutId,
};
use milepost_storage::{MemoryDisk, MemoryEngine, Space};

use super::counters::{Counters, Hard, Reply, Request};
use crate::{Answer, Coordinators, Settings, ShardStatus};

pub(super) const TOPIC: TopicId = TopicId([7; 16]);
pub(super) const SHARD: PartitionIndex = PartitionIndex(0);

/// A key and a value.
pub(super) type Record<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

pub(super) struct Rig {
    pub(super) disk: MemoryDisk,
    pub(super) logs: LogSet,
    pub(super) shards: Coordinators<Counters>,
    pub(super) now: Now,
    config: PartitionConfig,
    tickets: u64,
}

pub(super) fn id(partition: PartitionIndex) -> TopicPartition {
    TopicPartition { topic: TOPIC, partition }
}

/// A topic whose batches hold at most so many bytes.
pub(super) fn small(max_message_bytes: usize) -> PartitionConfig {
    PartitionConfig { max_message_bytes, ..PartitionConfig::default() }
}

fn open(disk: &MemoryDisk, now: Now) -> LogSet {
    let engine = MemoryEngine::open(disk).unwrap();
    LogSet::open(engine, LogSettings::default(), now).unwrap().0
}

impl Rig {
    /// Shards over empty logs, loaded.
    pub(super) fn new(shard_count: i32, settings: Settings) -> Self {
        Self::with_config(shard_count, settings, PartitionConfig::default())
    }

    /// Shards over empty logs of this configuration, loaded.
    pub(super) fn with_config(shard_count: i32, settings: Settings, config: PartitionConfig) -> Self {
        let mut rig = Self::unloaded(shard_count, settings, config);
        rig.load();
        rig
    }

    /// Shards over empty logs, still to be loaded.
    pub(super) fn unloaded(shard_count: i32, settings: Settings, config: PartitionConfig) -> Self {
        let disk = MemoryDisk::new();
        let now = Now { monotonic: Instant(1_000_000), wall: Timestamp(1_700_000_000_000) };
        let mut logs = open(&disk, now);
        for partition in (0..shard_count).map(PartitionIndex) {
            let directory = format!("__consumer_offsets-{partition}");
            logs.create_partition(id(partition), &directory, LogKind::Internal, config.clone()).unwrap();
        }
        let shards = Coordinators::new(TOPIC, shard_count, settings, |_| Counters::default());
        let mut rig = Self { disk, logs, shards, now, config, tickets: 0 };
        rig.round();
        rig
    }

    /// One shard with the default settings.
    pub(super) fn single() -> Self {
        Self::new(1, Settings::default())
    }

    /// The server stops at once and starts again on what was durable; the shards are to be loaded.
    pub(super) fn restart(self, settings: Settings) -> Self {
        let Self { disk, logs, shards, now, config, tickets } = self;
        let shard_count = shards.partition_count();
        disk.crash();
        drop(logs);
        let mut logs = open(&disk, now);
        for partition in (0..shard_count).map(PartitionIndex) {
            logs.configure(id(partition), LogKind::Internal, config.clone());
        }
        let shards = Coordinators::new(TOPIC, shard_count, settings, |_| Counters::default());
        Self { disk, logs, shards, now, config, tickets }
    }

    pub(super) fn load(&mut self) {
        while self.shards.has_load_work() {
            self.shards.load_step(&mut self.logs, self.now, 1);
        }
    }

    pub(super) fn submit(&mut self, request: Request<'_>) -> Ticket {
        self.submit_to(SHARD, request)
    }

    pub(super) fn submit_to(&mut self, partition: PartitionIndex, request: Request<'_>) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.shards.submit(&mut self.logs, self.now, partition, ticket, request);
        ticket
    }

    /// Everything a driver does for a round. With a disk that holds rounds back, nothing becomes durable by it.
    pub(super) fn round(&mut self) {
        self.shards.flush(&mut self.logs, self.now);
        self.logs.begin_round(self.now);
        self.poll();
    }

    pub(super) fn poll(&mut self) {
        let progress = self.logs.poll(self.now);
        self.shards.on_durable(&self.logs, &progress.advanced);
    }

    /// Tells the shards that a topic is gone; they keep a counter of its name.
    pub(super) fn delete_topic(&mut self, name: &str) {
        let topic = DeletedTopic { name: name.to_owned(), id: TopicId::ZERO, without_id: WithoutId::Goes };
        self.shards.on_topics_deleted(&mut self.logs, self.now, &[topic].into());
    }

    /// The disk is full, or has room again, and the logs notice.
    pub(super) fn set_space(&mut self, space: Space) {
        self.disk.set_space(space);
        self.poll();
    }

    /// The disk completes the round that it held back.
    pub(super) fn complete(&mut self) {
        self.disk.complete();
        self.poll();
    }

    pub(super) fn pass_ms(&mut self, ms: u64) {
        self.now.monotonic = self.now.monotonic.plus_ms(ms);
        self.now.wall = self.now.wall.plus_ms(ms as i64);
        self.shards.on_deadline(&mut self.logs, self.now);
    }

    pub(super) fn answers(&mut self) -> Vec<(Ticket, Answer<Reply>)> {
        self.shards.drain_answers().collect()
    }

    pub(super) fn effects(&mut self) -> Vec<String> {
        self.shards.drain_effects().collect()
    }

    pub(super) fn counted(&self) -> u64 {
        self.shards.counts().0
    }

    pub(super) fn high_watermark(&self, partition: PartitionIndex) -> Offset {
        self.logs.log(id(partition)).unwrap().high_watermark()
    }

    pub(super) fn shard(&self, partition: PartitionIndex) -> &Counters {
        let shard = self.shards.shards().find(|shard| shard.id().partition == partition).unwrap();
        assert_eq!(shard.status(), ShardStatus::Active);
        shard.shard().unwrap()
    }

    pub(super) fn hard(&self) -> Hard {
        self.shard(SHARD).hard.clone()
    }

    /// Writes the end of a producer's transaction.
    pub(super) fn marker(&mut self, producer: ProducerIdentity, end: TransactionEnd) -> Offset {
        let marker = Marker { end, coordinator_epoch: 1 };
        let rule = MarkerEpoch::AtLeastKnown;
        self.shards.append_marker(&mut self.logs, self.now, SHARD, producer, marker, rule).unwrap()
    }

    /// Appends a batch as if the coordinator had, but behind its back.
    pub(super) fn append(&mut self, options: BatchOptions, records: &[Record<'_>]) {
        let mut builder = BatchBuilder::new(options);
        for (key, value) in records {
            builder.append(self.now.wall, *key, *value, &[]).unwrap();
        }
        self.append_bytes(&builder.build(Offset::ZERO));
    }

    pub(super) fn append_bytes(&mut self, batch: &[u8]) {
        self.logs.append(id(SHARD), batch, AppendOrigin::Coordinator, self.now).unwrap();
    }

    /// The durable batches of the first shard.
    pub(super) fn with_batches<T>(&mut self, look: impl Fn(BatchView<'_>) -> T) -> Vec<T> {
        let mut seen = Vec::new();
        let mut next = Offset::ZERO;
        while next < self.high_watermark(SHARD) {
            let bytes = self
                .logs
                .read(id(SHARD), next, 1 << 20, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted)
                .unwrap();
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (batch, after) = BatchView::parse(rest).unwrap();
                seen.push(look(batch));
                next = batch.next_offset();
                rest = after;
            }
        }
        seen
    }
}
