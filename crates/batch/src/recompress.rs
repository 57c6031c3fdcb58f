//! A batch compressed otherwise than it came, where a topic's `compression.type` asks for it. The records are the same
//! bytes before and after; of the header only codec, length and checksum change.

use crate::layout::{self, HEADER_BYTES, LENGTH_PREFIX_BYTES};
use crate::stamp::{put, renew_crc};
use crate::{BatchError, BatchView, Codec, MAX_DECOMPRESSED_BYTES};

/// A codec, and how hard it shall try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compression {
    /// The codec.
    pub codec: Codec,
    /// The level of gzip and zstd; `None` is the codec's own. The others have none here.
    pub level: Option<i32>,
}

impl From<Codec> for Compression {
    fn from(codec: Codec) -> Self {
        Self { codec, level: None }
    }
}

/// The batch with its records compressed like this. They are not looked at.
///
/// # Errors
/// [`BatchError::UnknownCodec`], [`BatchError::Undecodable`], [`BatchError::DecompressesTooLarge`].
pub fn recompress(batch: &BatchView<'_>, compression: Compression) -> Result<Vec<u8>, BatchError> {
    let (header, payload) = batch.bytes().split_at(HEADER_BYTES);
    let records = batch.codec()?.decompress(payload, MAX_DECOMPRESSED_BYTES)?;
    let mut out = Vec::with_capacity(batch.size_bytes());
    out.extend_from_slice(header);
    compression.compress_into(&records, &mut out).expect("writing to memory does not fail");
    let length = i32::try_from(out.len() - LENGTH_PREFIX_BYTES)
        .map_err(|_| BatchError::DecompressesTooLarge { max_bytes: MAX_DECOMPRESSED_BYTES })?;
    let attributes = batch.attributes() & !layout::CODEC_MASK | i16::from(compression.codec.number());
    put(&mut out, layout::LENGTH, &length.to_be_bytes());
    put(&mut out, layout::ATTRIBUTES, &attributes.to_be_bytes());
    renew_crc(&mut out);
    Ok(out)
}
