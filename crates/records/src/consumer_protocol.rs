//! The bytes that consumers hand to each other through JoinGroup (subscription) and SyncGroup (assignment).
//!
//! The coordinator stores them as they came, and reads them only to know who subscribes to what, and where members of both
//! group protocols are in one group. Whatever a client sent, the worst that comes of it is a [`DecodeError`]
//! (KAFKA-20570): a custom protocol may use any bytes at all. What is written is version 0, which every consumer since
//! Kafka 0.9 reads, unless the reader's own version is known. Called by `groups`, `client` and the tools.

use milepost_model::PartitionIndex;

use crate::bytes::{Format, Reader, put_i16, put_i32, put_length, put_nullable_bytes, put_string};
use crate::{DecodeError, EncodeError};

#[cfg(test)]
mod tests;

/// The version that is written: it says all that an assignor without memory needs.
const VERSION_WRITTEN: i16 = 0;

/// The newest version that is known.
const VERSION_MAX: i16 = 3;
/// The first versions of a subscription that hold these fields.
const OWNED_PARTITIONS_FROM: i16 = 1;
const GENERATION_FROM: i16 = 2;
const RACK_ID_FROM: i16 = 3;

/// What a member says to whoever assigns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscription<'a> {
    /// The topics it subscribes to.
    pub topics: Vec<&'a str>,
    /// The partitions it has, if it says so.
    pub owned: Vec<AssignedTopic<'a>>,
    /// Where it runs.
    pub rack_id: Option<&'a str>,
}

impl<'a> Subscription<'a> {
    /// Reads a subscription of any version. Of one that is newer than is known here, the fields that are known.
    ///
    /// # Errors
    /// What is malformed; also an empty or negative version.
    pub fn decode(subscription: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(subscription);
        let version = read_version(&mut reader)?;
        let topics = read_topics(&mut reader)?;
        reader.nullable_bytes(Format::Plain, "userData")?;
        let mut owned = Vec::new();
        if version >= OWNED_PARTITIONS_FROM {
            for _ in 0..reader.array_length(Format::Plain, "ownedPartitions")? {
                owned.push(AssignedTopic::read(&mut reader)?);
            }
        }
        if version >= GENERATION_FROM {
            reader.i32("generationId")?;
        }
        let rack_id = match version {
            RACK_ID_FROM.. => reader.nullable_string(Format::Plain, "rackId")?,
            _ => None,
        };
        Ok(Self { topics, owned, rack_id })
    }
}

/// The version of a subscription, or the newest known one if that is older: what its member can read.
///
/// # Errors
/// An empty or negative version.
pub fn version_of(subscription: &[u8]) -> Result<i16, DecodeError> {
    Ok(read_version(&mut Reader::new(subscription))?.min(VERSION_MAX))
}

/// The topics that a subscription names, in the client's order.
///
/// Every version since 0 begins with them, so a newer version than is known here can be read as well.
///
/// # Errors
/// What is malformed; also an empty or negative version.
pub fn subscribed_topics(subscription: &[u8]) -> Result<Vec<&str>, DecodeError> {
    let mut reader = Reader::new(subscription);
    read_version(&mut reader)?;
    read_topics(&mut reader)
}

fn read_topics<'a>(reader: &mut Reader<'a>) -> Result<Vec<&'a str>, DecodeError> {
    let mut topics = Vec::new();
    for _ in 0..reader.array_length(Format::Plain, "topics")? {
        topics.push(reader.string(Format::Plain, "topic")?);
    }
    Ok(topics)
}

/// The bytes of a subscription to these topics, without user data.
///
/// # Errors
/// When a topic's name is too long, or there are too many.
pub fn encode_subscription<'a>(
    topics: impl ExactSizeIterator<Item = &'a str>,
) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    put_i16(&mut out, VERSION_WRITTEN);
    put_length(&mut out, Format::Plain, Some(topics.len()), "topics")?;
    for topic in topics {
        put_string(&mut out, Format::Plain, topic, "topic")?;
    }
    put_nullable_bytes(&mut out, Format::Plain, None, "userData")?;
    Ok(out)
}

/// What the leader of a group assigned to one member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment<'a> {
    /// The partitions, topic by topic.
    pub partitions: Vec<AssignedTopic<'a>>,
    /// The assignor's own bytes.
    pub user_data: Option<&'a [u8]>,
}

/// The partitions of one topic in an [`Assignment`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedTopic<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// Its partitions.
    pub partitions: Vec<PartitionIndex>,
}

impl<'a> Assignment<'a> {
    /// Reads an assignment of any version; all known ones (0 to 3) have the same fields.
    ///
    /// No bytes at all mean what Kafka's consumer takes them for: nothing is assigned.
    ///
    /// # Errors
    /// What is malformed; also a negative version.
    pub fn decode(assignment: &'a [u8]) -> Result<Self, DecodeError> {
        if assignment.is_empty() {
            return Ok(Self::default());
        }
        let mut reader = Reader::new(assignment);
        read_version(&mut reader)?;
        let mut partitions = Vec::new();
        for _ in 0..reader.array_length(Format::Plain, "assignedPartitions")? {
            partitions.push(AssignedTopic::read(&mut reader)?);
        }
        let user_data = reader.nullable_bytes(Format::Plain, "userData")?;
        Ok(Self { partitions, user_data })
    }

    /// The bytes of the assignment, in version 0.
    ///
    /// # Errors
    /// When a name is too long, or there is too much of something.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        self.encode_as(VERSION_WRITTEN)
    }

    /// The bytes of the assignment in a version that [`version_of`] found; all have the same fields.
    ///
    /// # Errors
    /// When a name is too long, or there is too much of something.
    pub fn encode_as(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        put_i16(&mut out, version);
        put_length(&mut out, Format::Plain, Some(self.partitions.len()), "assignedPartitions")?;
        for assigned in &self.partitions {
            put_string(&mut out, Format::Plain, assigned.topic, "topic")?;
            put_length(&mut out, Format::Plain, Some(assigned.partitions.len()), "partitions")?;
            for partition in &assigned.partitions {
                put_i32(&mut out, partition.0);
            }
        }
        put_nullable_bytes(&mut out, Format::Plain, self.user_data, "userData")?;
        Ok(out)
    }
}

impl<'a> AssignedTopic<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topic = reader.string(Format::Plain, "topic")?;
        let mut partitions = Vec::new();
        for _ in 0..reader.array_length(Format::Plain, "partitions")? {
            partitions.push(PartitionIndex(reader.i32("partition")?));
        }
        Ok(Self { topic, partitions })
    }
}

fn read_version(reader: &mut Reader<'_>) -> Result<i16, DecodeError> {
    match reader.i16("the version")? {
        version @ 0.. => Ok(version),
        _ => Err(DecodeError::InvalidValue("the version")),
    }
}
