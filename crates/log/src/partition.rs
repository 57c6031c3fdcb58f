//! One partition's log: its segments, offsets, producers and leader epochs, and the runs that wait for a round.
//!
//! A batch is *accepted* at once: it gets its offsets, counts for the producer's next sequence number, and joins the
//! run at the end. It is *written* when a round takes the run, and *durable*, and only then visible to readers, when
//! the round is. [`crate::LogSet`] drives the three; nothing else changes a log.

use std::collections::VecDeque;
use std::sync::Arc;

use milepost_batch::BatchView;
use milepost_model::{LeaderEpoch, Offset, ProducerId, ProducerIdentity, Timestamp, TopicPartition};
use milepost_storage::Entry;

use crate::cleaner::{Replacement, ReplacementStage};
use crate::leader_epochs::{EpochStart, LeaderEpochs};
use crate::logset::Unwritten;
use crate::producer_state::{ActiveProducer, ProducerStates};
use crate::segment::{BatchShape, Extent, Segment, SegmentId};
use crate::settings::{LogKind, PartitionConfig};

/// Consecutive batches of one segment that are written together.
#[derive(Debug)]
pub(crate) struct DataRun {
    pub(crate) segment: SegmentId,
    /// The segment begins with this run: its journal entry goes just before, in the same round.
    pub(crate) opens_segment: bool,
    /// Where the run begins in the segment's `.log` file.
    pub(crate) position: u64,
    pub(crate) batches: Vec<u8>,
    /// The segment and the log as they are after the run.
    pub(crate) end: Extent,
    pub(crate) end_offset: Offset,
}

/// What becomes true when a journal entry without batches is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Created,
    LogStart(Offset),
    SegmentsRemoved(Vec<SegmentId>),
    Deleted,
}

/// What waits for a round, in order.
#[derive(Debug)]
pub(crate) enum Run {
    Data(DataRun),
    Change { entry: Entry, effect: Effect },
}

impl Run {
    pub(crate) fn size_bytes(&self) -> u64 {
        match self {
            Self::Data(run) => run.batches.len() as u64,
            Self::Change { entry, .. } => entry.payload.len() as u64,
        }
    }

    /// Whether it gives space back, and so may be written on a full disk.
    pub(crate) fn frees_space(&self) -> bool {
        match self {
            Self::Data(_) | Self::Change { effect: Effect::Created, .. } => false,
            Self::Change {
                effect: Effect::LogStart(_) | Effect::SegmentsRemoved(_) | Effect::Deleted,
                ..
            } => true,
        }
    }
}

/// One partition's log.
#[derive(Debug)]
pub struct PartitionLog {
    pub(crate) id: TopicPartition,
    pub(crate) directory: Arc<str>,
    pub(crate) kind: LogKind,
    pub(crate) config: PartitionConfig,
    pub(crate) segments: VecDeque<Segment>,
    pub(crate) log_start: Offset,
    pub(crate) high_watermark: Offset,
    pub(crate) log_end: Offset,
    pub(crate) producers: ProducerStates,
    pub(crate) epochs: LeaderEpochs,
    pub(crate) pending: VecDeque<Run>,
    /// Whether the partition stands in one of the lanes for the next round.
    pub(crate) in_lane: bool,
    /// Its creation is durable.
    pub(crate) created: bool,
    /// Its deletion waits to become durable; nobody sees it any more.
    pub(crate) deleting: bool,
    pub(crate) offline: Option<String>,
    /// Where the last read ended, for the consumer that goes on from there.
    pub(crate) next_read: Option<(Offset, SegmentId, u64)>,
    /// What rounds took and is not in its segment files yet.
    pub(crate) unwritten: Unwritten,
    /// New segments of the cleaner that wait to take the place of old ones.
    pub(crate) replacement: Option<Replacement>,
    /// Readers under whom no segment may be swapped.
    pub(crate) pins: u32,
    /// Up to where somebody wants it cleaned, whatever its settings say.
    pub(crate) cleaning_wanted: Option<Offset>,
    /// Why the cleaner leaves it alone, if it does.
    pub(crate) uncleanable: Option<String>,
}

impl PartitionLog {
    pub(crate) fn new(
        id: TopicPartition,
        directory: Arc<str>,
        kind: LogKind,
        config: PartitionConfig,
    ) -> Self {
        Self {
            id,
            directory,
            kind,
            config,
            segments: VecDeque::new(),
            log_start: Offset::ZERO,
            high_watermark: Offset::ZERO,
            log_end: Offset::ZERO,
            producers: ProducerStates::default(),
            epochs: LeaderEpochs::default(),
            pending: VecDeque::new(),
            in_lane: false,
            created: false,
            deleting: false,
            offline: None,
            next_read: None,
            unwritten: Unwritten::default(),
            replacement: None,
            pins: 0,
            cleaning_wanted: None,
            uncleanable: None,
        }
    }

    /// Which partition it is.
    #[must_use]
    pub fn id(&self) -> TopicPartition {
        self.id
    }

    /// The folder of its segments, below the data folder.
    #[must_use]
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// Whether it is one of the server's own.
    #[must_use]
    pub fn kind(&self) -> LogKind {
        self.kind
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &PartitionConfig {
        &self.config
    }

    /// The first offset that may be read. Never goes back.
    #[must_use]
    pub fn log_start_offset(&self) -> Offset {
        self.log_start
    }

    /// The durable end: everything below is there after any crash, and nothing else is shown. Never goes back.
    #[must_use]
    pub fn high_watermark(&self) -> Offset {
        self.high_watermark
    }

    /// The offset that the next batch gets. What lies between the high watermark and here may still be lost.
    #[must_use]
    pub fn log_end_offset(&self) -> Offset {
        self.log_end
    }

    /// The end of what readers of committed records see: the high watermark, or the first offset of the earliest
    /// transaction that is open or whose marker is not durable yet. Never goes back.
    #[must_use]
    pub fn last_stable_offset(&self) -> Offset {
        let first_unstable = self.producers.first_unstable(self.high_watermark);
        // A transaction may reach below a log start that was raised meanwhile.
        first_unstable.map_or(self.high_watermark, |first| first.max(self.log_start).min(self.high_watermark))
    }

    /// Where the transaction began that a producer of this epoch has open, with all that was accepted, durable or not.
    #[must_use]
    pub fn ongoing_transaction(&self, producer: ProducerIdentity) -> Option<Offset> {
        self.producers.ongoing_transaction(producer)
    }

    /// Whether anything is known of a producer, with all that was accepted. Of an unknown one a batch with any sequence
    /// number is accepted.
    #[must_use]
    pub fn knows_producer(&self, producer: ProducerId) -> bool {
        self.producers.knows(producer)
    }

    /// Bytes of all segments below the high watermark.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.durable.log_bytes).sum()
    }

    /// The number of segments that hold durable batches.
    #[must_use]
    pub fn segment_count(&self) -> usize {
        self.segments.iter().filter(|segment| segment.durable.log_bytes > 0).count()
    }

    /// Whether its creation is durable.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.created
    }

    /// Why it is held offline, if it is.
    #[must_use]
    pub fn offline(&self) -> Option<&str> {
        self.offline.as_deref()
    }

    /// Whether a cleaning that was asked for is still to be done.
    #[must_use]
    pub fn is_cleaning_wanted(&self) -> bool {
        self.cleaning_wanted.is_some()
    }

    /// Why the cleaner leaves it alone, if it does: something in it cannot be read.
    #[must_use]
    pub fn uncleanable(&self) -> Option<&str> {
        self.uncleanable.as_deref()
    }

    /// The leader epochs with their first offsets, in order.
    #[must_use]
    pub fn leader_epochs(&self) -> &[EpochStart] {
        self.epochs.entries()
    }

    /// The producers that are remembered, in the order of their ids.
    pub fn active_producers(&self) -> impl Iterator<Item = ActiveProducer> {
        self.producers.durable_at(self.high_watermark).map(|(id, producer)| ActiveProducer::new(id, producer))
    }

    /// The epoch that wrote the record at `offset`, if it is known.
    #[must_use]
    pub fn epoch_at(&self, offset: Offset) -> Option<LeaderEpoch> {
        self.epochs.epoch_at(offset)
    }

    /// The largest leader epoch not above `epoch` and where it ended, as OffsetForLeaderEpoch asks (KIP-101); the
    /// last epoch ends at the high watermark. `None` above the last epoch.
    #[must_use]
    pub fn end_offset_for_epoch(&self, epoch: LeaderEpoch) -> Option<(LeaderEpoch, Offset)> {
        self.epochs.end_offset_for(epoch, self.high_watermark)
    }

    /// Begins a segment at `base_offset`; the one before is sealed.
    pub(crate) fn add_segment(&mut self, id: SegmentId, now: Timestamp) {
        if let Some(last) = self.segments.back_mut() {
            last.seal();
        }
        self.segments.push_back(Segment::new(id, now));
    }

    /// Seals the last segment if there is anything in it: what comes next begins a new one.
    pub(crate) fn roll_now(&mut self, now: Timestamp) {
        if self.segments.back().is_some_and(|last| last.accepted.log_bytes > 0) {
            self.add_segment(SegmentId { base_offset: self.log_end, generation: 0 }, now);
        }
    }

    /// The segments as the next checkpoint must name them.
    pub(crate) fn checkpointed_segments(&self) -> impl Iterator<Item = &Segment> + Clone {
        let (removed, added) = match &self.replacement {
            Some(replacement) => (&replacement.removed[..], &replacement.added[..]),
            None => (&[][..], &[][..]),
        };
        let first_removed = removed.first().map(|first| first.base_offset);
        let is_before =
            move |segment: &&Segment| first_removed.is_none_or(|first| segment.base_offset() < first);
        let before = self.segments.iter().filter(is_before);
        let after =
            self.segments.iter().filter(move |segment| !is_before(segment) && !removed.contains(&segment.id));
        before.chain(added).chain(after)
    }

    /// The checkpoint that is begun now names what the cleaner wrote.
    pub(crate) fn replacement_enters_checkpoint(&mut self) {
        if let Some(replacement) = &mut self.replacement
            && replacement.stage == ReplacementStage::Written
        {
            replacement.stage = ReplacementStage::InCheckpoint;
        }
    }

    /// The checkpoint failed: the old segments are still the ones that count.
    pub(crate) fn replacement_left_checkpoint(&mut self) {
        if let Some(replacement) = &mut self.replacement
            && replacement.stage == ReplacementStage::InCheckpoint
        {
            replacement.stage = ReplacementStage::Written;
        }
    }

    /// All segments with files, those of the cleaner among them.
    pub(crate) fn all_segments_mut(&mut self) -> impl Iterator<Item = &mut Segment> {
        let added = self.replacement.as_mut().map(|replacement| replacement.added.iter_mut());
        self.segments.iter_mut().chain(added.into_iter().flatten())
    }

    /// Whether something dirty is not cleanable only for now: not durable yet, above an open transaction, or held by a
    /// reader.
    pub(crate) fn must_wait_for_cleaning(&self) -> bool {
        let sealed = self.segments.len().saturating_sub(1);
        let is_dirty = |segment: &Segment| segment.id.generation == 0 && segment.accepted.log_bytes > 0;
        self.segments.iter().take(sealed).any(is_dirty)
            && (self.pins > 0 || self.replacement.is_some() || self.last_stable_offset() < self.log_end)
    }

    /// Whether a sealed segment that begins below `end` was not cleaned yet.
    pub(crate) fn is_dirty_below(&self, end: Offset) -> bool {
        let sealed = self.segments.len().saturating_sub(1);
        self.segments
            .iter()
            .take(sealed)
            .any(|segment| segment.id.generation == 0 && segment.base_offset() < end)
    }

    /// Accepts one batch whose header is final: segment, indexes, epochs, log end. The same for a batch that was
    /// just appended and for one that recovery found in the journal. The caller made room for it in the last segment.
    pub(crate) fn accept(&mut self, batch: &BatchView<'_>) -> Accepted {
        let segment = self.segments.back_mut().expect("a segment was added before the first batch");
        let position = segment.accepted.log_bytes;
        let max_timestamp = batch.max_timestamp();
        let shape = BatchShape {
            last_offset: batch.last_offset(),
            max_timestamp: (max_timestamp >= Timestamp(0)).then_some(max_timestamp),
            size_bytes: batch.size_bytes() as u64,
        };
        segment.accept(shape, self.config.index_interval_bytes);
        if let Some(aborted) = self.producers.accept(batch, self.high_watermark) {
            segment.note_aborted(aborted);
        }
        self.epochs.assign(batch.leader_epoch(), batch.base_offset());
        self.log_end = batch.next_offset();
        Accepted { segment: segment_id(&self.segments), position, end: self.last_extent() }
    }

    /// Everything below `end` is durable.
    pub(crate) fn raise_high_watermark(&mut self, end: Offset) {
        self.high_watermark = end;
        self.producers.on_durable(end);
    }

    fn last_extent(&self) -> Extent {
        self.segments.back().map(|segment| segment.accepted).unwrap_or_default()
    }

    /// The segment of this name. Nearly always one of the last.
    pub(crate) fn segment_mut(&mut self, id: SegmentId) -> Option<&mut Segment> {
        self.segments.iter_mut().rev().find(|segment| segment.id == id)
    }

    /// Where a segment of this name stands.
    pub(crate) fn segment_index(&self, id: SegmentId) -> Option<usize> {
        self.segments.iter().rposition(|segment| segment.id == id)
    }
}

/// Where an accepted batch lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    pub(crate) segment: SegmentId,
    pub(crate) position: u64,
    pub(crate) end: Extent,
}

fn segment_id(segments: &VecDeque<Segment>) -> SegmentId {
    segments.back().expect("a batch was just accepted there").id
}
