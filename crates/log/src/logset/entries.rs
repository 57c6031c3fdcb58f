//! The journal's entries: what each tag means, to the byte.
//!
//! A stream is a topic's identity (16 bytes) and the partition (4 bytes, big-endian). Changing anything here changes
//! what an older journal says: add a tag instead.

use std::sync::Arc;

use bytes::Bytes;
use milepost_model::{Offset, PartitionIndex, TopicId, TopicPartition};
use milepost_storage::{Entry, StreamId};

use crate::bytes_io::{FieldReader, FieldWriter, Malformed};
use crate::segment::SegmentId;
use crate::settings::LogKind;

const DATA: u8 = 1;
const CREATE_PARTITION: u8 = 2;
const ADD_SEGMENT: u8 = 3;
const REMOVE_SEGMENTS: u8 = 4;
const LOG_START: u8 = 5;
const DELETE_PARTITION: u8 = 6;

/// What an entry says about its partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JournalEntry {
    /// One or more stamped batches, back to back, of the last segment added.
    Data(Bytes),
    CreatePartition {
        kind: LogKind,
        directory: Arc<str>,
    },
    AddSegment(SegmentId),
    RemoveSegments(Vec<SegmentId>),
    LogStart(Offset),
    DeletePartition,
}

pub(crate) fn stream_of(id: TopicPartition) -> StreamId {
    let mut bytes = [0; 20];
    bytes[..16].copy_from_slice(&id.topic.0);
    bytes[16..].copy_from_slice(&id.partition.0.to_be_bytes());
    StreamId(bytes)
}

pub(crate) fn partition_of(stream: StreamId) -> TopicPartition {
    let (topic, partition) = stream.0.split_at(16);
    TopicPartition {
        topic: TopicId(topic.try_into().expect("split at sixteen")),
        partition: PartitionIndex(i32::from_be_bytes(partition.try_into().expect("four are left"))),
    }
}

pub(crate) fn kind_byte(kind: LogKind) -> u8 {
    match kind {
        LogKind::Internal => 0,
        LogKind::User => 1,
    }
}

pub(crate) fn kind_of(byte: u8) -> Result<LogKind, Malformed> {
    match byte {
        0 => Ok(LogKind::Internal),
        1 => Ok(LogKind::User),
        _ => Err(Malformed("a log is of no known kind")),
    }
}

impl JournalEntry {
    fn tag(&self) -> u8 {
        match self {
            Self::Data(_) => DATA,
            Self::CreatePartition { .. } => CREATE_PARTITION,
            Self::AddSegment(_) => ADD_SEGMENT,
            Self::RemoveSegments(_) => REMOVE_SEGMENTS,
            Self::LogStart(_) => LOG_START,
            Self::DeletePartition => DELETE_PARTITION,
        }
    }

    fn payload(self) -> Bytes {
        let mut fields = FieldWriter::default();
        match self {
            Self::Data(batches) => return batches,
            Self::CreatePartition { kind, directory } => {
                fields.u8(kind_byte(kind));
                fields.text(&directory);
            }
            Self::AddSegment(segment) => put_segment(&mut fields, segment),
            Self::RemoveSegments(segments) => {
                fields.count(segments.len());
                for segment in segments {
                    put_segment(&mut fields, segment);
                }
            }
            Self::LogStart(offset) => fields.i64(offset.0),
            Self::DeletePartition => {}
        }
        fields.0.into()
    }

    pub(crate) fn into_entry(self, id: TopicPartition) -> Entry {
        Entry { stream: stream_of(id), tag: self.tag(), payload: self.payload() }
    }

    pub(crate) fn decode(entry: &Entry) -> Result<Self, Malformed> {
        let mut fields = FieldReader(&entry.payload);
        let decoded = match entry.tag {
            DATA => return Ok(Self::Data(entry.payload.clone())),
            CREATE_PARTITION => {
                let kind = kind_of(fields.u8()?)?;
                Self::CreatePartition { kind, directory: fields.text()?.into() }
            }
            ADD_SEGMENT => Self::AddSegment(take_segment(&mut fields)?),
            REMOVE_SEGMENTS => Self::RemoveSegments(fields.list(take_segment)?),
            LOG_START => Self::LogStart(Offset(fields.i64()?)),
            DELETE_PARTITION => Self::DeletePartition,
            _ => return Err(Malformed("its tag is unknown")),
        };
        fields.end()?;
        Ok(decoded)
    }
}

pub(crate) fn put_segment(fields: &mut FieldWriter, segment: SegmentId) {
    fields.i64(segment.base_offset.0);
    fields.u32(segment.generation);
}

pub(crate) fn take_segment(fields: &mut FieldReader<'_>) -> Result<SegmentId, Malformed> {
    Ok(SegmentId { base_offset: Offset(fields.i64()?), generation: fields.u32()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_its_golden_bytes_and_comes_back() {
        let id = TopicPartition { topic: TopicId(*b"0123456789abcdef"), partition: PartitionIndex(7) };
        let segment = SegmentId { base_offset: Offset(5), generation: 2 };
        let all = [
            (JournalEntry::Data(Bytes::from_static(b"xy")), 1, "7879"),
            (
                JournalEntry::CreatePartition { kind: LogKind::User, directory: "t-7".into() },
                2,
                "010003742d37",
            ),
            (JournalEntry::AddSegment(segment), 3, "000000000000000500000002"),
            (JournalEntry::RemoveSegments(vec![segment]), 4, "00000001000000000000000500000002"),
            (JournalEntry::LogStart(Offset(258)), 5, "0000000000000102"),
            (JournalEntry::DeletePartition, 6, ""),
        ];
        for (value, tag, golden) in all {
            let entry = value.clone().into_entry(id);
            let hex: String = entry.payload.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!((entry.tag, hex.as_str()), (tag, golden));
            assert_eq!(&entry.stream.0, b"0123456789abcdef\0\0\0\x07");
            assert_eq!(partition_of(entry.stream), id);
            assert_eq!(JournalEntry::decode(&entry), Ok(value));
        }
    }

    #[test]
    fn a_short_long_or_unknown_entry_is_malformed() {
        let entry =
            |tag, payload: &'static [u8]| Entry { stream: StreamId([0; 20]), tag, payload: payload.into() };
        assert!(JournalEntry::decode(&entry(5, &[0; 7])).is_err());
        assert!(JournalEntry::decode(&entry(5, &[0; 9])).is_err());
        assert!(JournalEntry::decode(&entry(4, &[255; 4])).is_err());
        assert!(JournalEntry::decode(&entry(2, &[9, 0, 0])).is_err());
        assert!(JournalEntry::decode(&entry(0, &[])).is_err());
    }
}
