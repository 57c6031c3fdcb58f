//! Texts that the programs' own classes wrote: parallel-consumer-core 0.5.3.3 (`OffsetSimultaneousEncoder`) and
//! kafka-streams 4.4.0 (`TopicPartitionMetadata`).

use std::collections::BTreeMap;

use milepost_model::{Offset, Timestamp};

use super::done_map::{DoneMap, DoneRange, RANGES_MAX};
use super::streams::StreamsMetadata;
use super::*;

fn read(offset: i64, metadata: &str) -> Option<CommitMetadata> {
    let metadata = metadata.to_owned();
    decode(&Committed { offset: Offset(offset), leader_epoch: None, metadata })
}

fn map(offset: i64, metadata: &str) -> DoneMap {
    match read(offset, metadata) {
        Some(CommitMetadata::Done(map)) => map,
        other => panic!("{metadata} is {other:?}"),
    }
}

fn ranges(map: &DoneMap) -> Vec<(i64, i64)> {
    map.ranges.iter().map(|DoneRange { first, last }| (first.0, last.0)).collect()
}

/// 100, 103, 104 and 108 of 100 to 109 were not done.
const TEN: [(&str, &str); 8] = [
    ("BitSet", "bAAK5gIA"),
    ("BitSetCompressed", "YSi1L/0AWCkAAAAK5gIA"),
    ("RunLength", "bgABAAIAAgADAAEAAQ=="),
    ("RunLengthCompressed", "Sii1L/0AWGEAAAABAAIAAgADAAEAAQ=="),
    ("BitSetV2", "bwAAAArmAgA="),
    ("BitSetV2Compressed", "cyi1L/0AWDkAAAAAAArmAgA="),
    ("RunLengthV2", "ZQAAAAEAAAACAAAAAgAAAAMAAAABAAAAAQ=="),
    ("RunLengthV2Compressed", "cCi1L/0AWMEAAAAAAAEAAAACAAAAAgAAAAMAAAABAAAAAQ=="),
];

#[test]
fn every_encoding_of_the_parallel_consumer_says_what_is_done() {
    for (encoding, metadata) in TEN {
        let map = map(100, metadata);
        assert_eq!((map.encoding, map.base, map.end, map.done), (encoding, Offset(100), Offset(110), 6));
        assert_eq!(ranges(&map), [(101, 102), (105, 107), (109, 109)], "{encoding}");
        assert_eq!(map.remaining(Offset(115)), Some(9), "4 in the map and 5 behind it");
        assert_eq!(map.remaining(Offset(109)), None, "it speaks of a record that is not there");
    }
}

#[test]
fn a_map_may_say_that_nothing_is_done() {
    let one_open =
        ["bAABAAA=", "YSi1L/0AWCEAAAABAAA=", "bgAB", "Sii1L/0AWBEAAAAB", "bwAAAAEAAA==", "ZQAAAAE="];
    for metadata in one_open {
        let map = map(40, metadata);
        assert_eq!((map.end, map.done, map.remaining(Offset(41))), (Offset(41), 0, Some(1)));
    }
    for metadata in ["bAAAAA==", "bgAA", "bwAAAAAA", "ZQAAAAA=", "cCi1L/0AWCEAAAAAAAA="] {
        let map = map(7, metadata);
        assert_eq!((map.end, map.done, map.remaining(Offset(7))), (Offset(7), 0, Some(0)));
    }
}

#[test]
fn what_is_not_a_whole_map_is_not_believed() {
    let bytes = |bytes: &[u8]| BASE64.encode(bytes);
    let refused = [
        ("bits beyond the count", bytes(b"l\0\x03\xff\0")),
        ("too few bits", bytes(b"l\0\x0a\xff")),
        ("more than bits", bytes(b"l\0\x03\x07\0\0")),
        ("a negative count", bytes(b"l\xff\xff\0")),
        ("half a run", bytes(b"n\0\x01\0")),
        ("a negative run", bytes(b"e\0\0\0\x01\xff\xff\xff\xff")),
        ("no run", bytes(b"n")),
        ("no frame", bytes(b"pplain")),
        ("an unknown encoding", bytes(b"q\0\x01")),
    ];
    for (why, metadata) in refused {
        assert_eq!(read(100, &metadata), None, "{why}");
    }
    let endless = bytes(b"e\0\0\0\0\x7f\xff\xff\xff");
    assert_eq!(read(i64::MAX - 5, &endless), None, "offsets end before");
    // A frame of a few bytes that would become very many.
    let bomb = [b"s".as_slice(), &milepost_batch::Codec::Zstd.compress(&vec![0; 4 << 20])].concat();
    assert_eq!(read(0, &bytes(&bomb)), None);
    assert_eq!(
        map(0, &endless).remaining(Offset(1000)),
        None,
        "two thousand million records that are not there"
    );
}

#[test]
fn of_very_many_ranges_some_are_kept_and_all_are_counted() {
    let runs: Vec<u8> = std::iter::repeat_n([0, 1, 0, 1], RANGES_MAX + 5).flatten().collect();
    let map = map(0, &BASE64.encode([b"n".as_slice(), &runs].concat()));
    assert_eq!((map.ranges.len(), map.more_ranges, map.done), (RANGES_MAX, 5, 1005));
    let bits: Vec<u8> = vec![0b0110_0110; 1000];
    let map = self::map(0, &BASE64.encode([b"o\0\0\x1f\x40".as_slice(), &bits, b"\0"].concat()));
    assert_eq!((map.ranges.len(), map.more_ranges, map.done), (RANGES_MAX, 1000, 4000));
}

#[test]
fn kafka_streams_says_how_far_time_has_come() {
    let said = |version, time: Option<i64>, processors: &[(&str, i64)]| {
        let processors: BTreeMap<String, i64> =
            processors.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
        Some(CommitMetadata::Streams(StreamsMetadata {
            version,
            partition_time: time.map(Timestamp),
            processors,
        }))
    };
    let time = 1_700_000_000_000;
    assert_eq!(read(5, "AgAAAYvP5WgA"), said(2, Some(time), &[]));
    assert_eq!(read(5, "Av//////////"), said(2, None, &[]));
    assert_eq!(
        read(5, "AgAAAYvP5WgAAAAAAgAAAAZhZ2ctw6kAAAGLz+VkGAAAAAFiAAAAAAAAAAU="),
        said(2, Some(time), &[("agg-é", time - 1000), ("b", 5)])
    );
    // As Kafka Streams before 3.2 wrote it.
    assert_eq!(read(5, "AQAAAYvP5WgA"), said(1, Some(time), &[]));
}

#[test]
fn what_nobody_known_wrote_is_nothing() {
    let texts =
        ["", "hello", "{\"a\":1}", "AgAAAYvP5WgAAA==", "AQAAAYvP5WgAAA==", "AwAAAYvP5WgA", "Agb/", "AAAA"];
    for text in texts {
        assert_eq!(read(5, text), None, "{text}");
    }
    let lie = BASE64.encode(b"\x02\0\0\0\0\0\0\0\x05\x7f\xff\xff\xff");
    assert_eq!(read(5, &lie), None, "so many processors are not there");
}
