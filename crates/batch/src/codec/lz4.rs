//! LZ4 in its frame format, as Kafka uses it: independent blocks of 64 KiB and no checksums written; block checksums
//! and a content size accepted; blocks that depend on each other refused, because Kafka's readers cannot open them.

use std::io::{self, Read, Write};

use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

use super::{Failure, read_bounded};

const MAGIC: [u8; 4] = 0x184D_2204_u32.to_le_bytes();
/// The bit of the flags byte behind the magic that says that blocks are independent.
const INDEPENDENT_BLOCKS_BIT: u8 = 1 << 5;

pub(super) fn compress(input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let frame = FrameInfo::new().block_size(BlockSize::Max64KB).block_mode(BlockMode::Independent);
    let mut encoder = FrameEncoder::with_frame_info(frame, out);
    encoder.write_all(input)?;
    encoder.finish().map_err(io::Error::other)?;
    Ok(())
}

pub(super) fn decompress(input: &[u8], max_bytes: usize) -> Result<Vec<u8>, Failure> {
    let flags = input
        .strip_prefix(&MAGIC)
        .and_then(|behind| behind.first())
        .ok_or_else(|| Failure::Undecodable("not an LZ4 frame".to_owned()))?;
    if flags & INDEPENDENT_BLOCKS_BIT == 0 {
        return Err(Failure::Undecodable("the blocks of the LZ4 frame depend on each other".to_owned()));
    }
    read_bounded(FrameDecoder::new(EndIsError(input)), input.len(), max_bytes)
}

/// Input that fails where it ends. The decoder would take an end between two blocks for the end mark, and reads
/// nothing behind a real one.
struct EndIsError<'a>(&'a [u8]);

impl Read for EndIsError<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "the LZ4 frame has no end mark"))
            }
            read => Ok(read),
        }
    }
}
