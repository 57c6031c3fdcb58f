//! The records of a consumer group (KIP-848), types 3 to 8 and 16: a group is many small records, one for each thing that
//! changes by itself. Every value has version 0 only, which is flexible.
//!
//! One type is one file. A new one is a variant of [`ConsumerGroupKey`]'s part and of [`ConsumerGroupRecord`] too.

mod current_member_assignment;
mod group_metadata;
mod member_metadata;
mod partition_metadata;
mod regular_expression;
mod target_assignment_member;
mod target_assignment_metadata;
#[cfg(test)]
mod tests;
mod topic_partitions;

pub use current_member_assignment::{
    ConsumerGroupCurrentMemberAssignmentValue, MemberState, OwnedTopicPartitions,
};
pub use group_metadata::ConsumerGroupMetadataValue;
pub use member_metadata::{ClassicMemberMetadata, ClassicProtocol, ConsumerGroupMemberMetadataValue};
pub use partition_metadata::{ConsumerGroupPartitionMetadataValue, PartitionRacks, TopicMetadata};
pub use regular_expression::ConsumerGroupRegularExpressionValue;
pub use target_assignment_member::ConsumerGroupTargetAssignmentMemberValue;
pub use target_assignment_metadata::ConsumerGroupTargetAssignmentMetadataValue;
pub use topic_partitions::TopicPartitions;

use crate::bytes::{Format, Reader, put_i16, put_string};
use crate::{DecodeError, EncodeError};

/// The key of a record of a consumer group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerGroupKey<'a> {
    /// The group.
    pub group: &'a str,
    /// Which of its records.
    pub part: ConsumerGroupPart<'a>,
}

/// What a record of a consumer group is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsumerGroupPart<'a> {
    /// Type 3: the group itself.
    GroupMetadata,
    /// Type 4: the subscribed topics, as Kafka 4.0 kept them.
    PartitionMetadata,
    /// Type 5: what this member said about itself.
    MemberMetadata(&'a str),
    /// Type 6: of which epoch the target assignment is.
    TargetAssignmentMetadata,
    /// Type 7: what this member shall have.
    TargetAssignmentMember(&'a str),
    /// Type 8: what this member has.
    CurrentMemberAssignment(&'a str),
    /// Type 16: what topics this regular expression means.
    RegularExpression(&'a str),
}

impl ConsumerGroupPart<'_> {
    fn record_type(self) -> i16 {
        match self {
            Self::GroupMetadata => 3,
            Self::PartitionMetadata => 4,
            Self::MemberMetadata(_) => 5,
            Self::TargetAssignmentMetadata => 6,
            Self::TargetAssignmentMember(_) => 7,
            Self::CurrentMemberAssignment(_) => 8,
            Self::RegularExpression(_) => 16,
        }
    }
}

impl<'a> ConsumerGroupKey<'a> {
    /// Reads the rest of a key of this type. `None`: it is no type of a consumer group.
    pub(super) fn read(record_type: i16, reader: &mut Reader<'a>) -> Result<Option<Self>, DecodeError> {
        if !matches!(record_type, 3..=8 | 16) {
            return Ok(None);
        }
        let group = reader.string(Format::Plain, "groupId")?;
        let part = match record_type {
            3 => ConsumerGroupPart::GroupMetadata,
            4 => ConsumerGroupPart::PartitionMetadata,
            5 => ConsumerGroupPart::MemberMetadata(reader.string(Format::Plain, "memberId")?),
            6 => ConsumerGroupPart::TargetAssignmentMetadata,
            7 => ConsumerGroupPart::TargetAssignmentMember(reader.string(Format::Plain, "memberId")?),
            8 => ConsumerGroupPart::CurrentMemberAssignment(reader.string(Format::Plain, "memberId")?),
            _ => ConsumerGroupPart::RegularExpression(reader.string(Format::Plain, "regularExpression")?),
        };
        Ok(Some(Self { group, part }))
    }

    /// Appends the key's bytes.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] when a name has more than [`crate::MAX_STRING_BYTES`].
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_i16(out, self.part.record_type());
        put_string(out, Format::Plain, self.group, "groupId")?;
        match self.part {
            ConsumerGroupPart::GroupMetadata
            | ConsumerGroupPart::PartitionMetadata
            | ConsumerGroupPart::TargetAssignmentMetadata => Ok(()),
            ConsumerGroupPart::MemberMetadata(name)
            | ConsumerGroupPart::TargetAssignmentMember(name)
            | ConsumerGroupPart::CurrentMemberAssignment(name) => {
                put_string(out, Format::Plain, name, "memberId")
            }
            ConsumerGroupPart::RegularExpression(regex) => {
                put_string(out, Format::Plain, regex, "regularExpression")
            }
        }
    }
}

/// A value of a consumer group's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsumerGroupRecord<'a> {
    /// Type 3.
    GroupMetadata(ConsumerGroupMetadataValue),
    /// Type 4.
    PartitionMetadata(ConsumerGroupPartitionMetadataValue<'a>),
    /// Type 5.
    MemberMetadata(ConsumerGroupMemberMetadataValue<'a>),
    /// Type 6.
    TargetAssignmentMetadata(ConsumerGroupTargetAssignmentMetadataValue),
    /// Type 7.
    TargetAssignmentMember(ConsumerGroupTargetAssignmentMemberValue),
    /// Type 8.
    CurrentMemberAssignment(ConsumerGroupCurrentMemberAssignmentValue),
    /// Type 16.
    RegularExpression(ConsumerGroupRegularExpressionValue<'a>),
}

impl<'a> ConsumerGroupRecord<'a> {
    /// Reads the value that belongs to a key.
    ///
    /// # Errors
    /// [`DecodeError::UnsupportedVersion`], or what is malformed.
    pub fn decode(part: ConsumerGroupPart<'_>, value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(value);
        let version = reader.i16("the version")?;
        if version != 0 {
            return Err(DecodeError::UnsupportedVersion { record: record_name(part), version });
        }
        let record = Self::read(part, &mut reader)?;
        reader.finish()?;
        Ok(record)
    }

    fn read(part: ConsumerGroupPart<'_>, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(match part {
            ConsumerGroupPart::GroupMetadata => {
                Self::GroupMetadata(ConsumerGroupMetadataValue::read(reader)?)
            }
            ConsumerGroupPart::PartitionMetadata => {
                Self::PartitionMetadata(ConsumerGroupPartitionMetadataValue::read(reader)?)
            }
            ConsumerGroupPart::MemberMetadata(_) => {
                Self::MemberMetadata(ConsumerGroupMemberMetadataValue::read(reader)?)
            }
            ConsumerGroupPart::TargetAssignmentMetadata => {
                Self::TargetAssignmentMetadata(ConsumerGroupTargetAssignmentMetadataValue::read(reader)?)
            }
            ConsumerGroupPart::TargetAssignmentMember(_) => {
                Self::TargetAssignmentMember(ConsumerGroupTargetAssignmentMemberValue::read(reader)?)
            }
            ConsumerGroupPart::CurrentMemberAssignment(_) => {
                Self::CurrentMemberAssignment(ConsumerGroupCurrentMemberAssignmentValue::read(reader)?)
            }
            ConsumerGroupPart::RegularExpression(_) => {
                Self::RegularExpression(ConsumerGroupRegularExpressionValue::read(reader)?)
            }
        })
    }

    /// Appends the value's bytes.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] when a list or a text is longer than its length field can say.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_i16(out, 0);
        match self {
            Self::GroupMetadata(value) => {
                value.put(out);
                Ok(())
            }
            Self::PartitionMetadata(value) => value.put(out),
            Self::MemberMetadata(value) => value.put(out),
            Self::TargetAssignmentMetadata(value) => {
                value.put(out);
                Ok(())
            }
            Self::TargetAssignmentMember(value) => value.put(out),
            Self::CurrentMemberAssignment(value) => value.put(out),
            Self::RegularExpression(value) => value.put(out),
        }
    }
}

fn record_name(part: ConsumerGroupPart<'_>) -> &'static str {
    match part {
        ConsumerGroupPart::GroupMetadata => "ConsumerGroupMetadataValue",
        ConsumerGroupPart::PartitionMetadata => "ConsumerGroupPartitionMetadataValue",
        ConsumerGroupPart::MemberMetadata(_) => "ConsumerGroupMemberMetadataValue",
        ConsumerGroupPart::TargetAssignmentMetadata => "ConsumerGroupTargetAssignmentMetadataValue",
        ConsumerGroupPart::TargetAssignmentMember(_) => "ConsumerGroupTargetAssignmentMemberValue",
        ConsumerGroupPart::CurrentMemberAssignment(_) => "ConsumerGroupCurrentMemberAssignmentValue",
        ConsumerGroupPart::RegularExpression(_) => "ConsumerGroupRegularExpressionValue",
    }
}
