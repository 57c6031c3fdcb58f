//! Type 5: what a member said about itself.

use super::topic_partitions::{put_list, read_list};
use crate::bytes::{
    Format, Reader, Tag, put_i32, put_nullable_bytes, put_nullable_string, put_string, put_unsigned_varint,
};
use crate::{DecodeError, EncodeError};

const CLASSIC_TAG: u32 = 0;

/// A member of a consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroupMemberMetadataValue<'a> {
    /// The id of a static member.
    pub instance_id: Option<&'a str>,
    /// Where it runs.
    pub rack_id: Option<&'a str>,
    /// The client's own name.
    pub client_id: &'a str,
    /// Its address as Java prints one.
    pub client_host: &'a str,
    /// The topics it subscribes to by name; written sorted.
    pub subscribed_topic_names: Vec<&'a str>,
    /// The regular expression it subscribes to; "" for none, as Kafka writes it.
    pub subscribed_topic_regex: Option<&'a str>,
    /// How long it may take to give up partitions; `None` is stored as −1.
    pub rebalance_timeout_ms: Option<i32>,
    /// The assignor it prefers.
    pub server_assignor: Option<&'a str>,
    /// Of a member that speaks the classic protocol.
    pub classic_member_metadata: Option<ClassicMemberMetadata<'a>>,
}

/// What is kept of a classic member inside a consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicMemberMetadata<'a> {
    /// How long it may be silent.
    pub session_timeout_ms: i32,
    /// The protocols it supports.
    pub supported_protocols: Vec<ClassicProtocol<'a>>,
}

/// A protocol of a classic member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassicProtocol<'a> {
    /// Its name.
    pub name: &'a str,
    /// The member's bytes for it.
    pub metadata: &'a [u8],
}

impl<'a> ConsumerGroupMemberMetadataValue<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        const FORMAT: Format = Format::Flexible;
        let mut value = Self {
            instance_id: reader.nullable_string(FORMAT, "instanceId")?,
            rack_id: reader.nullable_string(FORMAT, "rackId")?,
            client_id: reader.string(FORMAT, "clientId")?,
            client_host: reader.string(FORMAT, "clientHost")?,
            subscribed_topic_names: read_list(reader, "subscribedTopicNames", |reader| {
                reader.string(FORMAT, "subscribedTopicNames")
            })?,
            subscribed_topic_regex: reader.nullable_string(FORMAT, "subscribedTopicRegex")?,
            rebalance_timeout_ms: Some(reader.i32("rebalanceTimeoutMs")?)
                .filter(|&timeout_ms| timeout_ms != -1),
            server_assignor: reader.nullable_string(FORMAT, "serverAssignor")?,
            classic_member_metadata: None,
        };
        reader.tagged_fields(|tag, field| {
            if tag != CLASSIC_TAG {
                return Ok(Tag::Unknown);
            }
            value.classic_member_metadata = match field.i8("classicMemberMetadata")? {
                ..=0 => None,
                1.. => Some(ClassicMemberMetadata::read(field)?),
            };
            Ok(Tag::Known)
        })?;
        Ok(value)
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        const FORMAT: Format = Format::Flexible;
        put_nullable_string(out, FORMAT, self.instance_id, "instanceId")?;
        put_nullable_string(out, FORMAT, self.rack_id, "rackId")?;
        put_string(out, FORMAT, self.client_id, "clientId")?;
        put_string(out, FORMAT, self.client_host, "clientHost")?;
        put_list(out, &self.subscribed_topic_names, "subscribedTopicNames", |out, name| {
            put_string(out, FORMAT, name, "subscribedTopicNames")
        })?;
        put_nullable_string(out, FORMAT, self.subscribed_topic_regex, "subscribedTopicRegex")?;
        put_i32(out, self.rebalance_timeout_ms.unwrap_or(-1));
        put_nullable_string(out, FORMAT, self.server_assignor, "serverAssignor")?;
        // Kafka writes the null of this field down, as a field of one byte.
        let mut field = vec![u8::from(self.classic_member_metadata.is_some())];
        if let Some(classic) = &self.classic_member_metadata {
            classic.put(&mut field)?;
        }
        put_unsigned_varint(out, 1);
        put_unsigned_varint(out, CLASSIC_TAG);
        let length = u32::try_from(field.len()).map_err(|_| EncodeError::TooLong("classicMemberMetadata"))?;
        put_unsigned_varint(out, length);
        out.extend_from_slice(&field);
        Ok(())
    }
}

impl<'a> ClassicMemberMetadata<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let session_timeout_ms = reader.i32("sessionTimeoutMs")?;
        let supported_protocols = read_list(reader, "supportedProtocols", |reader| {
            let name = reader.string(Format::Flexible, "name")?;
            let metadata = reader.byte_string(Format::Flexible, "metadata")?;
            reader.unknown_tagged_fields()?;
            Ok(ClassicProtocol { name, metadata })
        })?;
        reader.unknown_tagged_fields()?;
        Ok(Self { session_timeout_ms, supported_protocols })
    }

    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_i32(out, self.session_timeout_ms);
        put_list(out, &self.supported_protocols, "supportedProtocols", |out, protocol| {
            put_string(out, Format::Flexible, protocol.name, "name")?;
            put_nullable_bytes(out, Format::Flexible, Some(protocol.metadata), "metadata")?;
            put_unsigned_varint(out, 0);
            Ok(())
        })?;
        put_unsigned_varint(out, 0);
        Ok(())
    }
}
