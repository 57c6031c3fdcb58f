//! Type 3: how far producer ids were handed out. Key: nothing more. Value version 0: next producer id (`i64`).

use milepost_model::ProducerId;

use super::{VERSION, read_version};
use crate::DecodeError;
use crate::bytes::{Reader, put_i16, put_i64, put_unsigned_varint};

pub(super) const TYPE: i16 = 3;

pub(super) fn decode_value(value: &[u8]) -> Result<ProducerId, DecodeError> {
    let mut reader = Reader::new(value);
    read_version(&mut reader, "ProducerIdBlock")?;
    let next = reader.i64("next producer id")?;
    if next < 0 {
        return Err(DecodeError::InvalidValue("next producer id"));
    }
    reader.unknown_tagged_fields()?;
    reader.finish()?;
    Ok(ProducerId(next))
}

pub(super) fn encode_value(next: ProducerId, out: &mut Vec<u8>) {
    put_i16(out, VERSION);
    put_i64(out, next.0);
    put_unsigned_varint(out, 0);
}
