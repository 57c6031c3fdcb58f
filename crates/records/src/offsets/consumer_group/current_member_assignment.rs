//! Type 8: what a member has now, what it must still give up, and since which epoch it has each partition (KIP-1251).

use milepost_model::{PartitionIndex, TopicId};

use super::topic_partitions::{put_list, put_numbers, read_list, read_numbers};
use crate::bytes::{Format, Reader, Tag, put_i32, put_unsigned_varint};
use crate::{DecodeError, EncodeError};

const ASSIGNMENT_EPOCHS_TAG: u32 = 0;

/// A member's assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroupCurrentMemberAssignmentValue {
    /// The member epoch; −2 of a static member that left for a short time.
    pub member_epoch: i32,
    /// The one before.
    pub previous_member_epoch: i32,
    /// How far it is.
    pub state: MemberState,
    /// What it has.
    pub assigned_partitions: Vec<OwnedTopicPartitions>,
    /// What it must still give up.
    pub partitions_pending_revocation: Vec<OwnedTopicPartitions>,
}

/// How far a member is on its way to the target assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// It has what it shall have.
    Stable,
    /// It must give up partitions first.
    UnrevokedPartitions,
    /// It waits for partitions that others have not given up yet.
    UnreleasedPartitions,
    /// A state of a newer broker.
    Unknown(i8),
}

impl MemberState {
    /// The number in the record.
    #[must_use]
    pub fn code(self) -> i8 {
        match self {
            Self::Stable => 0,
            Self::UnrevokedPartitions => 1,
            Self::UnreleasedPartitions => 2,
            Self::Unknown(code) => code,
        }
    }

    pub(super) fn from_code(code: i8) -> Self {
        match code {
            0 => Self::Stable,
            1 => Self::UnrevokedPartitions,
            2 => Self::UnreleasedPartitions,
            other => Self::Unknown(other),
        }
    }
}

/// Some partitions of one topic, and since which epoch each is the member's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedTopicPartitions {
    /// The topic.
    pub topic_id: TopicId,
    /// The partitions.
    pub partitions: Vec<PartitionIndex>,
    /// The epochs, in the order of the partitions; `None` in records of brokers before Kafka 4.3.
    pub assignment_epochs: Option<Vec<i32>>,
}

impl ConsumerGroupCurrentMemberAssignmentValue {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let value = Self {
            member_epoch: reader.i32("memberEpoch")?,
            previous_member_epoch: reader.i32("previousMemberEpoch")?,
            state: MemberState::from_code(reader.i8("state")?),
            assigned_partitions: read_list(reader, "assignedPartitions", OwnedTopicPartitions::read)?,
            partitions_pending_revocation: read_list(
                reader,
                "partitionsPendingRevocation",
                OwnedTopicPartitions::read,
            )?,
        };
        reader.unknown_tagged_fields()?;
        Ok(value)
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_i32(out, self.member_epoch);
        put_i32(out, self.previous_member_epoch);
        out.extend_from_slice(&self.state.code().to_be_bytes());
        put_list(out, &self.assigned_partitions, "assignedPartitions", |out, topic| topic.put(out))?;
        put_list(out, &self.partitions_pending_revocation, "partitionsPendingRevocation", |out, topic| {
            topic.put(out)
        })?;
        put_unsigned_varint(out, 0);
        Ok(())
    }
}

impl OwnedTopicPartitions {
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let topic_id = TopicId(reader.array("topicId")?);
        let partitions = read_numbers(reader, "partitions")?.into_iter().map(PartitionIndex).collect();
        let mut assignment_epochs = None;
        reader.tagged_fields(|tag, field| {
            if tag != ASSIGNMENT_EPOCHS_TAG {
                return Ok(Tag::Unknown);
            }
            let mut epochs = Vec::new();
            // A null list is one byte, and the default.
            if field.rest() == [0] {
                field.i8("assignmentEpochs")?;
                return Ok(Tag::Known);
            }
            for _ in 0..field.array_length(Format::Flexible, "assignmentEpochs")? {
                epochs.push(field.i32("assignmentEpochs")?);
            }
            assignment_epochs = Some(epochs);
            Ok(Tag::Known)
        })?;
        Ok(Self { topic_id, partitions, assignment_epochs })
    }

    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.topic_id.0);
        put_numbers(out, self.partitions.iter().map(|partition| partition.0), "partitions")?;
        let Some(epochs) = &self.assignment_epochs else {
            put_unsigned_varint(out, 0);
            return Ok(());
        };
        let mut field = Vec::with_capacity(5 + 4 * epochs.len());
        put_numbers(&mut field, epochs.iter().copied(), "assignmentEpochs")?;
        put_unsigned_varint(out, 1);
        put_unsigned_varint(out, ASSIGNMENT_EPOCHS_TAG);
        put_unsigned_varint(
            out,
            u32::try_from(field.len()).map_err(|_| EncodeError::TooLong("assignmentEpochs"))?,
        );
        out.extend_from_slice(&field);
        Ok(())
    }
}
