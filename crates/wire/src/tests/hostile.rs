//! Bytes that no honest client sends: never a panic, never more memory than a small multiple of the frame.

#![allow(clippy::disallowed_methods, reason = "the corpus of frames lies in files")]

use std::fs;
use std::path::PathBuf;

use super::{arbitrary_request, cases};
use crate::testing::Random;
use crate::{ApiKey, DecodeError, RequestBody, RequestError, decode_request};

/// The most memory that decoding may hold at once, for each byte of the frame. The smallest elements of arrays take
/// about twenty times their bytes, and an array that grows is there twice for a moment.
const MEMORY_PER_FRAME_BYTE: u64 = 40;

/// How many mutated frames an ordinary test run tries.
const MUTATIONS: usize = 30_000;

/// Where the fuzzer keeps the inputs it starts from.
fn corpus_folder() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.ancestors().nth(2).expect("the workspace").join("fuzz/corpus/decode_request")
}

fn corpus() -> Vec<Vec<u8>> {
    let mut paths: Vec<_> =
        fs::read_dir(corpus_folder()).expect("the corpus").map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Decodes and measures. What decodes must also survive being encoded and decoded again.
#[track_caller]
fn try_frame(frame: &[u8]) {
    let mut decodes = false;
    let memory = allocation_counter::measure(|| decodes = decode_request(frame).is_ok());
    let bound = MEMORY_PER_FRAME_BYTE * frame.len() as u64;
    assert!(memory.bytes_max <= bound, "{} bytes of memory for {frame:02x?}", memory.bytes_max);
    if decodes {
        let (header, body) = decode_request(frame).expect("decoding is a function of the bytes");
        let case =
            cases().into_iter().find(|case| case.is_request && case.api == body.api()).expect("a case");
        let (value, again) = (case.decode)(body_bytes(frame), header.api_version).expect("it decoded above");
        assert_eq!((case.decode)(&again, header.api_version), Ok((value, again.clone())), "{frame:02x?}");
    }
}

/// What lies between the header and whatever comes after the last field.
fn body_bytes(frame: &[u8]) -> &[u8] {
    let mut reader = crate::Reader::new(frame);
    let header = crate::decode_header(&mut reader).expect("it decoded before");
    let start = frame.len() - reader.remaining();
    assert!(header.api_key.is_flexible(header.api_version) || start > 9);
    RequestBody::decode(header.api_key, &mut reader, header.api_version).expect("it decoded before");
    &frame[start..frame.len() - reader.remaining()]
}

/// Set `BLESS=1` to write the files that a new API or version asks for.
#[test]
fn the_corpus_has_a_frame_of_every_version_of_every_request() {
    for case in cases().iter().filter(|case| case.is_request && case.is_served()) {
        for version in case.versions() {
            let path = corpus_folder().join(format!("{}-{version}", case.api));
            if std::env::var_os("BLESS").is_some() && !path.exists() {
                let frame = arbitrary_request(case, &mut Random(version.unsigned_abs().into()), version);
                fs::create_dir_all(corpus_folder()).unwrap();
                fs::write(&path, frame).unwrap();
            }
            let frame = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let (header, _) =
                decode_request(&frame).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!((header.api_key, header.api_version), (case.api, version), "{}", path.display());
        }
    }
}

#[test]
fn mutated_frames_neither_panic_nor_take_memory() {
    let corpus = corpus();
    assert!(corpus.len() >= 150, "a corpus of {} frames", corpus.len());
    let mut random = Random(1);
    for frame in &corpus {
        try_frame(frame);
    }
    for _ in 0..MUTATIONS {
        let mut frame = corpus[random.below(corpus.len())].clone();
        for _ in 0..=random.below(4) {
            mutate(&mut frame, &mut random);
        }
        try_frame(&frame);
    }
}

fn mutate(frame: &mut Vec<u8>, random: &mut Random) {
    const NASTY: &[&[u8]] = &[
        &[0x7f, 0xff, 0xff, 0xff],
        &[0xff, 0xff, 0xff, 0xff],
        &[0x80, 0, 0, 0],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0x80, 0x80, 0x80, 0x80, 0x80],
        &[0x7f, 0xff],
        &[0],
        &[0xff],
    ];
    let at = random.below(frame.len().max(1));
    let length = random.below(frame.len() - at + 1);
    match random.below(6) {
        0 if !frame.is_empty() => frame[at] ^= 1 << random.below(8),
        1 if !frame.is_empty() => frame[at] = random.next() as u8,
        2 => drop(frame.drain(at..at + length)),
        3 => {
            let copy = frame[at..at + length].to_vec();
            frame.splice(at..at, copy);
        }
        4 => {
            let nasty = NASTY[random.below(NASTY.len())];
            let end = (at + nasty.len()).min(frame.len());
            frame.splice(at..end, nasty.iter().copied());
        }
        _ => frame.truncate(at),
    }
}

#[test]
fn every_frame_cut_short_is_refused() {
    for frame in corpus() {
        for length in 0..frame.len() {
            let cut = decode_request(&frame[..length]);
            assert!(matches!(cut, Err(RequestError::Malformed(_))), "{length} of {frame:02x?}: {cut:?}");
        }
    }
}

#[test]
fn what_comes_after_the_last_field_of_a_request_is_ignored() {
    for frame in corpus() {
        let longer = [frame.as_slice(), &[1, 0, 0]].concat();
        assert_eq!(decode_request(&longer), decode_request(&frame));
    }
}

/// The Metadata request of librdkafka 2.15.1 for all topics: it leaves four bytes for the count of topics, of which a
/// reader takes one. Kafka reads null, two times false, no tags, and leaves the last three bytes alone.
#[test]
fn librdkafka_asks_for_all_topics_with_three_bytes_too_many() {
    let frame = b"\0\x03\0\x0d\0\0\0\x03\0\x07rdkafka\0\0\0\0\0\x01\0\0";
    let (header, body) = decode_request(frame).expect("Kafka reads it");
    assert_eq!((header.api_key, header.api_version, header.correlation_id), (ApiKey::Metadata, 13, 3));
    let RequestBody::Metadata(request) = body else { panic!("{body:?}") };
    assert_eq!(request.topics, None);
}

#[test]
fn responses_that_are_mutated_do_not_panic() {
    let mut random = Random(2);
    for case in cases().iter().filter(|case| !case.is_request) {
        for version in case.versions() {
            for _ in 0..150 {
                let (mut body, _) = (case.arbitrary)(&mut random, version);
                for _ in 0..=random.below(3) {
                    mutate(&mut body, &mut random);
                }
                if let Ok((value, again)) = (case.decode)(&body, version) {
                    assert_eq!((case.decode)(&again, version), Ok((value, again.clone())), "{}", case.name);
                }
            }
        }
    }
}

/// A frame of `key` and `version`, with this body.
fn frame(key: i16, version: i16, flexible: bool, body: &[u8]) -> Vec<u8> {
    let mut frame = key.to_be_bytes().to_vec();
    frame.extend_from_slice(&version.to_be_bytes());
    frame.extend_from_slice(&[0, 0, 0, 1, 0xff, 0xff]);
    frame.extend(flexible.then_some(0));
    frame.extend_from_slice(body);
    frame
}

#[test]
fn an_array_of_two_billion_elements_is_refused_before_it_is_made() {
    let plain = frame(3, 1, false, &[0x7f, 0xff, 0xff, 0xff]);
    let compact = frame(3, 12, true, &[0xff, 0xff, 0xff, 0xff, 0x0f]);
    for frame in [plain, compact] {
        let memory = allocation_counter::measure(|| {
            assert_eq!(decode_request(&frame), Err(RequestError::Malformed(DecodeError::ArrayTooLong)));
        });
        assert_eq!(memory.bytes_total, 0);
    }
}

#[test]
fn strings_and_bytes_longer_than_the_frame_are_refused() {
    let truncated = Err(RequestError::Malformed(DecodeError::Truncated));
    assert_eq!(decode_request(&frame(12, 0, false, &[0x7f, 0xff, b'g'])), truncated);
    assert_eq!(decode_request(&frame(12, 4, true, &[0x09, b'g'])), truncated);
    // The assignment of a member in SyncGroup 0.
    let assignment = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x7f, 0xff, 0xff, 0xff];
    assert_eq!(decode_request(&frame(14, 0, false, &assignment)), truncated);
}

/// Elements of three bytes at least, as many as the frame could hold, the first of which is broken.
#[test]
fn a_count_alone_sizes_no_allocation_above_the_frame() {
    let body = [&[0xff; 25][..], &[0xa1, 0x9c, 0x01], &[0; 60_000]].concat();
    let frame = frame(1, 12, true, &body);
    let memory = allocation_counter::measure(|| {
        assert_eq!(decode_request(&frame), Err(RequestError::Malformed(DecodeError::UnexpectedNull)));
    });
    assert!(memory.bytes_total <= frame.len() as u64, "{} bytes", memory.bytes_total);
}

/// The most memory for the fewest bytes: arrays of the smallest elements, as many as the frame holds and as
/// many as it claims to hold.
#[test]
fn the_greediest_frames_stay_within_the_bound() {
    let fill = 3 * 20_000;
    // Lengths as variable numbers: 60,000 + 1 and 20,000 + 1.
    let names = [0xe1, 0xd4, 0x03];
    let structures = [0xa1, 0x9c, 0x01];
    let bodies: [(i16, i16, Vec<u8>); 3] = [
        // DeleteGroups 2: empty names, of one byte each.
        (42, 2, [&names[..], &vec![1; fill], &[0]].concat()),
        // OffsetFetch 8: groups that claim to be many, the first of them with topics that claim to be many.
        (9, 8, [&structures[..], &[1], &[0xa0, 0x9c, 0x01], &vec![1; fill - 4]].concat()),
        // Fetch 12: topics of three bytes each.
        (1, 12, [&[0xff; 25], &structures[..], &[1, 1, 0].repeat(20_000)[..], &[1, 1, 0]].concat()),
    ];
    for (key, version, body) in bodies {
        try_frame(&frame(key, version, true, &body));
    }
}

#[test]
fn apis_that_are_not_served_are_named() {
    for key in [-1, 4, 5, 6, 7, 9999] {
        assert_eq!(decode_request(&frame(key, 0, false, &[])), Err(RequestError::UnknownApi(key)));
    }
    assert_eq!(decode_request(&[]), Err(RequestError::Malformed(DecodeError::Truncated)));
}
