//! Type 1, and the old type 0: the committed offset of a group in a partition.

use milepost_model::{LeaderEpoch, Offset, PartitionIndex, Timestamp, TopicId};

use crate::bytes::{Format, Reader, Tag, put_i16, put_i32, put_i64, put_string, put_unsigned_varint};
use crate::{DecodeError, EncodeError};

pub(super) const LEGACY_TYPE: i16 = 0;
pub(super) const TYPE: i16 = 1;

/// The version of a value with an explicit expiry; no other version has room for one.
const VERSION_WITH_EXPIRY: i16 = 1;
/// The version of every other value, written by Kafka since 4.1 and readable since KIP-915.
const VERSION: i16 = 4;
const TOPIC_ID_TAG: u32 = 0;

/// Whose offset, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OffsetCommitKey<'a> {
    /// The group.
    pub group: &'a str,
    /// The topic's name.
    pub topic: &'a str,
    /// The partition of it.
    pub partition: PartitionIndex,
}

impl<'a> OffsetCommitKey<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            group: reader.string(Format::Plain, "group")?,
            topic: reader.string(Format::Plain, "topic")?,
            partition: PartitionIndex(reader.i32("partition")?),
        })
    }

    /// Appends the key's bytes, always as type 1.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] when a name has more than [`crate::MAX_STRING_BYTES`].
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.reserve(10 + self.group.len() + self.topic.len());
        put_i16(out, TYPE);
        put_string(out, Format::Plain, self.group, "group")?;
        put_string(out, Format::Plain, self.topic, "topic")?;
        put_i32(out, self.partition.0);
        Ok(())
    }
}

/// A committed offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetCommitValue<'a> {
    /// The offset. Kafka's coordinator takes any number, so what was stored may be negative.
    pub offset: Offset,
    /// The epoch of the last consumed record's leader (KIP-320).
    pub leader_epoch: Option<LeaderEpoch>,
    /// The client's own words; a null of a request is stored as the empty string.
    pub metadata: &'a str,
    /// When the coordinator took the commit, by its wall clock.
    pub commit_timestamp: Timestamp,
    /// When it expires, if the request asked for a retention of its own (versions 2 to 4 of OffsetCommit). Stored at
    /// the price of the leader epoch and the topic id.
    pub expire_timestamp: Option<Timestamp>,
    /// The topic's identity.
    pub topic_id: Option<TopicId>,
}

impl<'a> OffsetCommitValue<'a> {
    /// Reads a value of type 1, versions 0 to 4.
    ///
    /// # Errors
    /// [`DecodeError::UnsupportedVersion`], or what is malformed.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(value);
        let version = reader.i16("the version")?;
        if !(0..=4).contains(&version) {
            return Err(DecodeError::UnsupportedVersion { record: "OffsetCommitValue", version });
        }
        let value = Self::read(&mut reader, version)?;
        reader.finish()?;
        Ok(value)
    }

    /// Reads a value of type 0, which has version 0 only.
    ///
    /// # Errors
    /// [`DecodeError::UnsupportedVersion`], or what is malformed.
    pub fn decode_legacy(value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(value);
        let version = reader.i16("the version")?;
        if version != 0 {
            return Err(DecodeError::UnsupportedVersion { record: "LegacyOffsetCommitValue", version });
        }
        let value = Self::read(&mut reader, version)?;
        reader.finish()?;
        Ok(value)
    }

    fn read(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let format = if version >= 4 { Format::Flexible } else { Format::Plain };
        let offset = Offset(reader.i64("offset")?);
        let leader_epoch =
            if version >= 3 { present_unless(-1, reader.i32("leaderEpoch")?).map(LeaderEpoch) } else { None };
        let metadata = reader.string(format, "metadata")?;
        let commit_timestamp = Timestamp(reader.i64("commitTimestamp")?);
        let expire_timestamp = if version == 1 {
            present_unless(-1, reader.i64("expireTimestamp")?).map(Timestamp)
        } else {
            None
        };
        let mut topic_id = None;
        if format == Format::Flexible {
            reader.tagged_fields(|tag, field| {
                if tag != TOPIC_ID_TAG {
                    return Ok(Tag::Unknown);
                }
                topic_id = Some(TopicId(field.array("topicId")?)).filter(|id| !id.is_zero());
                Ok(Tag::Known)
            })?;
        }
        Ok(Self { offset, leader_epoch, metadata, commit_timestamp, expire_timestamp, topic_id })
    }

    /// Appends the value's bytes: version 1 when it has an expiry, else version 4.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] when the metadata does not fit.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.reserve(48 + self.metadata.len());
        if let Some(expire_timestamp) = self.expire_timestamp {
            put_i16(out, VERSION_WITH_EXPIRY);
            put_i64(out, self.offset.0);
            put_string(out, Format::Plain, self.metadata, "metadata")?;
            put_i64(out, self.commit_timestamp.0);
            put_i64(out, expire_timestamp.0);
            return Ok(());
        }
        put_i16(out, VERSION);
        put_i64(out, self.offset.0);
        put_i32(out, self.leader_epoch.map_or(-1, |epoch| epoch.0));
        put_string(out, Format::Flexible, self.metadata, "metadata")?;
        put_i64(out, self.commit_timestamp.0);
        match self.topic_id.filter(|id| !id.is_zero()) {
            None => put_unsigned_varint(out, 0),
            Some(id) => {
                put_unsigned_varint(out, 1);
                put_unsigned_varint(out, TOPIC_ID_TAG);
                put_unsigned_varint(out, 16);
                out.extend_from_slice(&id.0);
            }
        }
        Ok(())
    }
}

fn present_unless<T: PartialEq + Copy>(none: T, value: T) -> Option<T> {
    (value != none).then_some(value)
}
