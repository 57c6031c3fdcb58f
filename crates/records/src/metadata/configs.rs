//! What is set for a topic or a group, as the values of both records hold it.

use crate::bytes::{Format, Reader, put_length, put_string, put_unsigned_varint};
use crate::{DecodeError, EncodeError};

/// One setting of a topic or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config<'a> {
    /// Its name.
    pub key: &'a str,
    /// Its value, as it was set.
    pub value: &'a str,
}

pub(super) fn read<'a>(reader: &mut Reader<'a>) -> Result<Vec<Config<'a>>, DecodeError> {
    let mut configs = Vec::new();
    for _ in 0..reader.array_length(Format::Flexible, "configs")? {
        let key = reader.string(Format::Flexible, "config key")?;
        configs.push(Config { key, value: reader.string(Format::Flexible, "config value")? });
        reader.unknown_tagged_fields()?;
    }
    Ok(configs)
}

pub(super) fn put(out: &mut Vec<u8>, configs: &[Config<'_>]) -> Result<(), EncodeError> {
    put_length(out, Format::Flexible, Some(configs.len()), "configs")?;
    for config in configs {
        put_string(out, Format::Flexible, config.key, "config key")?;
        put_string(out, Format::Flexible, config.value, "config value")?;
        put_unsigned_varint(out, 0);
    }
    Ok(())
}
