//! The header of a batch, read in place.

use std::ops::Range;

use milepost_model::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp};

use crate::layout::{self, HEADER_BYTES, LENGTH_PREFIX_BYTES, MAGIC, NONE, TimestampType};
use crate::{BatchError, Codec, MAX_DECOMPRESSED_BYTES, Records, sequence_plus};

/// One whole batch: at least a header, exactly as long as it declares, format 2. Nothing else is checked yet; in
/// particular not the checksum ([`BatchView::crc_matches`]).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BatchView<'a> {
    bytes: &'a [u8],
}

impl<'a> BatchView<'a> {
    /// The first batch of `bytes`, and what follows it.
    ///
    /// # Errors
    /// [`BatchError::Truncated`], [`BatchError::BadLength`], [`BatchError::UnsupportedMagic`].
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), BatchError> {
        if bytes.len() < LENGTH_PREFIX_BYTES {
            return Err(BatchError::Truncated { needed: HEADER_BYTES, available: bytes.len() });
        }
        let declared = i32::from_be_bytes(array(bytes, layout::LENGTH));
        let needed = usize::try_from(declared)
            .ok()
            .and_then(|length| length.checked_add(LENGTH_PREFIX_BYTES))
            .filter(|needed| *needed >= HEADER_BYTES)
            .ok_or(BatchError::BadLength(declared))?;
        if bytes.len() < needed {
            return Err(BatchError::Truncated { needed, available: bytes.len() });
        }
        let (batch, rest) = bytes.split_at(needed);
        let magic = i8::from_be_bytes([batch[layout::MAGIC_AT]]);
        if magic != MAGIC {
            return Err(BatchError::UnsupportedMagic(magic));
        }
        Ok((Self { bytes: batch }, rest))
    }

    /// The whole batch.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes of the whole batch, header included.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The offset of the first record. 0 in a batch from a producer.
    #[must_use]
    pub fn base_offset(&self) -> Offset {
        Offset(self.long(layout::BASE_OFFSET))
    }

    /// The offset of the last record the batch was made with (compaction may have removed it since). Saturates on a
    /// header that lies.
    #[must_use]
    pub fn last_offset(&self) -> Offset {
        Offset(self.base_offset().0.saturating_add(i64::from(self.last_offset_delta())))
    }

    /// The offset after the last, where the next batch begins.
    #[must_use]
    pub fn next_offset(&self) -> Offset {
        Offset(self.last_offset().0.saturating_add(1))
    }

    /// Distance from the first offset to the last, as written; negative only on a header that lies.
    #[must_use]
    pub fn last_offset_delta(&self) -> i32 {
        self.int(layout::LAST_OFFSET_DELTA)
    }

    /// The epoch of the leader that appended the batch; −1, as producers write it, until then.
    #[must_use]
    pub fn leader_epoch(&self) -> LeaderEpoch {
        LeaderEpoch(self.int(layout::LEADER_EPOCH))
    }

    /// The attribute bits, as written.
    #[must_use]
    pub fn attributes(&self) -> i16 {
        i16::from_be_bytes(array(self.bytes, layout::ATTRIBUTES))
    }

    /// How the records are compressed.
    ///
    /// # Errors
    /// [`BatchError::UnknownCodec`]. Not found by [`BatchView::parse`], so that a damaged attribute byte is reported
    /// as the wrong checksum it is.
    pub fn codec(&self) -> Result<Codec, BatchError> {
        Codec::from_attributes(self.attributes())
    }

    /// Whether the batch belongs to a transaction.
    #[must_use]
    pub fn is_transactional(&self) -> bool {
        self.attributes() & layout::TRANSACTIONAL_BIT != 0
    }

    /// Whether the batch holds a marker rather than an application's records.
    #[must_use]
    pub fn is_control(&self) -> bool {
        self.attributes() & layout::CONTROL_BIT != 0
    }

    /// Whose clock the timestamps are from.
    #[must_use]
    pub fn timestamp_type(&self) -> TimestampType {
        if self.attributes() & layout::LOG_APPEND_TIME_BIT == 0 {
            TimestampType::CreateTime
        } else {
            TimestampType::LogAppendTime
        }
    }

    /// What the records' timestamp deltas count from: the first record's timestamp, or the delete horizon.
    #[must_use]
    pub fn base_timestamp(&self) -> Timestamp {
        Timestamp(self.long(layout::BASE_TIMESTAMP))
    }

    /// When the tombstones and markers of the batch may be removed, if compaction has decided that (KIP-534).
    #[must_use]
    pub fn delete_horizon(&self) -> Option<Timestamp> {
        (self.attributes() & layout::DELETE_HORIZON_BIT != 0).then(|| self.base_timestamp())
    }

    /// The largest timestamp of the records as the header has it; −1 when they have none.
    #[must_use]
    pub fn max_timestamp(&self) -> Timestamp {
        Timestamp(self.long(layout::MAX_TIMESTAMP))
    }

    /// The idempotent or transactional producer, if there is one.
    #[must_use]
    pub fn producer(&self) -> Option<ProducerIdentity> {
        let id = self.long(layout::PRODUCER_ID);
        let epoch = i16::from_be_bytes(array(self.bytes, layout::PRODUCER_EPOCH));
        (id > i64::from(NONE)).then_some(ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(epoch) })
    }

    /// The sequence number of the first record, if the batch is numbered.
    #[must_use]
    pub fn base_sequence(&self) -> Option<i32> {
        Some(self.int(layout::BASE_SEQUENCE)).filter(|sequence| *sequence > i32::from(NONE))
    }

    /// The sequence number of the last record, after 2147483647 comes 0.
    #[must_use]
    pub fn last_sequence(&self) -> Option<i32> {
        self.base_sequence().map(|sequence| sequence_plus(sequence, self.last_offset_delta()))
    }

    /// The number of records as written; negative only on a header that lies, and below the span of offsets after
    /// compaction.
    #[must_use]
    pub fn record_count(&self) -> i32 {
        self.int(layout::RECORD_COUNT)
    }

    /// The checksum in the header.
    #[must_use]
    pub fn crc(&self) -> u32 {
        u32::from_be_bytes(array(self.bytes, layout::CRC))
    }

    /// Whether the bytes are those the checksum was made of. Base offset, length and leader epoch are not covered.
    #[must_use]
    pub fn crc_matches(&self) -> bool {
        crc32c::crc32c(&self.bytes[layout::CRC_COVERS_FROM..]) == self.crc()
    }

    /// The records, decompressed if need be to at most [`MAX_DECOMPRESSED_BYTES`]. Iterate over `&records`.
    ///
    /// # Errors
    /// [`BatchError::UnknownCodec`], [`BatchError::Undecodable`], [`BatchError::DecompressesTooLarge`], and
    /// [`BatchError::Record`] for a negative count. The records themselves are checked one by one as they are read.
    pub fn records(&self) -> Result<Records<'a>, BatchError> {
        self.records_within(MAX_DECOMPRESSED_BYTES)
    }

    /// As [`BatchView::records`] with a bound of the caller's.
    ///
    /// # Errors
    /// As [`BatchView::records`].
    pub fn records_within(&self, max_bytes: usize) -> Result<Records<'a>, BatchError> {
        Records::open(*self, max_bytes)
    }

    /// What follows the header, compressed if the batch is.
    pub(crate) fn payload(&self) -> &'a [u8] {
        &self.bytes[HEADER_BYTES..]
    }

    fn int(&self, at: Range<usize>) -> i32 {
        i32::from_be_bytes(array(self.bytes, at))
    }

    fn long(&self, at: Range<usize>) -> i64 {
        i64::from_be_bytes(array(self.bytes, at))
    }
}

impl std::fmt::Debug for BatchView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchView")
            .field("base_offset", &self.base_offset())
            .field("last_offset", &self.last_offset())
            .field("size_bytes", &self.size_bytes())
            .field("attributes", &self.attributes())
            .field("producer", &self.producer())
            .finish_non_exhaustive()
    }
}

/// The bytes of one header field, whose range is a constant inside the header.
#[inline]
fn array<const N: usize>(bytes: &[u8], at: Range<usize>) -> [u8; N] {
    bytes[at].try_into().expect("a field's range is as wide as its type")
}
