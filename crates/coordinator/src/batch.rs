//! The open batch: records that were replayed and wait to be appended, at the offsets they will have.

use milepost_batch::{BatchBuilder, BatchOptions, BuilderFull, Codec, HEADER_BYTES};
use milepost_model::{Encoded, Offset, ProducerIdentity, Timestamp};

/// The most that a record of a batch takes besides its key and value: five lengths and deltas of at most five bytes,
/// a time delta of at most ten, attributes, and no headers.
const RECORD_OVERHEAD_BYTES: usize = 32;

/// At most this many bytes of the batch, not compressed, are the record's.
pub(crate) fn record_bytes(record: &Encoded) -> usize {
    RECORD_OVERHEAD_BYTES + record.key.len() + record.value.as_ref().map_or(0, Vec::len)
}

/// Whether records of so many bytes fit a batch of their own.
pub(crate) fn fits_alone(records_bytes: usize, max_batch_bytes: usize) -> bool {
    records_bytes.saturating_add(HEADER_BYTES) <= max_batch_bytes
}

/// How much larger than a batch records may be before compression: trying costs time, and memory at every load.
const COMPRESSION_MAX: usize = 16;

/// The batch that takes the next records of a shard.
pub(crate) struct OpenBatch {
    builder: BatchBuilder,
    base: Offset,
    codec: Codec,
}

impl OpenBatch {
    /// An empty batch whose first record will have the offset `base`.
    pub(crate) fn new(base: Offset, codec: Codec) -> Self {
        Self { builder: BatchBuilder::new(options(codec)), base, codec }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.builder.is_empty()
    }

    /// The offset of the first record.
    pub(crate) fn base(&self) -> Offset {
        self.base
    }

    /// The offset that the next record gets.
    pub(crate) fn next(&self) -> Offset {
        self.base.plus(self.builder.len() as i64)
    }

    /// Whether records of so many bytes fit behind those that are here.
    pub(crate) fn has_room(&self, records_bytes: usize, max_batch_bytes: usize) -> bool {
        self.builder.size_bytes().saturating_add(records_bytes) <= max_batch_bytes
    }

    /// Whether records that are too large for a batch as they are fit one of their own once compressed (KAFKA-19760).
    pub(crate) fn fits_compressed(
        &self,
        time: Timestamp,
        records: &[Encoded],
        max_batch_bytes: usize,
    ) -> bool {
        let bytes: usize = records.iter().map(record_bytes).sum();
        if self.codec == Codec::None || bytes > max_batch_bytes.saturating_mul(COMPRESSION_MAX) {
            return false;
        }
        let mut trial = Self::new(self.base, self.codec);
        records.iter().all(|record| trial.push(time, record).is_ok()) && trial.take().len() <= max_batch_bytes
    }

    /// Adds a record and says which offset it will have.
    pub(crate) fn push(&mut self, time: Timestamp, record: &Encoded) -> Result<Offset, BuilderFull> {
        let offset = self.next();
        self.builder.append(time, Some(&record.key), record.value.as_deref(), &[])?;
        Ok(offset)
    }

    /// An empty batch begins further on: something else was appended.
    pub(crate) fn begin_at(&mut self, base: Offset) {
        debug_assert!(self.is_empty(), "the offsets of records were told already");
        self.base = base;
    }

    /// The finished batch; an empty one takes its place, right behind it.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let next = self.next();
        let builder = std::mem::replace(&mut self.builder, BatchBuilder::new(options(self.codec)));
        let batch = builder.build(self.base);
        self.base = next;
        batch
    }
}

/// The batch of one outcome within a producer's transaction.
pub(crate) fn transactional_batch(
    codec: Codec,
    producer: ProducerIdentity,
    base: Offset,
    time: Timestamp,
    records: &[Encoded],
) -> Result<Vec<u8>, BuilderFull> {
    let mut builder = BatchBuilder::new(BatchOptions { codec, ..BatchOptions::coordinator(Some(producer)) });
    for record in records {
        builder.append(time, Some(&record.key), record.value.as_deref(), &[])?;
    }
    Ok(builder.build(base))
}

fn options(codec: Codec) -> BatchOptions {
    BatchOptions { codec, ..BatchOptions::coordinator(None) }
}
