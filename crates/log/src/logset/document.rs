//! The checkpoint document: what is durable in the segment files, to the byte. The engine adds a checksum.
//!
//! Layout, big-endian: version u16, covered round u64, partitions (u32 count, then each: topic id 16 bytes, partition
//! i32, kind u8, offline text or absent, directory, log start i64, end offset i64, segments, leader epochs,
//! producers). A text is u16 length and bytes; what may be absent is a presence byte and the number, 0 then; a list is a
//! u32 count and its elements.
//!
//! Version 1 knew no transactions: its segments have no count of aborted ones, and its producers are only a list of
//! batches, each with its epoch. It is still read.

use std::sync::Arc;

use milepost_batch::sequence_minus;
use milepost_model::{
    LeaderEpoch, Offset, PartitionIndex, ProducerEpoch, ProducerId, Timestamp, TopicId, TopicPartition,
};
use milepost_storage::RoundNumber;

use super::entries::{kind_byte, kind_of, put_segment, take_segment};
use crate::bytes_io::{FieldReader, FieldWriter, Malformed};
use crate::error::OpenError;
use crate::leader_epochs::EpochStart;
use crate::partition::PartitionLog;
use crate::producer_state::{ProducerStep, ProducerView};
use crate::segment::{Extent, SegmentId};
use crate::settings::LogKind;

/// A version that is read. The last is the one that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Version {
    WithoutTransactions = 1,
    WithTransactions = 2,
}

const VERSION: Version = Version::WithTransactions;

/// What a checkpoint says of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartitionImage {
    pub(super) id: TopicPartition,
    pub(super) kind: LogKind,
    pub(super) offline: Option<String>,
    pub(super) directory: Arc<str>,
    pub(super) log_start: Offset,
    pub(super) end_offset: Offset,
    pub(super) segments: Vec<(SegmentId, Extent)>,
    pub(super) epochs: Vec<EpochStart>,
    /// The last batches of each, and last a step that says how it stood.
    pub(super) producers: Vec<(ProducerId, Vec<ProducerStep>)>,
}

/// A whole checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Document {
    /// Every round up to and including this one is covered.
    pub(super) covered: RoundNumber,
    pub(super) partitions: Vec<PartitionImage>,
}

impl Document {
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, OpenError> {
        let mut fields = FieldReader(bytes);
        let version = match fields.u16().map_err(damaged)? {
            1 => Version::WithoutTransactions,
            2 => Version::WithTransactions,
            found => return Err(OpenError::Version { found, expected: VERSION as u16 }),
        };
        Self::decode_body(&mut fields, version).map_err(damaged)
    }

    fn decode_body(fields: &mut FieldReader<'_>, version: Version) -> Result<Self, Malformed> {
        let covered = RoundNumber(fields.u64()?);
        let partitions = fields.list(|fields| take_partition(fields, version))?;
        fields.end()?;
        Ok(Self { covered, partitions })
    }
}

fn damaged(Malformed(reason): Malformed) -> OpenError {
    OpenError::Checkpoint(reason)
}

/// Writes a document from the live partitions, as of their high watermarks.
pub(super) struct DocumentWriter {
    fields: FieldWriter,
    count_at: usize,
    count: u32,
}

impl DocumentWriter {
    pub(super) fn new(covered: RoundNumber) -> Self {
        let mut fields = FieldWriter::default();
        fields.u16(VERSION as u16);
        fields.u64(covered.0);
        let count_at = fields.0.len();
        fields.u32(0);
        Self { fields, count_at, count: 0 }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.fields.0[self.count_at..self.count_at + 4].copy_from_slice(&self.count.to_be_bytes());
        self.fields.0
    }

    /// Adds what is durable of a partition. No round may be in flight: then what is written is what is durable.
    pub(super) fn add(&mut self, partition: &PartitionLog) {
        self.count += 1;
        let fields = &mut self.fields;
        let end = partition.high_watermark;
        fields.0.extend_from_slice(&partition.id.topic.0);
        fields.i32(partition.id.partition.0);
        fields.u8(kind_byte(partition.kind));
        fields.u8(u8::from(partition.offline.is_some()));
        fields.text(partition.offline.as_deref().unwrap_or_default());
        fields.text(&partition.directory);
        fields.i64(partition.log_start.0);
        fields.i64(end.0);
        let durable = partition.checkpointed_segments().filter(|segment| segment.written.log_bytes > 0);
        fields.count(durable.clone().count());
        for segment in durable {
            put_segment(fields, segment.id);
            put_extent(fields, &segment.written);
        }
        let epochs = partition.epochs.below(end);
        fields.count(epochs.len());
        for entry in epochs {
            fields.i32(entry.epoch.0);
            fields.i64(entry.start_offset.0);
        }
        let producers = partition.producers.durable_at(end);
        let count_at = fields.0.len();
        fields.u32(0);
        let mut count = 0u32;
        for (id, producer) in producers {
            count += 1;
            fields.i64(id.0);
            put_producer(fields, producer);
        }
        fields.0[count_at..count_at + 4].copy_from_slice(&count.to_be_bytes());
    }
}

fn put_extent(fields: &mut FieldWriter, extent: &Extent) {
    fields.u64(extent.log_bytes);
    fields.u32(extent.index_entries);
    fields.u32(extent.time_entries);
    fields.u64(extent.unindexed_bytes);
    fields.timestamp(extent.last_time_entry);
    fields.timestamp(extent.first_timestamp);
    fields.timestamp(extent.max_timestamp.map(|(timestamp, _)| timestamp));
    fields.i64(extent.max_timestamp.map_or(0, |(_, offset)| offset.0));
    fields.u32(extent.abort_entries);
}

fn take_extent(fields: &mut FieldReader<'_>, version: Version) -> Result<Extent, Malformed> {
    let log_bytes = fields.u64()?;
    let index_entries = fields.u32()?;
    let time_entries = fields.u32()?;
    let unindexed_bytes = fields.u64()?;
    let last_time_entry = fields.timestamp()?;
    let first_timestamp = fields.timestamp()?;
    let max_timestamp = fields.timestamp()?;
    let offset_of_max = Offset(fields.i64()?);
    let abort_entries = if version >= Version::WithTransactions { fields.u32()? } else { 0 };
    Ok(Extent {
        log_bytes,
        index_entries,
        time_entries,
        abort_entries,
        unindexed_bytes,
        last_time_entry,
        first_timestamp,
        max_timestamp: max_timestamp.map(|timestamp| (timestamp, offset_of_max)),
    })
}

fn put_producer(fields: &mut FieldWriter, producer: ProducerView<'_>) {
    let last = producer.last;
    fields.i16(last.epoch.0);
    fields.i64(last.last_offset.0);
    fields.i64(last.timestamp.0);
    fields.u8(u8::from(last.coordinator_epoch.is_some()));
    fields.i32(last.coordinator_epoch.unwrap_or(0));
    fields.u8(u8::from(last.transaction_start.is_some()));
    fields.i64(last.transaction_start.map_or(0, |first| first.0));
    let batches: Vec<_> = producer.batches().collect();
    fields.count(batches.len());
    for batch in batches.into_iter().rev() {
        fields.i32(batch.sequences.map_or(0, |(_, last)| last));
        fields.i64(batch.base_offset.0);
        fields.i64(batch.last_offset.0);
        fields.i64(batch.timestamp.0);
    }
}

/// The batches that are remembered, and last how the producer stood: after the last of them, or after a marker.
fn take_producer(fields: &mut FieldReader<'_>) -> Result<Vec<ProducerStep>, Malformed> {
    let epoch = ProducerEpoch(fields.i16()?);
    let last_offset = Offset(fields.i64()?);
    let timestamp = Timestamp(fields.i64()?);
    let (knows_coordinator, coordinator_epoch) = (fields.u8()? != 0, fields.i32()?);
    let (is_open, first_offset) = (fields.u8()? != 0, Offset(fields.i64()?));
    let mut steps = fields.list(|fields| take_producer_batch(fields, epoch))?;
    if steps.last().is_none_or(|batch| batch.last_offset < last_offset) {
        steps.push(ProducerStep {
            epoch,
            sequences: None,
            base_offset: last_offset,
            last_offset,
            timestamp,
            coordinator_epoch: None,
            transaction_start: None,
        });
    }
    let last = steps.last_mut().expect("one was pushed if there was none");
    last.coordinator_epoch = knows_coordinator.then_some(coordinator_epoch);
    last.transaction_start = is_open.then_some(first_offset);
    Ok(steps)
}

/// The first sequence number follows from the last, because a batch's sequence numbers count its offsets.
fn take_producer_batch(
    fields: &mut FieldReader<'_>,
    epoch: ProducerEpoch,
) -> Result<ProducerStep, Malformed> {
    let last_sequence = fields.i32()?;
    let base_offset = Offset(fields.i64()?);
    let last_offset = Offset(fields.i64()?);
    let timestamp = Timestamp(fields.i64()?);
    let delta = last_offset.0.checked_sub(base_offset.0).and_then(|delta| i32::try_from(delta).ok());
    let delta = delta
        .filter(|delta| *delta >= 0 && last_sequence >= 0)
        .ok_or(Malformed("a producer's batch lies"))?;
    Ok(ProducerStep {
        epoch,
        sequences: Some((sequence_minus(last_sequence, delta), last_sequence)),
        base_offset,
        last_offset,
        timestamp,
        coordinator_epoch: None,
        transaction_start: None,
    })
}

fn take_partition(fields: &mut FieldReader<'_>, version: Version) -> Result<PartitionImage, Malformed> {
    let topic = TopicId(fields.array()?);
    let partition = PartitionIndex(fields.i32()?);
    let kind = kind_of(fields.u8()?)?;
    let is_offline = fields.u8()? != 0;
    let reason = fields.text()?;
    let directory = fields.text()?.into();
    let log_start = Offset(fields.i64()?);
    let end_offset = Offset(fields.i64()?);
    let segments = fields.list(|fields| Ok((take_segment(fields)?, take_extent(fields, version)?)))?;
    let epochs = fields.list(|fields| {
        Ok(EpochStart { epoch: LeaderEpoch(fields.i32()?), start_offset: Offset(fields.i64()?) })
    })?;
    let producers = fields.list(|fields| {
        let id = ProducerId(fields.i64()?);
        let steps = match version {
            Version::WithTransactions => take_producer(fields)?,
            Version::WithoutTransactions => fields.list(|fields| {
                let epoch = ProducerEpoch(fields.i16()?);
                take_producer_batch(fields, epoch)
            })?,
        };
        Ok((id, steps))
    })?;
    Ok(PartitionImage {
        id: TopicPartition { topic, partition },
        kind,
        offline: is_offline.then(|| reason.to_owned()),
        directory,
        log_start,
        end_offset,
        segments,
        epochs,
        producers,
    })
}

#[cfg(test)]
mod tests;
