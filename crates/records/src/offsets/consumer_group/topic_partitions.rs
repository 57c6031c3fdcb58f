//! Partitions of a topic, as assignments list them.

use milepost_model::{PartitionIndex, TopicId};

use crate::bytes::{Format, Reader, put_i32, put_length, put_unsigned_varint};
use crate::{DecodeError, EncodeError};

/// Some partitions of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicPartitions {
    /// The topic.
    pub topic_id: TopicId,
    /// The partitions.
    pub partitions: Vec<PartitionIndex>,
}

impl TopicPartitions {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let topic_id = TopicId(reader.array("topicId")?);
        let partitions = read_numbers(reader, "partitions")?.into_iter().map(PartitionIndex).collect();
        reader.unknown_tagged_fields()?;
        Ok(Self { topic_id, partitions })
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.topic_id.0);
        put_numbers(out, self.partitions.iter().map(|partition| partition.0), "partitions")?;
        put_unsigned_varint(out, 0);
        Ok(())
    }
}

/// Reads a list, one element after the other.
pub(super) fn read_list<'a, T>(
    reader: &mut Reader<'a>,
    field: &'static str,
    mut element: impl FnMut(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    let mut list = Vec::new();
    for _ in 0..reader.array_length(Format::Flexible, field)? {
        list.push(element(reader)?);
    }
    Ok(list)
}

pub(super) fn read_numbers(reader: &mut Reader<'_>, field: &'static str) -> Result<Vec<i32>, DecodeError> {
    read_list(reader, field, |reader| reader.i32(field))
}

/// Writes a list, one element after the other.
pub(super) fn put_list<T>(
    out: &mut Vec<u8>,
    list: &[T],
    field: &'static str,
    mut element: impl FnMut(&mut Vec<u8>, &T) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    put_length(out, Format::Flexible, Some(list.len()), field)?;
    list.iter().try_for_each(|one| element(out, one))
}

pub(super) fn put_numbers(
    out: &mut Vec<u8>,
    numbers: impl ExactSizeIterator<Item = i32>,
    field: &'static str,
) -> Result<(), EncodeError> {
    put_length(out, Format::Flexible, Some(numbers.len()), field)?;
    numbers.for_each(|number| put_i32(out, number));
    Ok(())
}
