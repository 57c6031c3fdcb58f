//! Type 7: what a member shall have once everybody has given up what it must.

use super::TopicPartitions;
use super::topic_partitions::{put_list, read_list};
use crate::bytes::{Reader, put_unsigned_varint};
use crate::{DecodeError, EncodeError};

/// A member's target assignment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerGroupTargetAssignmentMemberValue {
    /// The partitions, topic by topic.
    pub topic_partitions: Vec<TopicPartitions>,
}

impl ConsumerGroupTargetAssignmentMemberValue {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let topic_partitions = read_list(reader, "topicPartitions", TopicPartitions::read)?;
        reader.unknown_tagged_fields()?;
        Ok(Self { topic_partitions })
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_list(out, &self.topic_partitions, "topicPartitions", |out, topic| topic.put(out))?;
        put_unsigned_varint(out, 0);
        Ok(())
    }
}
