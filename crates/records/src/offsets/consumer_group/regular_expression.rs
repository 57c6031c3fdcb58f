//! Type 16: the topics that a regular expression of a member meant when it was last looked at.

use milepost_model::Timestamp;

use super::topic_partitions::{put_list, read_list};
use crate::bytes::{Format, Reader, put_i64, put_string, put_unsigned_varint};
use crate::{DecodeError, EncodeError};

/// A resolved regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroupRegularExpressionValue<'a> {
    /// The names that match; written sorted.
    pub topics: Vec<&'a str>,
    /// Which state of the cluster's topics was looked at.
    pub version: i64,
    /// When.
    pub timestamp: Timestamp,
}

impl<'a> ConsumerGroupRegularExpressionValue<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topics = read_list(reader, "topics", |reader| reader.string(Format::Flexible, "topics"))?;
        let version = reader.i64("version")?;
        let timestamp = Timestamp(reader.i64("timestamp")?);
        reader.unknown_tagged_fields()?;
        Ok(Self { topics, version, timestamp })
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_list(out, &self.topics, "topics", |out, name| put_string(out, Format::Flexible, name, "topics"))?;
        put_i64(out, self.version);
        put_i64(out, self.timestamp.0);
        put_unsigned_varint(out, 0);
        Ok(())
    }
}
