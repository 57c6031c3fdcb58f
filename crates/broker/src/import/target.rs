//! The second pass: a data folder like any other, written through the log like any other.
//!
//! First the batches, partition by partition; then, when all of it is durable, the records that make the topics exist.
//! A start of the server on a folder without those removes the partitions: nothing is ever half there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use milepost_batch::{BatchBuilder, BatchOptions, BatchView, Retained, retain_records, stamp};
use milepost_log::metadata::{
    MetadataLog, MetadataRecord, Topic, new_offsets_topic, offsets_partition_config,
};
use milepost_log::{AppendOrigin, FirstBatch, IsolationLevel, LogKind, LogSet, PartitionConfig};
use milepost_model::{LeaderEpoch, Now, Offset, ProducerId, Timestamp, TopicPartition};
use milepost_storage::{FlushMode, LocalEngine, LocalSettings};

use super::batches::Batches;
use super::error::{of_append, of_read};
use super::source::{Source, SourcePartition, SourceTopic};
use super::survey::Survey;
use super::{ImportError, Progress, Stage};
use crate::config::{BrokerSettings, broker_setting};
use crate::random::{self, Random};
use crate::storage::log_settings;

/// Bytes that may wait for a round.
const ROUND_BYTES: u64 = 4 << 20;
/// Topics that one batch of metadata makes.
const TOPICS_PER_BATCH: usize = 500;
/// How far above the producers that are known new ones begin: brokers hold ids in blocks of 1000 that no record shows
/// yet, and the producers that hold those may go on here.
const PRODUCER_ID_GAP: i64 = 1_000_000;

/// Time, randomness, and who is told of the progress.
pub(super) struct Surroundings<'a> {
    pub(super) clock: &'a dyn Fn() -> Now,
    pub(super) random: &'a mut dyn Random,
    pub(super) tell: &'a mut dyn FnMut(Progress),
}

struct Target<'a> {
    logs: LogSet,
    metadata: MetadataLog,
    clock: &'a dyn Fn() -> Now,
    waiting_bytes: u64,
}

/// Writes all of it and stops cleanly.
pub(super) fn write(
    folder: &Path,
    source: &Source,
    survey: &Survey,
    settings: &BrokerSettings,
    surroundings: Surroundings<'_>,
) -> Result<(), ImportError> {
    let Surroundings { clock, random, tell } = surroundings;
    let mut target = Target::open(folder, survey, settings, clock)?;
    let topics = topics(source, settings, random);
    let mut progress = Progress { stage: Stage::Writing, partitions: 0, of: survey.partitions, bytes: 0 };
    for (from, topic) in source.all().zip(&topics) {
        for ((id, directory), partition) in topic.partitions().zip(&from.partitions) {
            progress.bytes += target.copy(topic, id, &directory, partition)?;
            progress.partitions += 1;
            tell(progress);
        }
    }
    target.settle("the partitions")?;
    for (from, topic) in source.all().zip(&topics) {
        target.advance_log_starts(from, topic)?;
    }
    target.settle("the partitions")?;
    let cluster_id = source.cluster_id.clone().unwrap_or_else(|| random::uuid(random).to_string());
    target.make_topics(topics, cluster_id, survey.highest_producer)?;
    target.stop()
}

/// The topics as they will be, with the identities they had; that of committed offsets first.
fn topics(source: &Source, settings: &BrokerSettings, random: &mut dyn Random) -> Vec<Topic> {
    let segment_bytes = settings.values.get(broker_setting("offsets.topic.segment.bytes")).0;
    let count =
        |topic: &SourceTopic| i32::try_from(topic.partitions.len()).expect("folders are numbered in 31 bits");
    let mut id_of = |topic: &SourceTopic| topic.id.unwrap_or_else(|| random::uuid(random));
    let offsets = &source.offsets;
    let mut topics = vec![new_offsets_topic(id_of(offsets), count(offsets), segment_bytes)];
    topics.extend(source.topics.iter().map(|topic| Topic {
        id: id_of(topic),
        name: topic.name.clone(),
        partition_count: count(topic),
        replication_factor: 1,
        is_internal: false,
        // What was set for the topic is not in these folders. Nothing may be deleted because of that.
        configs: BTreeMap::from([("retention.ms".to_owned(), "-1".to_owned())]),
    }));
    topics
}

impl<'a> Target<'a> {
    /// Opens the folder, under a leader epoch above all that the source knows.
    fn open(
        folder: &Path,
        survey: &Survey,
        settings: &BrokerSettings,
        clock: &'a dyn Fn() -> Now,
    ) -> Result<Self, ImportError> {
        let highest = survey.highest_epoch.map_or(0, |epoch| epoch.0.max(0));
        let local = LocalSettings {
            flush: FlushMode::Inline,
            least_epoch: u32::try_from(highest).expect("it is not negative") + 1,
            ..LocalSettings::default()
        };
        let engine = LocalEngine::open_folder(folder, local)?.engine;
        let (mut logs, _) = LogSet::open(engine, log_settings(settings), clock())?;
        let metadata = MetadataLog::load(&mut logs)?;
        if metadata.image().topics().next().is_some() || metadata.image().cluster_id().is_some() {
            return Err(ImportError::NotEmpty(folder.to_owned()));
        }
        Ok(Self { logs, metadata, clock, waiting_bytes: 0 })
    }

    /// Copies a partition's batches from where an earlier attempt ended. Returns the bytes of all of them.
    fn copy(
        &mut self,
        topic: &Topic,
        id: TopicPartition,
        directory: &str,
        from: &SourcePartition,
    ) -> Result<u64, ImportError> {
        let (kind, config) = if topic.is_internal {
            (LogKind::Internal, offsets_partition_config(topic))
        } else {
            (LogKind::User, PartitionConfig::default())
        };
        self.logs.create_partition(id, directory, kind, config).map_err(of_append(directory))?;
        let done = self.log_end(id);
        let mut epoch = LeaderEpoch(0);
        let mut bytes = 0;
        let mut batches = Batches::open(from)?;
        while let Some((batch, _)) = batches.next_batch()? {
            bytes += batch.size_bytes() as u64;
            epoch = batch.leader_epoch().max(epoch);
            if batch.base_offset() >= done {
                self.append(id, batch.bytes(), directory)?;
            } else if batch.next_offset() >= done {
                self.check_same(id, batch, directory)?;
            }
        }
        let end = batches.end();
        if self.log_end(id) < end {
            self.append(id, &filler(end.plus(-1), epoch), directory)?;
        }
        Ok(bytes)
    }

    fn append(&mut self, id: TopicPartition, batch: &[u8], place: &str) -> Result<(), ImportError> {
        let now = (self.clock)();
        self.logs.append(id, batch, AppendOrigin::OtherBroker, now).map_err(of_append(place))?;
        self.waiting_bytes += batch.len() as u64;
        if self.waiting_bytes >= ROUND_BYTES {
            self.settle(place)?;
        }
        Ok(())
    }

    /// What an earlier attempt wrote must be of the same data: its last batch is.
    fn check_same(
        &mut self,
        id: TopicPartition,
        batch: BatchView<'_>,
        place: &str,
    ) -> Result<(), ImportError> {
        let offset = batch.base_offset();
        let present = self.logs.read(
            id,
            offset,
            batch.size_bytes(),
            FirstBatch::AlwaysWhole,
            IsolationLevel::ReadUncommitted,
        );
        if present.map_err(of_read(place))?.starts_with(batch.bytes()) {
            return Ok(());
        }
        Err(ImportError::OtherData { place: place.to_owned(), offset })
    }

    /// Cuts off what the source's logs do not show any more.
    fn advance_log_starts(&mut self, from: &SourceTopic, topic: &Topic) -> Result<(), ImportError> {
        for ((id, directory), partition) in topic.partitions().zip(&from.partitions) {
            let start = Batches::open(partition)?.log_start().min(self.log_end(id));
            self.logs.advance_log_start(id, start).map_err(of_read(&directory))?;
        }
        Ok(())
    }

    /// The last word: from here on the topics exist. That of committed offsets comes last, and the cluster's id with it.
    fn make_topics(
        &mut self,
        topics: Vec<Topic>,
        cluster_id: String,
        highest_producer: Option<ProducerId>,
    ) -> Result<(), ImportError> {
        let mut records: Vec<_> =
            topics.into_iter().rev().map(|topic| MetadataRecord::Topic(Arc::new(topic))).collect();
        if let Some(highest) = highest_producer {
            let next_producer_id = ProducerId(highest.0.saturating_add(PRODUCER_ID_GAP));
            records.insert(0, MetadataRecord::ProducerIdBlock { next_producer_id });
        }
        records.push(MetadataRecord::ClusterId(cluster_id));
        for batch in records.chunks(TOPICS_PER_BATCH) {
            self.metadata.propose(&mut self.logs, batch.to_vec(), (self.clock)())?;
        }
        self.settle("the metadata")
    }

    /// Takes turns until everything that was appended is durable.
    fn settle(&mut self, place: &str) -> Result<(), ImportError> {
        self.waiting_bytes = 0;
        loop {
            self.turn(place)?;
            if !self.logs.has_work() && !self.logs.is_flushing() {
                return Ok(());
            }
            if self.logs.space() == milepost_log::Space::Full {
                return Err(ImportError::write(place, "the disk is full"));
            }
        }
    }

    fn turn(&mut self, place: &str) -> Result<(), ImportError> {
        let now = (self.clock)();
        self.logs.poll(now);
        self.logs.begin_round(now);
        self.logs.poll(now);
        self.metadata.on_durable(&self.logs);
        match self.logs.poisoned() {
            Some(reason) => Err(ImportError::write(place, reason)),
            None => Ok(()),
        }
    }

    /// A last checkpoint, so that the server's start has nothing to replay.
    fn stop(mut self) -> Result<(), ImportError> {
        self.logs.begin_clean_stop((self.clock)());
        while !self.logs.is_cleanly_stopped() {
            self.turn("the checkpoint")?;
            std::thread::yield_now();
        }
        Ok(())
    }

    fn log_end(&self, id: TopicPartition) -> Offset {
        self.logs.log(id).expect("it was created").log_end_offset()
    }
}

/// A batch of no records at `offset`, as Kafka's cleaner keeps them: the log ends after it. A log whose records are all
/// gone still ends where it ended.
fn filler(offset: Offset, epoch: LeaderEpoch) -> Vec<u8> {
    let mut builder = BatchBuilder::new(BatchOptions::default());
    builder.append(Timestamp(0), Some(&[]), None, &[]).expect("an empty record fits");
    let mut batch = builder.build(offset);
    stamp(&mut batch, offset, epoch);
    let (view, _) = BatchView::parse(&batch).expect("it was just built");
    match retain_records(&view, None, |_| false).expect("it was just built") {
        Retained::Rewritten(empty) => empty,
        Retained::Unchanged => unreachable!("its record was not kept"),
    }
}
