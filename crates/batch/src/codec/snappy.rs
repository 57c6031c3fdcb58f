//! Snappy as Kafka uses it: xerial's framing written, that and a bare block read.
//!
//! The framing is a 16-byte header, then chunks of a big-endian length and a raw snappy block each.

use std::io;

use super::Failure;

const MAGIC: [u8; 8] = [0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0];
/// Framing version written, and the oldest version a reader must know.
const VERSIONS: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 1];
const HEADER_BYTES: usize = MAGIC.len() + VERSIONS.len();
/// Input bytes of one written chunk, as in the Java client.
const CHUNK_BYTES: usize = 32 << 10;
/// A snappy block of n bytes holds less than this many times n: its densest element makes 64 bytes of 3.
const MAX_RATIO: usize = 22;

pub(super) fn compress(input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSIONS);
    let mut encoder = snap::raw::Encoder::new();
    let mut block = vec![0; snap::raw::max_compress_len(CHUNK_BYTES.min(input.len()))];
    for chunk in input.chunks(CHUNK_BYTES) {
        let length = encoder.compress(chunk, &mut block).map_err(io::Error::other)?;
        let prefix = u32::try_from(length).expect("a block of 32 KiB is not above 4 GiB");
        out.extend_from_slice(&prefix.to_be_bytes());
        out.extend_from_slice(&block[..length]);
    }
    Ok(())
}

pub(super) fn decompress(input: &[u8], max_bytes: usize) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    if !input.starts_with(&MAGIC) {
        append_block(input, &mut out, max_bytes)?;
        return Ok(out);
    }
    let mut rest = input.get(HEADER_BYTES..).ok_or_else(|| undecodable("the framing header is cut"))?;
    while let Some((prefix, behind)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*prefix) as usize;
        let (block, behind) = behind
            .split_at_checked(length)
            .ok_or_else(|| undecodable("a chunk is longer than what is left"))?;
        append_block(block, &mut out, max_bytes)?;
        rest = behind;
    }
    if rest.is_empty() { Ok(out) } else { Err(undecodable("a chunk length is cut")) }
}

/// Decodes one raw block behind what `out` already holds.
fn append_block(block: &[u8], out: &mut Vec<u8>, max_bytes: usize) -> Result<(), Failure> {
    let claimed = snap::raw::decompress_len(block).map_err(|error| undecodable(&error.to_string()))?;
    if claimed > block.len().saturating_mul(MAX_RATIO) {
        return Err(undecodable("a block claims more than it can hold"));
    }
    let begin = out.len();
    if claimed > max_bytes - begin {
        return Err(Failure::TooLarge);
    }
    out.resize(begin + claimed, 0);
    snap::raw::Decoder::new()
        .decompress(block, &mut out[begin..])
        .map(|_| ())
        .map_err(|error| undecodable(&error.to_string()))
}

fn undecodable(reason: &str) -> Failure {
    Failure::Undecodable(reason.to_owned())
}
