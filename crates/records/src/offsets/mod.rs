//! The records of `__consumer_offsets`, as Kafka 4.x reads and writes them.
//!
//! A key is an `i16` record type and a plain (never flexible) struct; a value is an `i16` schema version and the
//! struct at that version; a tombstone is a key without a value. One record type lives in one file: a new one is a
//! file here, a variant of [`Key`] and of [`Record`], and an arm in each of their decoders.
//!
//! Types without a file (share and streams groups) are [`Key::Unknown`]: they are skipped by whoever
//! replays, as Kafka does since KIP-915, and survive in the log untouched. Whoever shows them reads them as a
//! [`described::DescribedRecord`].

pub mod consumer_group;
pub mod described;
mod group_metadata;
mod offset_commit;

#[cfg(test)]
mod tests;

pub use group_metadata::{GroupMetadataKey, GroupMetadataMember, GroupMetadataValue};
pub use offset_commit::{OffsetCommitKey, OffsetCommitValue};

use crate::DecodeError;
use crate::bytes::Reader;
use consumer_group::{ConsumerGroupKey, ConsumerGroupRecord};

/// A record's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// Type 0, which only brokers long gone wrote. It means what [`Key::OffsetCommit`] means.
    LegacyOffsetCommit(OffsetCommitKey<'a>),
    /// Type 1: the committed offset of a group in a partition.
    OffsetCommit(OffsetCommitKey<'a>),
    /// Type 2: a classic group.
    GroupMetadata(GroupMetadataKey<'a>),
    /// Types 3 to 8 and 16: a consumer group (KIP-848).
    ConsumerGroup(ConsumerGroupKey<'a>),
    /// A type this version does not know.
    Unknown {
        /// The type.
        record_type: i16,
        /// The rest of the key.
        bytes: &'a [u8],
    },
}

impl<'a> Key<'a> {
    /// Reads a key.
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes of a known type are not its struct, or are shorter than a type.
    pub fn decode(key: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(key);
        let key = match reader.i16("the record type")? {
            offset_commit::LEGACY_TYPE => Self::LegacyOffsetCommit(OffsetCommitKey::read(&mut reader)?),
            offset_commit::TYPE => Self::OffsetCommit(OffsetCommitKey::read(&mut reader)?),
            group_metadata::TYPE => Self::GroupMetadata(GroupMetadataKey::read(&mut reader)?),
            record_type => match ConsumerGroupKey::read(record_type, &mut reader)? {
                Some(key) => Self::ConsumerGroup(key),
                None => return Ok(Self::Unknown { record_type, bytes: reader.rest() }),
            },
        };
        reader.finish()?;
        Ok(key)
    }
}

/// A whole record; a value of `None` is a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// Types 0 and 1.
    OffsetCommit {
        /// Whose offset.
        key: OffsetCommitKey<'a>,
        /// The offset; `None` removes it.
        value: Option<OffsetCommitValue<'a>>,
    },
    /// Type 2.
    GroupMetadata {
        /// Which group.
        key: GroupMetadataKey<'a>,
        /// Its state; `None` removes the group.
        value: Option<GroupMetadataValue<'a>>,
    },
    /// Types 3 to 8 and 16.
    ConsumerGroup {
        /// Which record of which group.
        key: ConsumerGroupKey<'a>,
        /// What it says; `None` removes it.
        value: Option<ConsumerGroupRecord<'a>>,
    },
    /// A type this version does not know; to be skipped.
    Unknown {
        /// The type.
        record_type: i16,
    },
}

impl<'a> Record<'a> {
    /// Reads a record of the log.
    ///
    /// # Errors
    /// [`DecodeError::MissingKey`] without a key; [`DecodeError::UnsupportedVersion`] for a value of a known type in
    /// an unknown version; the others when the bytes are not what their type says. Never for an unknown type.
    pub fn decode(key: Option<&'a [u8]>, value: Option<&'a [u8]>) -> Result<Self, DecodeError> {
        match Key::decode(key.ok_or(DecodeError::MissingKey)?)? {
            Key::LegacyOffsetCommit(key) => {
                let value = value.map(OffsetCommitValue::decode_legacy).transpose()?;
                Ok(Self::OffsetCommit { key, value })
            }
            Key::OffsetCommit(key) => {
                Ok(Self::OffsetCommit { key, value: value.map(OffsetCommitValue::decode).transpose()? })
            }
            Key::GroupMetadata(key) => {
                Ok(Self::GroupMetadata { key, value: value.map(GroupMetadataValue::decode).transpose()? })
            }
            Key::ConsumerGroup(key) => {
                let value = value.map(|value| ConsumerGroupRecord::decode(key.part, value)).transpose()?;
                Ok(Self::ConsumerGroup { key, value })
            }
            Key::Unknown { record_type, .. } => Ok(Self::Unknown { record_type }),
        }
    }
}
