//! The records of `__milepost_metadata`, our own format: what topics there are, who we are, which numbers are taken.
//!
//! The envelope is the one of `__consumer_offsets`: a key is an `i16` record type and a struct, a value an `i16`
//! schema version and a struct; big-endian. All structs are flexible (compact lengths, and a tag section after each
//! value and after each element of an array), so that a later version can add fields that this one skips. Fields are
//! listed in wire order on each type. One record type lives in one file.
//!
//! | type | record | key | value (version 0) |
//! | --- | --- | --- | --- |
//! | 1 | Topic | id | name, partition count, replication factor, internal, configs |
//! | 2 | ClusterId | - | cluster id |
//! | 3 | ProducerIdBlock | - | next producer id |
//! | 4 | GroupConfigs | group | configs |
//!
//! A Topic tombstone deletes the topic, one of GroupConfigs all that is set for the group. Type 0 is never used, so that
//! zeroed bytes are never a record.

mod cluster_id;
mod configs;
mod group_configs;
mod producer_id_block;
mod topic;

#[cfg(test)]
mod tests;

pub use configs::Config;
pub use group_configs::GroupConfigs;
pub use topic::Topic;

use milepost_model::{ProducerId, TopicId};

use crate::bytes::{Reader, put_i16};
use crate::{DecodeError, EncodeError};

/// A record of the metadata log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// Type 1: a topic as it is from here on, all of it.
    Topic(Topic<'a>),
    /// Type 1 without a value: the topic is deleted. Its id is never used again.
    TopicDeletion(TopicId),
    /// Type 2: the name of this cluster, chosen at the first start.
    ClusterId(&'a str),
    /// Type 3: every producer id below this one may have been handed out.
    ProducerIdBlock {
        /// The first id that is certainly free.
        next_producer_id: ProducerId,
    },
    /// Type 4: what is set for a group from here on, all of it.
    GroupConfigs(GroupConfigs<'a>),
    /// Type 4 without a value: nothing is set for the group.
    GroupConfigsDeletion(&'a str),
    /// A type of a newer version. The rest of the state may rest on it, so a start must not pass over it.
    Unknown {
        /// The type.
        record_type: i16,
    },
}

impl<'a> Record<'a> {
    /// Reads a record of the log.
    ///
    /// # Errors
    /// [`DecodeError`] when there is no key, a value's version is not known, or the bytes are malformed; also for a
    /// tombstone of a type that has none.
    pub fn decode(key: Option<&'a [u8]>, value: Option<&'a [u8]>) -> Result<Self, DecodeError> {
        let mut key = Reader::new(key.ok_or(DecodeError::MissingKey)?);
        let record = match key.i16("the record type")? {
            topic::TYPE => {
                let id = TopicId(key.array("topic id")?);
                match value {
                    None => Self::TopicDeletion(id),
                    Some(value) => Self::Topic(Topic::decode_value(id, value)?),
                }
            }
            cluster_id::TYPE => Self::ClusterId(cluster_id::decode_value(present(value)?)?),
            producer_id_block::TYPE => {
                let next_producer_id = producer_id_block::decode_value(present(value)?)?;
                Self::ProducerIdBlock { next_producer_id }
            }
            group_configs::TYPE => {
                let group = GroupConfigs::decode_key(&mut key)?;
                match value {
                    None => Self::GroupConfigsDeletion(group),
                    Some(value) => Self::GroupConfigs(GroupConfigs::decode_value(group, value)?),
                }
            }
            record_type => return Ok(Self::Unknown { record_type }),
        };
        key.finish()?;
        Ok(record)
    }

    /// Appends the key's bytes.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`].
    pub fn encode_key(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Self::Topic(Topic { id, .. }) | Self::TopicDeletion(id) => {
                put_i16(out, topic::TYPE);
                out.extend_from_slice(&id.0);
            }
            Self::ClusterId(_) => put_i16(out, cluster_id::TYPE),
            Self::ProducerIdBlock { .. } => put_i16(out, producer_id_block::TYPE),
            Self::GroupConfigs(GroupConfigs { group, .. }) | Self::GroupConfigsDeletion(group) => {
                GroupConfigs::encode_key(group, out)?;
            }
            Self::Unknown { record_type } => put_i16(out, *record_type),
        }
        Ok(())
    }

    /// The value's bytes; `None` for a tombstone (and for a record that was not understood).
    ///
    /// # Errors
    /// [`EncodeError::TooLong`].
    pub fn encode_value(&self) -> Result<Option<Vec<u8>>, EncodeError> {
        let mut out = Vec::new();
        match self {
            Self::TopicDeletion(_) | Self::GroupConfigsDeletion(_) | Self::Unknown { .. } => return Ok(None),
            Self::Topic(topic) => topic.encode_value(&mut out)?,
            Self::ClusterId(id) => cluster_id::encode_value(id, &mut out)?,
            Self::GroupConfigs(configs) => configs.encode_value(&mut out)?,
            Self::ProducerIdBlock { next_producer_id } => {
                producer_id_block::encode_value(*next_producer_id, &mut out);
            }
        }
        Ok(Some(out))
    }
}

fn present(value: Option<&[u8]>) -> Result<&[u8], DecodeError> {
    value.ok_or(DecodeError::InvalidValue("a record that cannot be deleted"))
}

/// Reads the version of a value; all of ours have version 0 so far.
fn read_version(reader: &mut Reader<'_>, record: &'static str) -> Result<(), DecodeError> {
    match reader.i16("the version")? {
        VERSION => Ok(()),
        version => Err(DecodeError::UnsupportedVersion { record, version }),
    }
}

const VERSION: i16 = 0;
