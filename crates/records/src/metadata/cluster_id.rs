//! Type 2: the name of this cluster. Key: nothing more. Value version 0: cluster id (string).

use super::{VERSION, read_version};
use crate::bytes::{Format, Reader, put_i16, put_string, put_unsigned_varint};
use crate::{DecodeError, EncodeError};

pub(super) const TYPE: i16 = 2;

pub(super) fn decode_value(value: &[u8]) -> Result<&str, DecodeError> {
    let mut reader = Reader::new(value);
    read_version(&mut reader, "ClusterId")?;
    let id = reader.string(Format::Flexible, "cluster id")?;
    reader.unknown_tagged_fields()?;
    reader.finish()?;
    Ok(id)
}

pub(super) fn encode_value(id: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    put_i16(out, VERSION);
    put_string(out, Format::Flexible, id, "cluster id")?;
    put_unsigned_varint(out, 0);
    Ok(())
}
