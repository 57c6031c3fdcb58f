//! Type 4: what is set for one group, by its id.

use super::{Config, VERSION, configs, read_version};
use crate::bytes::{Format, Reader, put_i16, put_string, put_unsigned_varint};
use crate::{DecodeError, EncodeError};

pub(super) const TYPE: i16 = 4;

/// What is set for one group.
///
/// Key: group (string). Value version 0: configs (array of key (string), value (string)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupConfigs<'a> {
    /// The group's id; no group of it need exist.
    pub group: &'a str,
    /// What is set, in the order of the keys.
    pub configs: Vec<Config<'a>>,
}

impl<'a> GroupConfigs<'a> {
    pub(super) fn decode_key(key: &mut Reader<'a>) -> Result<&'a str, DecodeError> {
        key.string(Format::Flexible, "group")
    }

    pub(super) fn encode_key(group: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_i16(out, TYPE);
        put_string(out, Format::Flexible, group, "group")
    }

    pub(super) fn decode_value(group: &'a str, value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(value);
        read_version(&mut reader, "GroupConfigs")?;
        let configs = configs::read(&mut reader)?;
        reader.unknown_tagged_fields()?;
        reader.finish()?;
        Ok(Self { group, configs })
    }

    pub(super) fn encode_value(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_i16(out, VERSION);
        configs::put(out, &self.configs)?;
        put_unsigned_varint(out, 0);
        Ok(())
    }
}
