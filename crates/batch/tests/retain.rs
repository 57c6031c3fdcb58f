//! Taking records out of a batch leaves what Kafka's own filter leaves, to the byte.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]
#![allow(clippy::disallowed_methods, reason = "the golden batches lie in files")]

use milepost_batch::{BatchView, Retained, retain_records};
use milepost_model::{Offset, Timestamp};

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/{name}.bin", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn parse(bytes: &[u8]) -> BatchView<'_> {
    BatchView::parse(bytes).unwrap().0
}

fn retain(bytes: &[u8], horizon: Option<Timestamp>, offsets: &[i64]) -> Retained {
    retain_records(&parse(bytes), horizon, |record| offsets.contains(&record.offset.0)).unwrap()
}

#[test]
fn what_is_left_is_what_kafka_leaves() {
    let horizon = Some(Timestamp(1_700_000_065_000));
    let cases: [(&str, Option<Timestamp>, &[i64], &str); 4] = [
        ("java-none", None, &[1003], "java-none-kept-1003"),
        ("java-none", horizon, &[1001, 1002], "java-none-kept-1001-1002"),
        ("java-none", None, &[], "java-none-kept-nothing"),
        ("java-log-append-time", None, &[6], "java-log-append-time-kept-6"),
    ];
    for (from, horizon, offsets, expected) in cases {
        assert_eq!(
            retain(&fixture(from), horizon, offsets),
            Retained::Rewritten(fixture(expected)),
            "{expected}"
        );
    }
}

#[test]
fn a_horizon_keeps_the_timestamps_and_is_set_once() {
    let kept = fixture("java-none-kept-1001-1002");
    let batch = parse(&kept);
    assert_eq!(batch.delete_horizon(), Some(Timestamp(1_700_000_065_000)));
    let records = batch.records().unwrap();
    let timestamps: Vec<_> = records.iter().map(|record| record.unwrap().timestamp.0).collect();
    assert_eq!(timestamps, [1_700_000_000_005, 1_699_999_999_997]);
    assert_eq!(retain(&kept, Some(Timestamp(5)), &[1001, 1002]), Retained::Unchanged);
}

#[test]
fn every_codec_keeps_its_span_and_its_rest() {
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let bytes = fixture(&format!("java-{codec}"));
        assert_eq!(retain(&bytes, None, &[1000, 1001, 1002, 1003, 1004]), Retained::Unchanged);
        let Retained::Rewritten(left) = retain(&bytes, None, &[1002, 1004]) else { panic!("three are gone") };
        let (before, after) = (parse(&bytes), parse(&left));
        assert!(after.crc_matches());
        assert_eq!(after.codec().unwrap(), before.codec().unwrap());
        assert_eq!((after.base_offset(), after.last_offset()), (Offset(1000), Offset(1004)));
        assert_eq!((after.producer(), after.last_sequence()), (before.producer(), before.last_sequence()));
        assert_eq!((after.record_count(), after.max_timestamp()), (2, Timestamp(1_700_000_000_007)));
        let (all, some) = (before.records().unwrap(), after.records().unwrap());
        let expected: Vec<_> =
            all.iter().map(Result::unwrap).filter(|record| [1002, 1004].contains(&record.offset.0)).collect();
        let read: Vec<_> = some.iter().map(Result::unwrap).collect();
        assert_eq!(read, expected);
        let Retained::Rewritten(none) = retain(&left, None, &[]) else { panic!("two are gone") };
        assert_eq!(parse(&none).records().unwrap().iter().count(), 0);
        assert_eq!(parse(&none).last_offset(), Offset(1004));
    }
}

#[test]
fn nothing_is_taken_out_of_a_batch_that_cannot_be_read() {
    let mut bytes = fixture("java-none");
    let end = bytes.len() - 1;
    bytes[end] = 0x02;
    assert!(retain_records(&parse(&bytes), None, |_| false).is_err());
}
