//! Batches whose bytes were made elsewhere: one by hand, the others by the Java client, librdkafka and kafka-python.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]
#![allow(clippy::disallowed_methods, reason = "the golden batches lie in files")]

use milepost_batch::{
    AppendRules, BatchBuilder, BatchOptions, BatchView, Codec, ControlType, Header, HeaderChange, KeyRule,
    Marker, TimestampRange, TimestampType, build_marker, sequence_plus, set_log_append_time, stamp,
    validate_client_batch,
};
use milepost_model::{
    LeaderEpoch, Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TransactionEnd,
};

const T: i64 = 1_700_000_000_000;

type Record = (i64, Option<&'static [u8]>, Option<Vec<u8>>, Vec<(&'static [u8], Option<&'static [u8]>)>);

/// What every fixture of a client holds, whatever the codec.
fn records() -> Vec<Record> {
    let big: String = (0..7000).map(|line| format!("line {line}\n")).collect();
    let headers: Vec<(&[u8], Option<&[u8]>)> =
        vec![(b"a", Some(b"1")), (b"", None), ("ü".as_bytes(), Some(b""))];
    vec![
        (T, None, Some(b"null key".to_vec()), vec![]),
        (T + 5, Some(b"key"), None, vec![]),
        (T - 3, Some(b""), Some(vec![]), vec![]),
        (T + 1_000_000, Some(b"h"), Some(b"v".to_vec()), headers),
        (T + 7, Some(b"big"), Some(big.into_bytes()), vec![]),
    ]
}

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/{name}.bin", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn parse(bytes: &[u8]) -> BatchView<'_> {
    let (batch, rest) = BatchView::parse(bytes).unwrap();
    assert!(rest.is_empty());
    batch
}

fn assert_holds_the_records(batch: &BatchView<'_>) {
    let opened = batch.records().unwrap();
    let read: Vec<_> = opened.iter().map(Result::unwrap).collect();
    assert_eq!(read.len(), 5);
    for (index, (record, (timestamp, key, value, headers))) in read.iter().zip(records()).enumerate() {
        assert_eq!(record.offset, batch.base_offset().plus(index as i64));
        assert_eq!(record.timestamp, Timestamp(timestamp));
        assert_eq!(record.key, key);
        assert_eq!(record.value, value.as_deref());
        let read_headers: Vec<_> = record.headers.map(|header| (header.key, header.value)).collect();
        assert_eq!(read_headers, headers);
    }
}

const CODECS: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

/// One record, laid out by hand from the format's description; the checksum comes from another CRC-32C program.
const BY_HAND: &str = "0000000000000000\
    0000003f\
    ffffffff\
    02\
    170ac30a\
    0000\
    00000000\
    00000000000003e8\
    00000000000003e8\
    ffffffffffffffff\
    ffff\
    00000000\
    00000001\
    1a 00 00 00 02 6b 06 76616c 02 02 68 01";

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn a_batch_made_by_hand_is_read_and_built() {
    let bytes = hex(BY_HAND);
    let batch = parse(&bytes);
    assert!(batch.crc_matches());
    assert_eq!(batch.size_bytes(), 75);
    assert_eq!(
        (batch.base_offset(), batch.last_offset(), batch.next_offset()),
        (Offset(0), Offset(0), Offset(1))
    );
    assert_eq!((batch.codec(), batch.timestamp_type()), (Ok(Codec::None), TimestampType::CreateTime));
    assert_eq!((batch.producer(), batch.base_sequence(), batch.last_sequence()), (None, Some(0), Some(0)));
    assert_eq!((batch.base_timestamp(), batch.max_timestamp()), (Timestamp(1000), Timestamp(1000)));

    let mut builder = BatchBuilder::new(BatchOptions::coordinator(None));
    let headers = [Header { key: b"h", value: None }];
    assert_eq!(builder.size_bytes_with(Timestamp(1000), Some(b"k"), Some(b"val"), &headers), bytes.len());
    builder.append(Timestamp(1000), Some(b"k"), Some(b"val"), &headers).unwrap();
    assert_eq!(builder.size_bytes(), bytes.len());
    assert_eq!(builder.build(Offset(0)), bytes);
}

#[test]
fn batches_of_the_java_client_are_read() {
    for codec in CODECS {
        let bytes = fixture(&format!("java-{codec}"));
        let batch = parse(&bytes);
        assert!(batch.crc_matches(), "{codec}");
        assert_eq!(batch.codec(), Ok(codec));
        assert_eq!(
            (batch.base_offset(), batch.last_offset(), batch.record_count()),
            (Offset(1000), Offset(1004), 5)
        );
        assert!(batch.is_transactional() && !batch.is_control());
        assert_eq!(batch.producer(), Some(producer(42, 7)));
        assert_eq!((batch.base_sequence(), batch.last_sequence()), (Some(i32::MAX - 1), Some(2)));
        assert_eq!(sequence_plus(i32::MAX - 1, 4), 2);
        assert_eq!((batch.base_timestamp(), batch.max_timestamp()), (Timestamp(T), Timestamp(T + 1_000_000)));
        assert_holds_the_records(&batch);
    }
}

#[test]
fn batches_of_librdkafka_are_read() {
    for codec in CODECS {
        let bytes = fixture(&format!("librdkafka-{codec}"));
        let batch = parse(&bytes);
        assert!(batch.crc_matches(), "{codec}");
        assert_eq!(batch.codec(), Ok(codec));
        assert!(batch.producer().is_some());
        assert_eq!(batch.base_sequence(), Some(0));
        assert_holds_the_records(&batch);
    }
}

#[test]
fn batches_of_kafka_python_are_read() {
    for codec in CODECS.into_iter().skip(1) {
        let bytes = fixture(&format!("kafka-python-{codec}"));
        let batch = parse(&bytes);
        assert!(batch.crc_matches(), "{codec}");
        assert_eq!(batch.codec(), Ok(codec));
        assert_holds_the_records(&batch);
    }
}

#[test]
fn client_batches_are_valid_as_they_came() {
    let rules = AppendRules {
        max_message_bytes: 1 << 20,
        keys: KeyRule::Optional,
        timestamp_type: TimestampType::CreateTime,
        timestamps: TimestampRange { before_max_ms: Some(1000), after_max_ms: Some(3_600_000) },
        now: Timestamp(T),
    };
    for name in ["librdkafka", "kafka-python"] {
        for codec in CODECS.into_iter().skip(usize::from(name == "kafka-python")) {
            let bytes = fixture(&format!("{name}-{codec}"));
            let valid = validate_client_batch(&parse(&bytes), &rules).unwrap();
            assert_eq!(valid.change, HeaderChange::Keep, "{name} {codec}");
            assert_eq!((valid.record_count, valid.max_timestamp), (5, Timestamp(T + 1_000_000)));
        }
    }
}

#[test]
fn an_uncompressed_batch_is_built_to_the_byte_as_the_java_client_does() {
    let options = BatchOptions {
        producer: Some(producer(42, 7)),
        base_sequence: Some(i32::MAX - 1),
        transactional: true,
        ..BatchOptions::default()
    };
    let mut builder = BatchBuilder::new(options);
    for (timestamp, key, value, headers) in records() {
        let headers: Vec<_> = headers.into_iter().map(|(key, value)| Header { key, value }).collect();
        builder.append(Timestamp(timestamp), key, value.as_deref(), &headers).unwrap();
    }
    assert_eq!(builder.len(), 5);
    assert!(builder.build(Offset(1000)) == fixture("java-none"));
}

#[test]
fn markers_are_those_of_the_java_client() {
    let mut commit = build_marker(
        producer(9, 2),
        Marker { end: TransactionEnd::Commit, coordinator_epoch: 11 },
        Timestamp(T + 123),
        Offset(55),
    );
    stamp(&mut commit, Offset(55), LeaderEpoch(3));
    assert_eq!(commit, fixture("java-commit-marker"));
    let bytes = fixture("java-abort-marker");
    let abort = parse(&bytes);
    assert!(abort.is_control() && abort.is_transactional());
    assert_eq!((abort.leader_epoch(), abort.producer()), (LeaderEpoch(4), Some(producer(9, 3))));
    assert_eq!((abort.base_sequence(), abort.last_sequence()), (None, None));
    let marker = Marker { end: TransactionEnd::Abort, coordinator_epoch: 12 };
    assert_eq!(abort.control_type(), Ok(Some(ControlType::Marker(marker))));
    assert_eq!(parse(&fixture("java-none")).control_type(), Ok(None));
}

#[test]
fn append_time_replaces_every_timestamp_and_leaves_the_records_alone() {
    let bytes = fixture("java-log-append-time");
    let batch = parse(&bytes);
    let append_time = Timestamp(T + 9999);
    assert_eq!((batch.timestamp_type(), batch.max_timestamp()), (TimestampType::LogAppendTime, append_time));
    let opened = batch.records().unwrap();
    assert!(opened.iter().all(|record| record.unwrap().timestamp == append_time));

    for codec in CODECS {
        let mut bytes = fixture(&format!("java-{codec}"));
        let before = bytes.clone();
        set_log_append_time(&mut bytes, append_time);
        assert_eq!(bytes[61..], before[61..]);
        let batch = parse(&bytes);
        assert!(batch.crc_matches());
        assert!(batch.records().unwrap().iter().all(|record| record.unwrap().timestamp == append_time));
    }
}

#[test]
fn stamping_leaves_the_checksum_right() {
    let mut bytes = fixture("java-zstd");
    stamp(&mut bytes, Offset(1 << 40), LeaderEpoch(17));
    let batch = parse(&bytes);
    assert!(batch.crc_matches());
    assert_eq!((batch.base_offset(), batch.last_offset()), (Offset(1 << 40), Offset((1 << 40) + 4)));
    assert_eq!(batch.leader_epoch(), LeaderEpoch(17));
    assert_holds_the_records(&batch);
}

fn producer(id: i64, epoch: i16) -> ProducerIdentity {
    ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(epoch) }
}
