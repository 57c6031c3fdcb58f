//! Type 4: the subscribed topics and where their partitions lie. Kafka 4.0 wrote it; since then there are only its tombstones,
//! and the hash in the group's own record says whether topics changed.

use milepost_model::{PartitionIndex, TopicId};

use super::topic_partitions::{put_list, read_list};
use crate::bytes::{Format, Reader, put_i32, put_string, put_unsigned_varint};
use crate::{DecodeError, EncodeError};

/// The topics a group subscribes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroupPartitionMetadataValue<'a> {
    /// The topics.
    pub topics: Vec<TopicMetadata<'a>>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicMetadata<'a> {
    /// Its identity.
    pub topic_id: TopicId,
    /// Its name.
    pub topic_name: &'a str,
    /// How many partitions it has.
    pub num_partitions: i32,
    /// Where they lie.
    pub partition_metadata: Vec<PartitionRacks<'a>>,
}

/// The racks of one partition's replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionRacks<'a> {
    /// The partition.
    pub partition: PartitionIndex,
    /// The racks.
    pub racks: Vec<&'a str>,
}

impl<'a> ConsumerGroupPartitionMetadataValue<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topics = read_list(reader, "topics", TopicMetadata::read)?;
        reader.unknown_tagged_fields()?;
        Ok(Self { topics })
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_list(out, &self.topics, "topics", |out, topic| topic.put(out))?;
        put_unsigned_varint(out, 0);
        Ok(())
    }
}

impl<'a> TopicMetadata<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topic = Self {
            topic_id: TopicId(reader.array("topicId")?),
            topic_name: reader.string(Format::Flexible, "topicName")?,
            num_partitions: reader.i32("numPartitions")?,
            partition_metadata: read_list(reader, "partitionMetadata", PartitionRacks::read)?,
        };
        reader.unknown_tagged_fields()?;
        Ok(topic)
    }

    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.topic_id.0);
        put_string(out, Format::Flexible, self.topic_name, "topicName")?;
        put_i32(out, self.num_partitions);
        put_list(out, &self.partition_metadata, "partitionMetadata", |out, partition| partition.put(out))?;
        put_unsigned_varint(out, 0);
        Ok(())
    }
}

impl<'a> PartitionRacks<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let partition = PartitionIndex(reader.i32("partition")?);
        let racks = read_list(reader, "racks", |reader| reader.string(Format::Flexible, "racks"))?;
        reader.unknown_tagged_fields()?;
        Ok(Self { partition, racks })
    }

    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_i32(out, self.partition.0);
        put_list(out, &self.racks, "racks", |out, rack| put_string(out, Format::Flexible, rack, "racks"))?;
        put_unsigned_varint(out, 0);
        Ok(())
    }
}
