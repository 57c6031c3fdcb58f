//! Records that wait for their acknowledgement, as one batch for one partition.

use milepost_batch::{BatchBuilder, BatchOptions, BuilderFull, Codec, Header};
use milepost_model::{Offset, ProducerIdentity, Timestamp};

/// Bytes that a record takes in a batch beyond its key, value and headers, at the most.
const RECORD_OVERHEAD_BYTES: usize = 64;
/// The same for a header.
const HEADER_OVERHEAD_BYTES: usize = 20;

/// A record to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutgoingRecord {
    /// Its time.
    pub timestamp: Timestamp,
    /// Its key. None and empty differ.
    pub key: Option<Vec<u8>>,
    /// Its value. None and empty differ.
    pub value: Option<Vec<u8>>,
    /// Its headers, in order.
    pub headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl OutgoingRecord {
    /// Bytes that it may take in a batch.
    pub(super) fn size_bytes(&self) -> usize {
        let length = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
        let headers =
            self.headers.iter().map(|(key, value)| key.len() + length(value) + HEADER_OVERHEAD_BYTES);
        length(&self.key) + length(&self.value) + headers.sum::<usize>() + RECORD_OVERHEAD_BYTES
    }
}

/// Records for one partition, in order. Kept as they are until they are acknowledged, so that they can be sent again,
/// or as two smaller batches.
#[derive(Debug, Default)]
pub(super) struct PendingBatch {
    pub(super) records: Vec<OutgoingRecord>,
    pub(super) bytes: usize,
}

impl PendingBatch {
    pub(super) fn push(&mut self, record: OutgoingRecord) {
        self.bytes += record.size_bytes();
        self.records.push(record);
    }

    /// The bytes to send.
    pub(super) fn encode(
        &self,
        codec: Codec,
        producer: Option<ProducerIdentity>,
        base_sequence: i32,
    ) -> Result<Vec<u8>, BuilderFull> {
        let mut builder = BatchBuilder::new(BatchOptions {
            codec,
            producer,
            base_sequence: producer.map(|_| base_sequence),
            ..BatchOptions::default()
        });
        for record in &self.records {
            let headers: Vec<Header<'_>> =
                record.headers.iter().map(|(key, value)| Header { key, value: value.as_deref() }).collect();
            builder.append(record.timestamp, record.key.as_deref(), record.value.as_deref(), &headers)?;
        }
        Ok(builder.build(Offset::ZERO))
    }

    /// The two halves of a batch of more than one record.
    pub(super) fn split(mut self) -> (Self, Self) {
        let second = self.records.split_off(self.records.len() / 2);
        (self.records.into(), second.into())
    }
}

impl From<Vec<OutgoingRecord>> for PendingBatch {
    fn from(records: Vec<OutgoingRecord>) -> Self {
        let bytes = records.iter().map(OutgoingRecord::size_bytes).sum();
        Self { records, bytes }
    }
}
