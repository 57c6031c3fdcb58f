//! Type 1: a topic, by its id.

use milepost_model::TopicId;

use super::{Config, VERSION, configs, read_version};
use crate::bytes::{Format, Reader, put_i16, put_i32, put_string, put_unsigned_varint};
use crate::{DecodeError, EncodeError};

pub(super) const TYPE: i16 = 1;

/// A topic.
///
/// Key: id (16 bytes). Value version 0: name (string), partition count (`i32`), replication factor (`i16`), internal
/// (`i8`, 0 or 1), configs (array of key (string), value (string)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic<'a> {
    /// Its identity.
    pub id: TopicId,
    /// Its name.
    pub name: &'a str,
    /// The number of its partitions, at least 1.
    pub partition_count: i32,
    /// As it was asked for; one node has one copy whatever it says. Kept so that clients read back what they asked.
    pub replication_factor: i16,
    /// Whether only the server writes to it (`__consumer_offsets`).
    pub is_internal: bool,
    /// What was set for this topic, in the order of their keys.
    pub configs: Vec<Config<'a>>,
}

impl<'a> Topic<'a> {
    pub(super) fn decode_value(id: TopicId, value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(value);
        read_version(&mut reader, "Topic")?;
        let name = reader.string(Format::Flexible, "name")?;
        let partition_count = reader.i32("partition count")?;
        if partition_count < 1 {
            return Err(DecodeError::InvalidValue("partition count"));
        }
        let replication_factor = reader.i16("replication factor")?;
        let is_internal = match reader.i8("internal")? {
            0 => false,
            1 => true,
            _ => return Err(DecodeError::InvalidValue("internal")),
        };
        let configs = configs::read(&mut reader)?;
        reader.unknown_tagged_fields()?;
        reader.finish()?;
        Ok(Self { id, name, partition_count, replication_factor, is_internal, configs })
    }

    pub(super) fn encode_value(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_i16(out, VERSION);
        put_string(out, Format::Flexible, self.name, "name")?;
        put_i32(out, self.partition_count);
        put_i16(out, self.replication_factor);
        out.push(u8::from(self.is_internal));
        configs::put(out, &self.configs)?;
        put_unsigned_varint(out, 0);
        Ok(())
    }
}
