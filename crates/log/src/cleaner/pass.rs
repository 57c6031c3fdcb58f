//! One pass over one log, a step at a time.

use milepost_batch::{BatchError, BatchView};
use milepost_model::{Now, Offset, Timestamp, TopicPartition};
use milepost_storage::{SegmentStore, StoreError};

use super::candidate::Candidate;
use super::filter::Filter;
use super::key_map::{Full, KeyMap};
use super::outputs::Outputs;
use super::transactions::{DataMet, PassedTransactions, Role};
use super::{Replacement, ReplacementStage};
use crate::error::ReadError;
use crate::partition::PartitionLog;
use crate::segment::{Segment, SegmentId};
use crate::settings::MAX_SEGMENT_BYTES;
use crate::transactions::AbortEntry;

/// Why a pass was given up. The log is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PassError {
    /// A source cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A batch is not what it should be. Nothing is thrown away that could not be read.
    #[error("the batch at offset {at} of {segment}: {reason}")]
    Batch { at: Offset, segment: Offset, reason: BatchError },
    /// The checksum of a batch is wrong.
    #[error("the batch at offset {0} has a wrong checksum")]
    Checksum(Offset),
    /// One batch has more keys than a pass remembers.
    #[error("the batch at offset {0} has more keys than the cleaner can remember")]
    TooManyKeys(Offset),
    /// A new file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PassError {
    /// Whether trying again later may help: the disk is full, for a new file or for what waits to be written before
    /// the log can be read.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Store(error) => matches!(error, StoreError::Full),
            Self::Read(error) => error.may_pass(),
            Self::Batch { .. } | Self::Checksum(_) | Self::TooManyKeys(_) => false,
        }
    }
}

/// How far a step came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PassProgress {
    /// There is more to do at once.
    More,
    /// New segments wait for a checkpoint, and for readers that hold the old ones.
    Publishing,
    Finished,
}

#[derive(Debug)]
enum Stage {
    /// The keys of the dirty sources are being noted.
    Mapping { source: usize, position: u64 },
    /// The sources below `group_end` are being written anew.
    Rewriting { source: usize, position: u64, group: std::ops::Range<usize>, outputs: Outputs },
    /// Their replacement waits in the partition.
    Publishing { next: usize },
}

/// A pass under way.
#[derive(Debug)]
pub(crate) struct Pass {
    id: TopicPartition,
    sources: Vec<SegmentId>,
    map: KeyMap,
    /// The generation of what it writes, which none of its sources has.
    generation: u32,
    /// The keys of all batches below are noted.
    map_end: Offset,
    /// What was met of transactions, first by the mapping and then by the rewriting.
    transactions: PassedTransactions,
    stage: Stage,
    decisions: Vec<bool>,
}

impl Pass {
    pub(crate) fn new(id: TopicPartition, candidate: Candidate, hash_key: u128, max_keys: usize) -> Self {
        let source = candidate.clean_count;
        Self {
            id,
            map_end: candidate.sources[source].base_offset,
            generation: unused_generation(&candidate.sources),
            sources: candidate.sources,
            map: KeyMap::new(hash_key, max_keys),
            transactions: PassedTransactions::default(),
            stage: Stage::Mapping { source, position: 0 },
            decisions: Vec::new(),
        }
    }

    /// The log it is about.
    pub(crate) fn id(&self) -> TopicPartition {
        self.id
    }

    /// Goes on by about `budget_bytes` of one source, at least a batch.
    pub(crate) fn step(
        &mut self,
        partition: &mut PartitionLog,
        store: &mut dyn SegmentStore,
        now: Now,
        budget_bytes: usize,
    ) -> Result<PassProgress, PassError> {
        match self.stage {
            Stage::Mapping { .. } => self.map_some(partition, store, budget_bytes),
            Stage::Rewriting { .. } => self.rewrite_some(partition, store, now.wall, budget_bytes),
            Stage::Publishing { .. } if partition.replacement.is_some() => Ok(PassProgress::Publishing),
            Stage::Publishing { next } if next == self.sources.len() => Ok(PassProgress::Finished),
            Stage::Publishing { next } => {
                self.begin_group(partition, next);
                Ok(PassProgress::More)
            }
        }
    }

    /// Gives the pass up. What waits for a checkpoint already stays with the partition.
    pub(crate) fn discard(self, store: &mut dyn SegmentStore) {
        if let Stage::Rewriting { outputs, .. } = self.stage {
            outputs.discard(store);
        }
    }

    fn map_some(
        &mut self,
        partition: &mut PartitionLog,
        store: &mut dyn SegmentStore,
        budget_bytes: usize,
    ) -> Result<PassProgress, PassError> {
        let Stage::Mapping { source, position } = &mut self.stage else { return Ok(PassProgress::More) };
        let segment = self.sources[*source];
        if *position == 0 {
            self.transactions.learn(aborted_in(partition, store, segment)?);
        }
        let bytes = partition.read_segment(store, segment, *position, budget_bytes)?;
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let batch;
            (batch, rest) = next_batch(rest, segment, self.map_end)?;
            let (role, _) = self.transactions.pass(&batch).map_err(|reason| at(&batch, segment, reason))?;
            if role == Role::Records && note_keys(&mut self.map, &batch, segment)? == Noted::UntilFull {
                return self.end_mapping(partition, batch.base_offset());
            }
            self.map_end = batch.next_offset();
        }
        *position += bytes.len() as u64;
        if bytes.is_empty() {
            (*source, *position) = (*source + 1, 0);
        }
        if *source == self.sources.len() {
            self.begin_rewriting(partition);
        }
        Ok(PassProgress::More)
    }

    /// The map is full: what lies from `end` on is left for another pass.
    fn end_mapping(&mut self, partition: &PartitionLog, end: Offset) -> Result<PassProgress, PassError> {
        let Stage::Mapping { source, .. } = self.stage else { return Ok(PassProgress::More) };
        self.map_end = end;
        let first_dirty = self.sources.iter().position(|segment| segment.generation == 0);
        if first_dirty == Some(source) && end <= self.sources[source].base_offset {
            return Err(PassError::TooManyKeys(end));
        }
        let is_untouched = end <= self.sources[source].base_offset;
        self.sources.truncate(if is_untouched { source } else { source + 1 });
        self.begin_rewriting(partition);
        Ok(PassProgress::More)
    }

    fn begin_rewriting(&mut self, partition: &PartitionLog) {
        self.transactions = PassedTransactions::default();
        self.begin_group(partition, 0);
    }

    /// Begins to write the sources from `first` on anew, as many as make about one segment.
    fn begin_group(&mut self, partition: &PartitionLog, first: usize) {
        let sizes = |source: &SegmentId| {
            let found = partition.segments.iter().find(|segment| segment.id == *source);
            found.map_or((0, Timestamp(0)), |segment| (segment.durable.log_bytes, segment.created))
        };
        let limit = partition.config.segment_bytes.min(MAX_SEGMENT_BYTES);
        let (mut bytes, mut created) = sizes(&self.sources[first]);
        let mut end = first + 1;
        while let Some(source) = self.sources.get(end) {
            let (more_bytes, later) = sizes(source);
            if bytes + more_bytes > limit {
                break;
            }
            bytes += more_bytes;
            created = created.max(later);
            end += 1;
        }
        let base = self.sources[first].base_offset;
        let outputs = Outputs::new(partition.directory.clone(), self.generation, self.map_end, base, created);
        self.stage = Stage::Rewriting { source: first, position: 0, group: first..end, outputs };
    }

    fn rewrite_some(
        &mut self,
        partition: &mut PartitionLog,
        store: &mut dyn SegmentStore,
        now: Timestamp,
        budget_bytes: usize,
    ) -> Result<PassProgress, PassError> {
        let Stage::Rewriting { source, position, group, outputs } = &mut self.stage else {
            return Ok(PassProgress::More);
        };
        if *source == group.end {
            let added = outputs.finish(store)?;
            let removed = self.sources[group.clone()].to_vec();
            partition.replacement = Some(Replacement { removed, added, stage: ReplacementStage::Written });
            self.stage = Stage::Publishing { next: group.end };
            return Ok(PassProgress::Publishing);
        }
        let segment = self.sources[*source];
        if *position == 0 {
            self.transactions.learn(aborted_in(partition, store, segment)?);
        }
        let bytes = partition.read_segment(store, segment, *position, budget_bytes)?;
        let filter = Filter {
            map: &self.map,
            map_end: self.map_end,
            producers: &partition.producers,
            durable_end: partition.high_watermark,
            stable_end: partition.last_stable_offset(),
            now,
            delete_retention_ms: partition.config.delete_retention_ms,
        };
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let batch;
            (batch, rest) = next_batch(rest, segment, segment.base_offset)?;
            let bad = |reason| at(&batch, segment, reason);
            let (role, aborted) = self.transactions.pass(&batch).map_err(bad)?;
            if let Some(kept) = filter.apply(&batch, role, &mut self.decisions).map_err(bad)? {
                let (kept, _) = BatchView::parse(&kept).map_err(bad)?;
                // Once no data was met there is nothing that a reader must be told to skip.
                let told = aborted.filter(|_| role == Role::Marker(DataMet::Some));
                outputs.push(store, &kept, told, &partition.config)?;
            }
        }
        outputs.write(store)?;
        *position += bytes.len() as u64;
        if bytes.is_empty() {
            (*source, *position) = (*source + 1, 0);
        }
        Ok(PassProgress::More)
    }
}

/// The smallest generation that none of these has. Nearly always 1 or 2, because a whole pass leaves only its own.
fn unused_generation(sources: &[SegmentId]) -> u32 {
    (1..).find(|generation| sources.iter().all(|source| source.generation != *generation)).unwrap_or(u32::MAX)
}

#[derive(PartialEq, Eq)]
enum Noted {
    All,
    UntilFull,
}

fn note_keys(map: &mut KeyMap, batch: &BatchView<'_>, segment: SegmentId) -> Result<Noted, PassError> {
    for record in &batch.records().map_err(|reason| at(batch, segment, reason))? {
        let record = record.map_err(|reason| at(batch, segment, reason))?;
        if let Some(key) = record.key
            && map.insert(key, record.offset) == Err(Full)
        {
            return Ok(Noted::UntilFull);
        }
    }
    Ok(Noted::All)
}

/// The aborted transactions that reach into a segment. The markers of some lie in later ones.
fn aborted_in(
    partition: &mut PartitionLog,
    store: &mut dyn SegmentStore,
    segment: SegmentId,
) -> Result<Vec<AbortEntry>, PassError> {
    let index = partition.segment_index(segment).ok_or(ReadError::UnknownPartition)?;
    let end = partition.segments.get(index + 1).map_or(partition.log_end, Segment::base_offset);
    Ok(partition.aborted_between(store, segment.base_offset, end)?)
}

/// The first batch of some bytes of a segment, with its checksum checked.
fn next_batch(
    bytes: &[u8],
    segment: SegmentId,
    expected: Offset,
) -> Result<(BatchView<'_>, &[u8]), PassError> {
    let (batch, rest) = BatchView::parse(bytes).map_err(|reason| PassError::Batch {
        at: expected,
        segment: segment.base_offset,
        reason,
    })?;
    if batch.crc_matches() { Ok((batch, rest)) } else { Err(PassError::Checksum(batch.base_offset())) }
}

fn at(batch: &BatchView<'_>, segment: SegmentId, reason: BatchError) -> PassError {
    PassError::Batch { at: batch.base_offset(), segment: segment.base_offset, reason }
}
