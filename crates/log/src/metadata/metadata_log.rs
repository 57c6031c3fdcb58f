//! The metadata log over one internal partition.

use std::collections::VecDeque;
use std::sync::Arc;

use milepost_batch::{BatchBuilder, BatchError, BatchOptions, BatchView, BuilderFull};
use milepost_model::{DeletedTopic, Now, Offset, PartitionIndex, TopicId, TopicPartition, WithoutId};
use milepost_records::EncodeError;

use super::image::{InvalidRecord, MetadataChange, MetadataImage, MetadataRecord};
use crate::{
    AppendError, AppendOrigin, CleanupPolicy, FirstBatch, IsolationLevel, LogKind, LogSet, PartitionConfig,
    ReadError,
};

#[cfg(test)]
mod tests;

/// The partition of the metadata log. Its topic id is the one that Kafka reserves for its own metadata topic, so that
/// no topic can have it.
pub const METADATA_PARTITION: TopicPartition = TopicPartition {
    topic: TopicId([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    partition: PartitionIndex(0),
};

/// The folder of the metadata log.
pub const METADATA_DIRECTORY: &str = "__milepost_metadata-0";

/// How many proposals may wait for the disk at once.
pub const MAX_PENDING_PROPOSALS: usize = 1024;

/// About how many bytes are read at once when the log is loaded.
const LOAD_READ_BYTES: usize = 1 << 20;

/// Why a proposal was not taken. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ProposeError {
    /// It does not follow on what there is or is on its way. Check [`MetadataLog::is_pending`] before proposing.
    #[error(transparent)]
    Invalid(#[from] InvalidRecord),
    /// A string of it is too long to be stored.
    #[error(transparent)]
    TooLong(#[from] EncodeError),
    /// The records do not fit one batch.
    #[error("the records do not fit one batch")]
    TooLarge,
    /// More than [`MAX_PENDING_PROPOSALS`] wait.
    #[error("too many changes wait to be written")]
    Busy,
    /// The log refused.
    #[error(transparent)]
    Append(#[from] AppendError),
}

impl From<BuilderFull> for ProposeError {
    fn from(_: BuilderFull) -> Self {
        Self::TooLarge
    }
}

/// Why the metadata log could not be loaded. The server cannot start: it does not know which topics there are.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It is not there and cannot be created.
    #[error("the metadata log ({METADATA_DIRECTORY}) cannot be created: {0}")]
    Create(AppendError),
    /// Part of what it acknowledged is damaged.
    #[error("the metadata log ({METADATA_DIRECTORY}) is damaged: {reason}")]
    Offline {
        /// What is damaged.
        reason: String,
    },
    /// It cannot be read.
    #[error("the metadata log ({METADATA_DIRECTORY}) cannot be read at offset {offset}: {source}")]
    Read {
        /// The offset.
        offset: Offset,
        /// Why.
        source: ReadError,
    },
    /// A batch is damaged.
    #[error("the metadata log ({METADATA_DIRECTORY}) is damaged at offset {offset}: {reason}")]
    Damaged {
        /// The offset.
        offset: Offset,
        /// What is wrong there.
        reason: String,
    },
    /// A record cannot be understood.
    #[error("the metadata log ({METADATA_DIRECTORY}) cannot be understood at offset {offset}: {source}")]
    Invalid {
        /// The offset.
        offset: Offset,
        /// Why.
        source: InvalidRecord,
    },
}

/// The metadata log: the image of what is durable, and what is on its way there.
#[derive(Debug, Default)]
pub struct MetadataLog {
    image: MetadataImage,
    /// The image as it will be when everything on its way is durable. Proposals are checked against it, and nobody
    /// sees it.
    proposed: MetadataImage,
    pending: VecDeque<Proposal>,
    /// Topics whose deletion the log showed when it was loaded.
    deleted_before: Vec<DeletedTopic>,
}

#[derive(Debug)]
struct Proposal {
    last_offset: Offset,
    records: Vec<MetadataRecord>,
}

impl MetadataLog {
    /// Replays the log at start. In a new data folder the partition is created.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn load(logs: &mut LogSet) -> Result<Self, LoadError> {
        if logs.log(METADATA_PARTITION).is_none() {
            logs.create_partition(METADATA_PARTITION, METADATA_DIRECTORY, LogKind::Internal, config())
                .map_err(LoadError::Create)?;
            return Ok(Self::default());
        }
        if let Some(reason) = logs.log(METADATA_PARTITION).and_then(crate::PartitionLog::offline) {
            return Err(LoadError::Offline { reason: reason.to_owned() });
        }
        logs.configure(METADATA_PARTITION, LogKind::Internal, config());
        let mut image = MetadataImage::default();
        let mut deleted_before = Vec::new();
        let (mut next, end) = bounds(logs);
        while next < end {
            let bytes = logs
                .read(
                    METADATA_PARTITION,
                    next,
                    LOAD_READ_BYTES,
                    FirstBatch::AlwaysWhole,
                    IsolationLevel::ReadUncommitted,
                )
                .map_err(|source| LoadError::Read { offset: next, source })?;
            let after = replay_batches(&mut image, &mut deleted_before, next, &bytes)?;
            if after <= next {
                return Err(damaged(next, "there is no batch here, though the log does not end"));
            }
            next = after;
        }
        Ok(Self { proposed: image.clone(), image, pending: VecDeque::new(), deleted_before })
    }

    /// Hands over the topics whose deletion the log showed when it was loaded. A crash may have come before what was
    /// stored about them was removed. Only what names their identity is certainly theirs: names are used again. A
    /// deletion that compaction has gone over is long done with and is not among them.
    pub fn take_deleted_before(&mut self) -> Vec<DeletedTopic> {
        std::mem::take(&mut self.deleted_before)
    }

    /// What is durable.
    #[must_use]
    pub fn image(&self) -> &MetadataImage {
        &self.image
    }

    /// Whether a topic of this name is being created, changed or deleted.
    #[must_use]
    pub fn is_pending(&self, name: &str) -> bool {
        match (self.image.topic(name), self.proposed.topic(name)) {
            (None, None) => false,
            (Some(durable), Some(proposed)) => !Arc::ptr_eq(durable, proposed),
            _ => true,
        }
    }

    /// Whether what is set for a group is being changed.
    #[must_use]
    pub fn is_group_pending(&self, group: &str) -> bool {
        match (self.image.configs_of_group(group), self.proposed.configs_of_group(group)) {
            (None, None) => false,
            (Some(durable), Some(proposed)) => !Arc::ptr_eq(durable, proposed),
            _ => true,
        }
    }

    /// Whether anything is on its way.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The first producer id that is free when everything on its way is durable, for the next block.
    #[must_use]
    pub fn next_unproposed_producer_id(&self) -> milepost_model::ProducerId {
        self.proposed.next_producer_id()
    }

    /// Appends records as one batch: all of them happen, or none. They count once the high watermark is above the
    /// offset returned; [`MetadataLog::on_durable`] says so.
    ///
    /// # Errors
    /// [`ProposeError`].
    pub fn propose(
        &mut self,
        logs: &mut LogSet,
        records: Vec<MetadataRecord>,
        now: Now,
    ) -> Result<Offset, ProposeError> {
        if self.pending.len() >= MAX_PENDING_PROPOSALS {
            return Err(ProposeError::Busy);
        }
        let appended = self.try_propose(logs, &records, now);
        match appended {
            Ok(last_offset) => {
                self.pending.push_back(Proposal { last_offset, records });
                Ok(last_offset)
            }
            Err(error) => {
                self.withdraw();
                Err(error)
            }
        }
    }

    fn try_propose(
        &mut self,
        logs: &mut LogSet,
        records: &[MetadataRecord],
        now: Now,
    ) -> Result<Offset, ProposeError> {
        let mut batch = BatchBuilder::new(BatchOptions::coordinator(None));
        for record in records {
            self.proposed.replay(record)?;
            let (key, value) = record.encode()?;
            batch.append(now.wall, Some(&key), value.as_deref(), &[])?;
        }
        let (_, end) = bounds(logs);
        if batch.is_empty() {
            return Ok(end.plus(-1));
        }
        if batch.size_bytes() > PartitionConfig::default().max_message_bytes {
            return Err(ProposeError::TooLarge);
        }
        let appended = logs.append(METADATA_PARTITION, &batch.build(end), AppendOrigin::Coordinator, now)?;
        Ok(appended.last_offset)
    }

    /// The proposed image again, without what was just refused.
    fn withdraw(&mut self) {
        self.proposed = self.image.clone();
        for record in self.pending.iter().flat_map(|proposal| &proposal.records) {
            self.proposed.replay(record).expect("it followed when it was proposed");
        }
    }

    /// Applies what became durable, in order, and says what changed.
    pub fn on_durable(&mut self, logs: &LogSet) -> Vec<MetadataChange> {
        let Some(log) = logs.log(METADATA_PARTITION) else { return Vec::new() };
        let high_watermark = log.high_watermark();
        let mut changes = Vec::new();
        while let Some(proposal) = self.pending.pop_front_if(|proposal| proposal.last_offset < high_watermark)
        {
            for record in &proposal.records {
                changes.extend(self.image.replay(record).expect("it followed when it was proposed"));
            }
        }
        changes
    }
}

/// The settings of the log: of each topic its last record stays.
fn config() -> PartitionConfig {
    PartitionConfig { cleanup: CleanupPolicy::Compact, ..PartitionConfig::default() }
}

/// The log start and the log end. At start everything that is left is durable.
fn bounds(logs: &LogSet) -> (Offset, Offset) {
    logs.log(METADATA_PARTITION)
        .map_or((Offset::ZERO, Offset::ZERO), |log| (log.log_start_offset(), log.log_end_offset()))
}

fn replay_batches(
    image: &mut MetadataImage,
    deleted: &mut Vec<DeletedTopic>,
    from: Offset,
    mut bytes: &[u8],
) -> Result<Offset, LoadError> {
    let mut next = from;
    while !bytes.is_empty() {
        let (batch, rest) = BatchView::parse(bytes).map_err(|error| damaged(next, error))?;
        replay_batch(image, deleted, from, batch)?;
        next = next.max(batch.next_offset());
        bytes = rest;
    }
    Ok(next)
}

fn replay_batch(
    image: &mut MetadataImage,
    deleted: &mut Vec<DeletedTopic>,
    from: Offset,
    batch: BatchView<'_>,
) -> Result<(), LoadError> {
    let offset = batch.base_offset();
    let in_batch = |error: BatchError| damaged(offset, error);
    if !batch.crc_matches() {
        return Err(damaged(offset, "the checksum of the batch is wrong"));
    }
    let records = batch.records().map_err(in_batch)?;
    for record in &records {
        let record = record.map_err(in_batch)?;
        if record.offset < from {
            continue;
        }
        let change = MetadataRecord::decode(record.key, record.value)
            .and_then(|decoded| image.replay(&decoded))
            .map_err(|source| LoadError::Invalid { offset: record.offset, source })?;
        if let Some(MetadataChange::TopicDeleted(topic)) = change {
            let name = topic.name.clone();
            deleted.push(DeletedTopic { name, id: topic.id, without_id: WithoutId::Stays });
        }
    }
    Ok(())
}

fn damaged(offset: Offset, reason: impl std::fmt::Display) -> LoadError {
    LoadError::Damaged { offset, reason: reason.to_string() }
}
