//! Type 2: a classic group after a rebalance: its generation, protocol, members and their assignments.

use milepost_model::{Generation, Timestamp};

use crate::bytes::{
    Format, Reader, put_i16, put_i32, put_i64, put_length, put_nullable_bytes, put_nullable_string,
    put_string,
};
use crate::{DecodeError, EncodeError};

pub(super) const TYPE: i16 = 2;

/// The version written by every Kafka 4.x; version 4 is readable only.
const VERSION: i16 = 3;

/// Which group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupMetadataKey<'a> {
    /// The group.
    pub group: &'a str,
}

impl<'a> GroupMetadataKey<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self { group: reader.string(Format::Plain, "group")? })
    }

    /// Appends the key's bytes.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] when the name has more than [`crate::MAX_STRING_BYTES`].
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_i16(out, TYPE);
        put_string(out, Format::Plain, self.group, "group")
    }
}

/// The state of a classic group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMetadataValue<'a> {
    /// The protocol type, "consumer" for consumers. `None` (stored as the empty string) for a group that never had a
    /// member.
    pub protocol_type: Option<&'a str>,
    /// The generation.
    pub generation: Generation,
    /// The protocol (assignor) that was chosen; `None` for an empty group.
    pub protocol: Option<&'a str>,
    /// The member id of the leader; `None` for an empty group.
    pub leader: Option<&'a str>,
    /// When the group came into its state, from version 2 on.
    pub current_state_timestamp: Option<Timestamp>,
    /// The members. None: the group is empty.
    pub members: Vec<GroupMetadataMember<'a>>,
}

/// A member of a classic group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMetadataMember<'a> {
    /// The id the coordinator gave it.
    pub member_id: &'a str,
    /// The static member's id (KIP-345), from version 3 on.
    pub group_instance_id: Option<&'a str>,
    /// The client's own name.
    pub client_id: &'a str,
    /// Its address as Java prints one: usually with a slash in front.
    pub client_host: &'a str,
    /// In milliseconds, from version 1 on; without one the session timeout counts.
    pub rebalance_timeout_ms: Option<i32>,
    /// In milliseconds.
    pub session_timeout_ms: i32,
    /// The member's metadata for the chosen protocol, opaque (see [`crate::consumer_protocol`]).
    pub subscription: &'a [u8],
    /// What the leader assigned to it, opaque; empty when the leader left it out.
    pub assignment: &'a [u8],
}

impl<'a> GroupMetadataValue<'a> {
    /// Reads a value, versions 0 to 4.
    ///
    /// # Errors
    /// [`DecodeError::UnsupportedVersion`], or what is malformed.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(value);
        let version = reader.i16("the version")?;
        if !(0..=4).contains(&version) {
            return Err(DecodeError::UnsupportedVersion { record: "GroupMetadataValue", version });
        }
        let format = if version >= 4 { Format::Flexible } else { Format::Plain };
        let protocol_type = reader.string(format, "protocolType")?;
        let generation = Generation(reader.i32("generation")?);
        let protocol = reader.nullable_string(format, "protocol")?;
        let leader = reader.nullable_string(format, "leader")?;
        let current_state_timestamp = match version {
            0 | 1 => None,
            _ => Some(reader.i64("currentStateTimestamp")?).filter(|&time| time != -1).map(Timestamp),
        };
        let mut members = Vec::new();
        for _ in 0..reader.array_length(format, "members")? {
            members.push(GroupMetadataMember::read(&mut reader, version, format)?);
        }
        if format == Format::Flexible {
            reader.unknown_tagged_fields()?;
        }
        reader.finish()?;
        let protocol_type = Some(protocol_type).filter(|name| !name.is_empty());
        Ok(Self { protocol_type, generation, protocol, leader, current_state_timestamp, members })
    }

    /// Appends the value's bytes, version 3.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] when a string has more than [`crate::MAX_STRING_BYTES`].
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let format = Format::Plain;
        put_i16(out, VERSION);
        put_string(out, format, self.protocol_type.unwrap_or_default(), "protocolType")?;
        put_i32(out, self.generation.0);
        put_nullable_string(out, format, self.protocol, "protocol")?;
        put_nullable_string(out, format, self.leader, "leader")?;
        put_i64(out, self.current_state_timestamp.map_or(-1, |time| time.0));
        put_length(out, format, Some(self.members.len()), "members")?;
        self.members.iter().try_for_each(|member| member.put(out))
    }
}

impl<'a> GroupMetadataMember<'a> {
    fn read(reader: &mut Reader<'a>, version: i16, format: Format) -> Result<Self, DecodeError> {
        let member = Self {
            member_id: reader.string(format, "memberId")?,
            group_instance_id: match version {
                0..=2 => None,
                _ => reader.nullable_string(format, "groupInstanceId")?,
            },
            client_id: reader.string(format, "clientId")?,
            client_host: reader.string(format, "clientHost")?,
            rebalance_timeout_ms: match version {
                0 => None,
                _ => Some(reader.i32("rebalanceTimeout")?).filter(|&timeout_ms| timeout_ms != -1),
            },
            session_timeout_ms: reader.i32("sessionTimeout")?,
            subscription: reader.byte_string(format, "subscription")?,
            assignment: reader.byte_string(format, "assignment")?,
        };
        if format == Format::Flexible {
            reader.unknown_tagged_fields()?;
        }
        Ok(member)
    }

    fn put(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let format = Format::Plain;
        put_string(out, format, self.member_id, "memberId")?;
        put_nullable_string(out, format, self.group_instance_id, "groupInstanceId")?;
        put_string(out, format, self.client_id, "clientId")?;
        put_string(out, format, self.client_host, "clientHost")?;
        put_i32(out, self.rebalance_timeout_ms.unwrap_or(-1));
        put_i32(out, self.session_timeout_ms);
        put_nullable_bytes(out, format, Some(self.subscription), "subscription")?;
        put_nullable_bytes(out, format, Some(self.assignment), "assignment")
    }
}
