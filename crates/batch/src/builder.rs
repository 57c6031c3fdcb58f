//! Making a batch, record by record.

use milepost_model::{Offset, ProducerIdentity, Timestamp};

use crate::layout::{self, HEADER_BYTES, LENGTH_PREFIX_BYTES, MAGIC, NONE, TimestampType};
use crate::stamp::{put, renew_crc};
use crate::{Codec, Header, varint};

/// The most bytes of uncompressed records one builder takes. Whatever a codec makes of them still fits the 31-bit
/// length of a batch.
pub const MAX_BUILT_RECORDS_BYTES: usize = 1 << 30;

/// The record does not fit into the batch being built; the batch is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record does not fit into the batch")]
pub struct BuilderFull;

/// What a batch says of itself besides its records. The default is a plain batch of an ordinary producer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchOptions {
    /// How to compress.
    pub codec: Codec,
    /// Whose clock the timestamps are from. With [`TimestampType::LogAppendTime`] readers see the largest only.
    pub timestamp_type: TimestampType,
    /// The idempotent or transactional producer.
    pub producer: Option<ProducerIdentity>,
    /// The sequence number of the first record.
    pub base_sequence: Option<i32>,
    /// Whether the batch belongs to a transaction of the producer.
    pub transactional: bool,
}

impl BatchOptions {
    /// What Kafka's group coordinator writes: not compressed, the sequence starts at 0 in each batch, transactional
    /// exactly if there is a producer.
    #[must_use]
    pub fn coordinator(producer: Option<ProducerIdentity>) -> Self {
        Self { producer, base_sequence: Some(0), transactional: producer.is_some(), ..Self::default() }
    }
}

/// Collects records and makes one batch of them.
#[derive(Clone, Debug)]
pub struct BatchBuilder {
    options: BatchOptions,
    control: bool,
    /// Room for the header, then the records, not compressed.
    bytes: Vec<u8>,
    count: i32,
    /// What timestamp deltas count from: the first record's timestamp unless given before.
    base_timestamp: Option<Timestamp>,
    max_timestamp: Timestamp,
}

impl BatchBuilder {
    /// An empty batch.
    #[must_use]
    pub fn new(options: BatchOptions) -> Self {
        Self {
            options,
            control: false,
            bytes: vec![0; HEADER_BYTES],
            count: 0,
            base_timestamp: None,
            max_timestamp: Timestamp(i64::from(NONE)),
        }
    }

    /// An empty control batch.
    pub(crate) fn control(options: BatchOptions) -> Self {
        Self { control: true, ..Self::new(options) }
    }

    /// Makes timestamp deltas count from `base_timestamp`. For an empty builder.
    pub(crate) fn with_base_timestamp(self, base_timestamp: Timestamp) -> Self {
        Self { base_timestamp: Some(base_timestamp), ..self }
    }

    /// Adds a record. Its offset will be the batch's base offset plus [`BatchBuilder::len`] before the call.
    ///
    /// # Errors
    /// [`BuilderFull`] when the records would take more than [`MAX_BUILT_RECORDS_BYTES`].
    pub fn append(
        &mut self,
        timestamp: Timestamp,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[Header<'_>],
    ) -> Result<(), BuilderFull> {
        self.append_at(self.count, timestamp, key, value, headers)
    }

    /// As [`BatchBuilder::append`], `offset_delta` behind the base offset, which must rise from record to record.
    pub(crate) fn append_at(
        &mut self,
        offset_delta: i32,
        timestamp: Timestamp,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[Header<'_>],
    ) -> Result<(), BuilderFull> {
        let timestamp_delta = self.timestamp_delta(timestamp);
        let body_bytes = body_bytes(timestamp_delta, offset_delta, key, value, headers);
        if self.size_bytes() + record_bytes(body_bytes) > HEADER_BYTES + MAX_BUILT_RECORDS_BYTES {
            return Err(BuilderFull);
        }
        self.base_timestamp.get_or_insert(timestamp);
        self.max_timestamp = if self.is_empty() { timestamp } else { self.max_timestamp.max(timestamp) };
        let out = &mut self.bytes;
        varint::put(out, body_bytes as i64);
        out.push(0);
        varint::put(out, timestamp_delta);
        varint::put(out, i64::from(offset_delta));
        put_nullable(out, key);
        put_nullable(out, value);
        varint::put(out, headers.len() as i64);
        for header in headers {
            put_nullable(out, Some(header.key));
            put_nullable(out, header.value);
        }
        self.count += 1;
        Ok(())
    }

    /// Bytes of the batch, not compressed, if the record were appended.
    #[must_use]
    pub fn size_bytes_with(
        &self,
        timestamp: Timestamp,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[Header<'_>],
    ) -> usize {
        let body_bytes = body_bytes(self.timestamp_delta(timestamp), self.count, key, value, headers);
        self.size_bytes() + record_bytes(body_bytes)
    }

    /// How many records were appended.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether nothing was appended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of the batch so far, header included, not compressed.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The largest timestamp appended; −1 before the first record.
    #[must_use]
    pub fn max_timestamp(&self) -> Timestamp {
        self.max_timestamp
    }

    /// The finished batch, its leader epoch −1 until it is stamped. No bytes at all when no record was appended,
    /// because a batch without records has no last offset.
    #[must_use]
    pub fn build(self, base_offset: Offset) -> Vec<u8> {
        if self.is_empty() {
            return Vec::new();
        }
        let attributes = self.attributes();
        let mut batch = match self.options.codec {
            Codec::None => self.bytes,
            codec => {
                let mut batch = vec![0; HEADER_BYTES];
                codec
                    .compress_into(&self.bytes[HEADER_BYTES..], &mut batch)
                    .expect("writing to memory does not fail");
                batch
            }
        };
        let length =
            i32::try_from(batch.len() - LENGTH_PREFIX_BYTES).expect("the records are bounded by 1 GiB");
        let base_timestamp = self.base_timestamp.expect("a record was appended");
        let (producer_id, producer_epoch) =
            self.options.producer.map_or((i64::from(NONE), i16::from(NONE)), |p| (p.id.0, p.epoch.0));
        let base_sequence = self.options.base_sequence.unwrap_or(i32::from(NONE));
        put(&mut batch, layout::BASE_OFFSET, &base_offset.0.to_be_bytes());
        put(&mut batch, layout::LENGTH, &length.to_be_bytes());
        put(&mut batch, layout::LEADER_EPOCH, &i32::from(NONE).to_be_bytes());
        batch[layout::MAGIC_AT] = MAGIC as u8;
        put(&mut batch, layout::ATTRIBUTES, &attributes.to_be_bytes());
        put(&mut batch, layout::LAST_OFFSET_DELTA, &(self.count - 1).to_be_bytes());
        put(&mut batch, layout::BASE_TIMESTAMP, &base_timestamp.0.to_be_bytes());
        put(&mut batch, layout::MAX_TIMESTAMP, &self.max_timestamp.0.to_be_bytes());
        put(&mut batch, layout::PRODUCER_ID, &producer_id.to_be_bytes());
        put(&mut batch, layout::PRODUCER_EPOCH, &producer_epoch.to_be_bytes());
        put(&mut batch, layout::BASE_SEQUENCE, &base_sequence.to_be_bytes());
        put(&mut batch, layout::RECORD_COUNT, &self.count.to_be_bytes());
        renew_crc(&mut batch);
        batch
    }

    fn attributes(&self) -> i16 {
        let mut attributes = i16::from(self.options.codec.number());
        if self.options.timestamp_type == TimestampType::LogAppendTime {
            attributes |= layout::LOG_APPEND_TIME_BIT;
        }
        if self.options.transactional {
            attributes |= layout::TRANSACTIONAL_BIT;
        }
        if self.control {
            attributes |= layout::CONTROL_BIT;
        }
        attributes
    }

    fn timestamp_delta(&self, timestamp: Timestamp) -> i64 {
        self.base_timestamp.map_or(0, |base| timestamp.0.wrapping_sub(base.0))
    }
}

/// Bytes of a record behind its length.
fn body_bytes(
    timestamp_delta: i64,
    offset_delta: i32,
    key: Option<&[u8]>,
    value: Option<&[u8]>,
    headers: &[Header<'_>],
) -> usize {
    let headers_bytes: usize =
        headers.iter().map(|header| nullable_bytes(Some(header.key)) + nullable_bytes(header.value)).sum();
    1 + varint::size(timestamp_delta)
        + varint::size(i64::from(offset_delta))
        + nullable_bytes(key)
        + nullable_bytes(value)
        + varint::size(headers.len() as i64)
        + headers_bytes
}

fn record_bytes(body_bytes: usize) -> usize {
    varint::size(body_bytes as i64) + body_bytes
}

fn nullable_bytes(bytes: Option<&[u8]>) -> usize {
    bytes.map_or(1, |bytes| varint::size(bytes.len() as i64) + bytes.len())
}

fn put_nullable(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        None => varint::put(out, i64::from(NONE)),
        Some(bytes) => {
            varint::put(out, bytes.len() as i64);
            out.extend_from_slice(bytes);
        }
    }
}
