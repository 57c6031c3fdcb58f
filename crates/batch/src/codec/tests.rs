use super::*;

const CODECS: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

/// Text that compresses, with a part that does not, longer than one chunk of any codec.
fn sample(bytes: usize) -> Vec<u8> {
    let mut state = 1u32;
    (0..bytes)
        .map(|index| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if index / 1000 % 3 == 0 { (state >> 24) as u8 } else { (index % 50) as u8 }
        })
        .collect()
}

#[test]
fn what_was_compressed_comes_back() {
    for codec in CODECS {
        for length in [0, 1, 100, 32 << 10, (64 << 10) + 1, 300_000] {
            let input = sample(length);
            let packed = codec.compress(&input);
            assert_eq!(codec.decompress(&packed, length), Ok(input), "{codec} {length}");
        }
    }
}

#[test]
fn a_bomb_stops_at_the_bound() {
    let zeros = vec![0; 8 << 20];
    for codec in CODECS {
        let packed = codec.compress(&zeros);
        let bound = zeros.len() - 1;
        assert_eq!(
            codec.decompress(&packed, bound),
            Err(BatchError::DecompressesTooLarge { max_bytes: bound })
        );
        assert_eq!(codec.decompress(&packed, 10), Err(BatchError::DecompressesTooLarge { max_bytes: 10 }));
    }
}

#[test]
fn a_cut_stream_is_undecodable() {
    for codec in CODECS.into_iter().skip(1) {
        let packed = codec.compress(&sample(100_000));
        for length in (0..packed.len()).rev().step_by(997) {
            // Cut exactly between two chunks, snappy cannot tell; the records inside can.
            if let Ok(out) = codec.decompress(&packed[..length], 1 << 20) {
                assert!(codec == Codec::Snappy && out.len() % (32 << 10) == 0, "{codec} cut at {length}");
            }
        }
    }
}

#[test]
fn snappy_reads_a_bare_block_and_refuses_an_impossible_claim() {
    let input = sample(5000);
    let bare = snap::raw::Encoder::new().compress_vec(&input).unwrap();
    assert_eq!(Codec::Snappy.decompress(&bare, 5000), Ok(input));
    // Five bytes that claim to hold 100 MiB.
    let claim = [0x80, 0x80, 0x80, 0x32, 0];
    let Err(BatchError::Undecodable { reason, .. }) =
        Codec::Snappy.decompress(&claim, MAX_DECOMPRESSED_BYTES)
    else {
        panic!("nothing can be decoded from nothing")
    };
    assert!(reason.contains("claims more"), "refused before room is made for it, not after: {reason}");
}

#[test]
fn snappy_is_written_in_xerial_framing() {
    let packed = Codec::Snappy.compress(&sample(40 << 10));
    assert_eq!(packed[..16], *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01");
    let first = u32::from_be_bytes(packed[16..20].try_into().unwrap()) as usize;
    assert_eq!(snap::raw::decompress_len(&packed[20..20 + first]), Ok(32 << 10));
}

#[test]
fn lz4_is_written_with_independent_blocks_of_64_kib_and_no_checksums() {
    let packed = Codec::Lz4.compress(&sample(100));
    assert_eq!(packed[..6], [0x04, 0x22, 0x4d, 0x18, 0b0110_0000, 0b0100_0000]);
    assert_eq!(packed[packed.len() - 4..], [0; 4], "end mark");
}

#[test]
fn lz4_reads_block_checksums_and_a_content_size_but_no_dependent_blocks() {
    use lz4_flex::frame::{BlockMode, FrameEncoder, FrameInfo};
    let input = sample(200_000);
    let pack = |frame: FrameInfo| {
        let mut encoder = FrameEncoder::with_frame_info(frame, Vec::new());
        encoder.write_all(&input).unwrap();
        encoder.finish().unwrap()
    };
    let rich = FrameInfo::new().block_checksums(true).content_size(Some(200_000));
    assert_eq!(Codec::Lz4.decompress(&pack(rich), 200_000).as_ref(), Ok(&input));
    let linked = FrameInfo::new().block_mode(BlockMode::Linked);
    assert!(matches!(Codec::Lz4.decompress(&pack(linked), 200_000), Err(BatchError::Undecodable { .. })));
}
