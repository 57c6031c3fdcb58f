//! The five compression codecs of a batch: what follows the header is one compressed stream.
//!
//! Output is bounded by the caller, whatever the input claims about itself; a decoder never sizes a buffer from a
//! claim that its input could not make true.

mod lz4;
mod snappy;

use std::fmt;
use std::io::{self, Read, Write};

use crate::{BatchError, Compression, layout};

/// The most that the records of one batch may decompress to: above the largest request a server takes by default
/// (100 MiB), far below what a few compressed megabytes could claim.
pub const MAX_DECOMPRESSED_BYTES: usize = 128 << 20;

/// First guess of how much larger records get when decompressed. Only sizes a buffer that grows if need be.
const USUAL_RATIO: usize = 4;

/// How the records of a batch are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    #[default]
    None,
    /// RFC 1952.
    Gzip,
    /// Snappy blocks, in xerial's framing or a single bare one.
    Snappy,
    /// The LZ4 frame format with independent blocks.
    Lz4,
    /// Zstandard frames (KIP-110).
    Zstd,
}

impl Codec {
    /// The codec that the attribute bits of a batch name.
    pub(crate) fn from_attributes(attributes: i16) -> Result<Self, BatchError> {
        match attributes & layout::CODEC_MASK {
            0 => Ok(Self::None),
            1 => Ok(Self::Gzip),
            2 => Ok(Self::Snappy),
            3 => Ok(Self::Lz4),
            4 => Ok(Self::Zstd),
            other => Err(BatchError::UnknownCodec(other as u8)),
        }
    }

    /// The codec's number in the attribute bits.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Gzip => 1,
            Self::Snappy => 2,
            Self::Lz4 => 3,
            Self::Zstd => 4,
        }
    }

    /// Compresses as Kafka's Java client does. At most 1 GiB of input, which is what a builder holds.
    #[must_use]
    pub fn compress(self, input: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(input.len() / 2);
        self.compress_into(input, &mut out).expect("writing to memory does not fail");
        out
    }

    /// Appends the compressed form of `input` to `out`.
    pub(crate) fn compress_into(self, input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        Compression::from(self).compress_into(input, out)
    }

    /// Decompresses to at most `max_bytes`.
    ///
    /// # Errors
    /// [`BatchError::Undecodable`] and [`BatchError::DecompressesTooLarge`].
    pub fn decompress(self, input: &[u8], max_bytes: usize) -> Result<Vec<u8>, BatchError> {
        let outcome = match self {
            Self::None if input.len() > max_bytes => Err(Failure::TooLarge),
            Self::None => Ok(input.to_vec()),
            Self::Gzip => read_bounded(flate2::read::MultiGzDecoder::new(input), input.len(), max_bytes),
            Self::Snappy => snappy::decompress(input, max_bytes),
            Self::Lz4 => lz4::decompress(input, max_bytes),
            Self::Zstd => zstd::stream::read::Decoder::with_buffer(input)
                .map_err(Failure::from)
                .and_then(|decoder| read_bounded(decoder, input.len(), max_bytes)),
        };
        outcome.map_err(|failure| match failure {
            Failure::TooLarge => BatchError::DecompressesTooLarge { max_bytes },
            Failure::Undecodable(reason) => BatchError::Undecodable { codec: self, reason },
        })
    }
}

impl Compression {
    /// Appends the compressed form of `input` to `out`.
    pub(crate) fn compress_into(self, input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        match self.codec {
            Codec::None => out.extend_from_slice(input),
            Codec::Gzip => {
                // Outside 0 to 9 (Kafka says −1) the codec's own is meant.
                let level =
                    self.level.and_then(|level| u32::try_from(level).ok()).filter(|level| *level <= 9);
                let level = level.map_or_else(flate2::Compression::default, flate2::Compression::new);
                let mut encoder = flate2::write::GzEncoder::new(out, level);
                encoder.write_all(input)?;
                encoder.finish()?;
            }
            Codec::Snappy => snappy::compress(input, out)?,
            Codec::Lz4 => lz4::compress(input, out)?,
            Codec::Zstd => {
                let level = self.level.unwrap_or(zstd::DEFAULT_COMPRESSION_LEVEL);
                zstd::stream::copy_encode(input, out, level)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Codec {
    /// The name that `compression.type` uses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        })
    }
}

/// Why a stream was given up.
#[derive(Debug)]
enum Failure {
    TooLarge,
    Undecodable(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Undecodable(error.to_string())
    }
}

/// Reads `decoder` to its end, or gives up at the first byte above the bound.
fn read_bounded(decoder: impl Read, input_bytes: usize, max_bytes: usize) -> Result<Vec<u8>, Failure> {
    let guess = input_bytes.saturating_mul(USUAL_RATIO).min(max_bytes);
    let mut out = Vec::with_capacity(guess);
    decoder.take(max_bytes as u64 + 1).read_to_end(&mut out)?;
    if out.len() > max_bytes { Err(Failure::TooLarge) } else { Ok(out) }
}

#[cfg(test)]
mod tests;
