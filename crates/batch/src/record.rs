//! The records of a batch, read one by one without allocating.

use std::borrow::Cow;

use milepost_model::{Offset, Timestamp};

use crate::varint::{take_varint, take_varlong};
use crate::{BatchError, BatchView, Codec, Malformed, TimestampType};

/// The records of one batch: its own bytes, or what they decompress to.
#[derive(Debug)]
pub struct Records<'a> {
    batch: BatchView<'a>,
    count: u32,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Records<'a> {
    pub(crate) fn open(batch: BatchView<'a>, max_bytes: usize) -> Result<Self, BatchError> {
        let count = u32::try_from(batch.record_count())
            .map_err(|_| BatchError::Record { index: 0, reason: Malformed::NegativeCount })?;
        let bytes = match batch.codec()? {
            Codec::None => Cow::Borrowed(batch.payload()),
            codec => Cow::Owned(codec.decompress(batch.payload(), max_bytes)?),
        };
        Ok(Self { batch, count, bytes })
    }

    /// The records in order. After an error there is nothing more.
    #[must_use]
    pub fn iter(&self) -> RecordIter<'_> {
        let batch = &self.batch;
        RecordIter {
            rest: &self.bytes,
            index: 0,
            count: self.count,
            base_offset: batch.base_offset().0,
            last_offset_delta: batch.last_offset_delta(),
            previous_delta: -1,
            base_timestamp: batch.base_timestamp().0,
            append_time: match batch.timestamp_type() {
                TimestampType::CreateTime => None,
                TimestampType::LogAppendTime => Some(batch.max_timestamp()),
            },
            ended: false,
        }
    }

    /// Bytes of the records when not compressed.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl<'r> IntoIterator for &'r Records<'_> {
    type Item = Result<RecordView<'r>, BatchError>;
    type IntoIter = RecordIter<'r>;

    fn into_iter(self) -> RecordIter<'r> {
        self.iter()
    }
}

/// One record, borrowed from its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordView<'a> {
    /// Its position in the log.
    pub offset: Offset,
    /// The producer's time, or the batch's append time; −1 when the producer gave none.
    pub timestamp: Timestamp,
    /// The key. None and empty differ.
    pub key: Option<&'a [u8]>,
    /// The value; a record with a key and none is a tombstone.
    pub value: Option<&'a [u8]>,
    /// The headers, in order.
    pub headers: Headers<'a>,
}

/// One header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// Its name, UTF-8 by agreement between producers and consumers; not checked here, as Kafka does not either.
    pub key: &'a [u8],
    /// Its value. None and empty differ.
    pub value: Option<&'a [u8]>,
}

/// The headers of a record, in order. They were checked when the record was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers<'a> {
    count: u32,
    rest: &'a [u8],
}

impl<'a> Headers<'a> {
    /// Reads all headers once, so that iterating later cannot fail. `rest` must end with the last.
    fn check(count: u32, rest: &'a [u8]) -> Result<Self, Malformed> {
        let mut unread = rest;
        for _ in 0..count {
            take_header(&mut unread)?;
        }
        if unread.is_empty() { Ok(Self { count, rest }) } else { Err(Malformed::LengthMismatch) }
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        self.count = self.count.checked_sub(1)?;
        Some(take_header(&mut self.rest).expect("the headers were read once before"))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl ExactSizeIterator for Headers<'_> {}

/// Reads records one after the other and checks each: its declared length must be filled exactly, offset deltas must
/// rise and stay inside the batch, and no byte may follow the last.
#[derive(Clone, Debug)]
pub struct RecordIter<'r> {
    rest: &'r [u8],
    index: u32,
    count: u32,
    base_offset: i64,
    last_offset_delta: i32,
    previous_delta: i32,
    base_timestamp: i64,
    append_time: Option<Timestamp>,
    ended: bool,
}

impl<'r> Iterator for RecordIter<'r> {
    type Item = Result<RecordView<'r>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let read = if self.index < self.count {
            self.read().map(Some)
        } else {
            self.ended = true;
            if self.rest.is_empty() { Ok(None) } else { Err(Malformed::Trailing) }
        };
        match read {
            Ok(record) => {
                self.index += 1;
                record.map(Ok)
            }
            Err(reason) => {
                self.ended = true;
                Some(Err(BatchError::Record { index: self.index, reason }))
            }
        }
    }
}

impl<'r> RecordIter<'r> {
    fn read(&mut self) -> Result<RecordView<'r>, Malformed> {
        let length = take_length(&mut self.rest)?.ok_or(Malformed::NegativeLength)?;
        let mut record = take_bytes(&mut self.rest, length)?;
        let unread = &mut record;
        // No attribute of a record has a meaning yet; Kafka ignores them too.
        take_bytes(unread, 1).map_err(inside)?;
        let timestamp_delta = take_varlong(unread).map_err(inside)?;
        let offset_delta = take_varint(unread).map_err(inside)?;
        if offset_delta <= self.previous_delta || offset_delta > self.last_offset_delta {
            return Err(Malformed::OffsetDelta);
        }
        self.previous_delta = offset_delta;
        let key = take_nullable(unread).map_err(inside)?;
        let value = take_nullable(unread).map_err(inside)?;
        let header_count = take_varint(unread).map_err(inside)?;
        let header_count = u32::try_from(header_count).map_err(|_| Malformed::NegativeLength)?;
        let headers = Headers::check(header_count, unread).map_err(inside)?;
        Ok(RecordView {
            // Both sums wrap on a header that lies, as they do in Kafka; neither is used to address memory.
            offset: Offset(self.base_offset.wrapping_add(i64::from(offset_delta))),
            timestamp: self
                .append_time
                .unwrap_or(Timestamp(self.base_timestamp.wrapping_add(timestamp_delta))),
            key,
            value,
            headers,
        })
    }
}

/// Bytes that end inside a record whose length was satisfied mean that the length was wrong.
fn inside(reason: Malformed) -> Malformed {
    match reason {
        Malformed::Ends => Malformed::LengthMismatch,
        other => other,
    }
}

/// A length; −1 is "null" and everything below is refused.
fn take_length(bytes: &mut &[u8]) -> Result<Option<usize>, Malformed> {
    match take_varint(bytes)? {
        -1 => Ok(None),
        length => usize::try_from(length).map(Some).map_err(|_| Malformed::NegativeLength),
    }
}

fn take_nullable<'a>(bytes: &mut &'a [u8]) -> Result<Option<&'a [u8]>, Malformed> {
    take_length(bytes)?.map(|length| take_bytes(bytes, length)).transpose()
}

fn take_header<'a>(bytes: &mut &'a [u8]) -> Result<Header<'a>, Malformed> {
    let key = take_nullable(bytes)?.ok_or(Malformed::NegativeLength)?;
    let value = take_nullable(bytes)?;
    Ok(Header { key, value })
}

fn take_bytes<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], Malformed> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or(Malformed::Ends)?;
    *bytes = rest;
    Ok(taken)
}
