//! What holds for any records and any damage.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use milepost_batch::{
    AppendRules, BatchBuilder, BatchError, BatchOptions, BatchView, Codec, Header, KeyRule,
    MAX_DECOMPRESSED_BYTES, TimestampRange, TimestampType, validate_client_batch,
};
use milepost_model::{Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Record {
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..max), (any::<u8>(), 0..max).prop_map(|(byte, length)| vec![byte; length])]
}

prop_compose! {
    fn record()(
        timestamp in prop_oneof![Just(-1), 0..i64::MAX, any::<i64>()],
        key in option::of(bytes(40)),
        value in option::of(bytes(3000)),
        headers in vec((bytes(10), option::of(bytes(10))), 0..4),
    ) -> Record {
        Record { timestamp, key, value, headers }
    }
}

fn codec() -> impl Strategy<Value = Codec> {
    prop_oneof![
        Just(Codec::None),
        Just(Codec::Gzip),
        Just(Codec::Snappy),
        Just(Codec::Lz4),
        Just(Codec::Zstd)
    ]
}

prop_compose! {
    fn options()(
        codec in codec(),
        producer in option::of((0..i64::MAX, 0..i16::MAX)),
        base_sequence in option::of(0..i32::MAX),
        transactional in any::<bool>(),
    ) -> BatchOptions {
        let producer = producer.map(|(id, epoch)| ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(epoch) });
        BatchOptions { codec, timestamp_type: TimestampType::CreateTime, producer, base_sequence, transactional }
    }
}

fn build(options: BatchOptions, records: &[Record], base_offset: i64) -> Vec<u8> {
    let mut builder = BatchBuilder::new(options);
    for record in records {
        let headers: Vec<_> =
            record.headers.iter().map(|(key, value)| Header { key, value: value.as_deref() }).collect();
        let (timestamp, key, value) =
            (Timestamp(record.timestamp), record.key.as_deref(), record.value.as_deref());
        let predicted = builder.size_bytes_with(timestamp, key, value, &headers);
        builder.append(timestamp, key, value, &headers).unwrap();
        assert_eq!(builder.size_bytes(), predicted);
    }
    builder.build(Offset(base_offset))
}

/// Rules under which every record is read.
fn reading_rules() -> AppendRules {
    AppendRules {
        max_message_bytes: usize::MAX,
        keys: KeyRule::Required,
        timestamp_type: TimestampType::CreateTime,
        timestamps: TimestampRange::default(),
        now: Timestamp(0),
    }
}

/// Reads everything there is, to see that nothing panics.
fn read_all(bytes: &[u8]) -> Result<usize, BatchError> {
    let (batch, _) = BatchView::parse(bytes)?;
    let _ = validate_client_batch(&batch, &reading_rules());
    let _ = (batch.last_offset(), batch.next_offset(), batch.last_sequence(), batch.control_type());
    let mut read = 0;
    for record in &batch.records_within(1 << 20)? {
        read += record?.headers.map(|header| header.key.len()).sum::<usize>() + 1;
    }
    Ok(read)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_was_built_is_read(
        options in options(),
        records in vec(record(), 1..12),
        base_offset in 0..i64::MAX / 2,
        behind in bytes(9),
    ) {
        let built = [build(options, &records, base_offset), behind.clone()].concat();
        let (batch, rest) = BatchView::parse(&built).unwrap();
        prop_assert_eq!(rest, &behind);
        prop_assert!(batch.crc_matches());
        prop_assert_eq!(batch.codec(), Ok(options.codec));
        prop_assert_eq!(batch.producer(), options.producer);
        prop_assert_eq!(batch.base_sequence(), options.base_sequence);
        prop_assert_eq!(batch.is_transactional(), options.transactional);
        prop_assert_eq!(batch.last_offset(), Offset(base_offset + records.len() as i64 - 1));
        prop_assert_eq!(batch.max_timestamp().0, records.iter().map(|record| record.timestamp).max().unwrap());
        let opened = batch.records().unwrap();
        let read: Vec<_> = opened.iter().map(Result::unwrap).collect();
        prop_assert_eq!(read.len(), records.len());
        for (index, (read, made)) in read.iter().zip(&records).enumerate() {
            prop_assert_eq!(read.offset, Offset(base_offset + index as i64));
            prop_assert_eq!(read.timestamp, Timestamp(made.timestamp));
            prop_assert_eq!(read.key, made.key.as_deref());
            prop_assert_eq!(read.value, made.value.as_deref());
            let headers: Vec<_> =
                read.headers.map(|header| (header.key.to_vec(), header.value.map(<[u8]>::to_vec))).collect();
            prop_assert_eq!(&headers, &made.headers);
        }
    }

    #[test]
    fn any_cut_is_noticed(options in options(), records in vec(record(), 1..4), cut in any::<prop::sample::Index>()) {
        let built = build(options, &records, 0);
        let cut = cut.index(built.len());
        let parsed = BatchView::parse(&built[..cut]);
        let is_truncated = matches!(parsed, Err(BatchError::Truncated { available, .. }) if available == cut);
        prop_assert!(is_truncated);
    }

    #[test]
    fn any_flipped_bit_under_the_checksum_is_noticed(
        options in options(),
        records in vec(record(), 1..4),
        at in any::<prop::sample::Index>(),
        bit in 0..8u8,
    ) {
        let mut built = build(options, &records, 0);
        let at = 17 + at.index(built.len() - 17);
        built[at] ^= 1 << bit;
        let (batch, _) = BatchView::parse(&built).unwrap();
        prop_assert!(!batch.crc_matches());
        let _ = read_all(&built);
    }

    #[test]
    fn damage_under_a_good_checksum_never_panics(
        options in options(),
        records in vec(record(), 1..4),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut built = build(options, &records, 0);
        for (at, byte) in damage {
            let at = 21 + at.index(built.len() - 21);
            built[at] = byte;
        }
        let crc = crc32c::crc32c(&built[21..]);
        built[17..21].copy_from_slice(&crc.to_be_bytes());
        let _ = read_all(&built);
    }

    #[test]
    fn arbitrary_bytes_behind_a_header_never_panic(codec in codec(), payload in bytes(300)) {
        let mut batch = build(BatchOptions { codec, ..BatchOptions::default() }, &[], 0);
        prop_assert!(batch.is_empty());
        batch = build(BatchOptions { codec, ..BatchOptions::default() }, &[Record {
            timestamp: 0, key: None, value: None, headers: vec![],
        }], 0);
        batch.truncate(61);
        batch.extend_from_slice(&payload);
        batch[8..12].copy_from_slice(&((payload.len() + 49) as u32).to_be_bytes());
        let _ = read_all(&batch);
        let _ = BatchView::parse(&payload);
    }
}

#[test]
fn headers_that_lie_about_sizes_are_refused_before_anything_is_allocated() {
    let good = build(BatchOptions::default(), &[], 0);
    assert!(good.is_empty());
    let mut bytes = vec![0; 61];
    bytes[16] = 2;
    for length in [i32::MIN, -1, 0, 48] {
        bytes[8..12].copy_from_slice(&length.to_be_bytes());
        assert_eq!(BatchView::parse(&bytes).unwrap_err(), BatchError::BadLength(length));
    }
    bytes[8..12].copy_from_slice(&i32::MAX.to_be_bytes());
    let needed = i32::MAX as usize + 12;
    assert_eq!(BatchView::parse(&bytes).unwrap_err(), BatchError::Truncated { needed, available: 61 });
    bytes[8..12].copy_from_slice(&49i32.to_be_bytes());
    assert!(BatchView::parse(&bytes).is_ok());
    for magic in [0, 1, 3, -1] {
        bytes[16] = magic as u8;
        assert_eq!(BatchView::parse(&bytes).unwrap_err(), BatchError::UnsupportedMagic(magic));
    }
}

#[test]
fn a_decompression_bomb_is_bounded() {
    let value = vec![0; MAX_DECOMPRESSED_BYTES];
    let bomb = Record { timestamp: 0, key: Some(vec![]), value: Some(value), headers: vec![] };
    for codec in [Codec::Gzip, Codec::Lz4, Codec::Zstd] {
        let built = build(BatchOptions { codec, ..BatchOptions::default() }, std::slice::from_ref(&bomb), 0);
        assert!(built.len() < 1 << 20, "{codec}: {} bytes", built.len());
        let (batch, _) = BatchView::parse(&built).unwrap();
        let refused = BatchError::DecompressesTooLarge { max_bytes: MAX_DECOMPRESSED_BYTES };
        assert_eq!(batch.records().unwrap_err(), refused);
    }
}
