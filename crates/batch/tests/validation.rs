//! The checks on a client's batch: each refusal by its own batch, and the order where two apply.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use milepost_batch::{
    AppendRules, BatchBuilder, BatchError, BatchOptions, BatchView, Codec, Header, HeaderChange,
    InvalidBatch, KeyRule, Malformed, RecordFault, RecordFaultReason, TimestampRange, TimestampType,
    ValidBatch, set_log_append_time, set_max_timestamp, stamp, validate_client_batch,
};
use milepost_model::{LeaderEpoch, Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp};

const NOW: Timestamp = Timestamp(1_000_000);
const COMPRESSED: [Codec; 4] = [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

fn rules() -> AppendRules {
    AppendRules {
        max_message_bytes: 10_000,
        keys: KeyRule::Optional,
        timestamp_type: TimestampType::CreateTime,
        timestamps: TimestampRange { before_max_ms: None, after_max_ms: Some(3000) },
        now: NOW,
    }
}

/// A batch with one record a timestamp, keyed except where the position is odd.
fn batch(codec: Codec, timestamps: &[i64]) -> Vec<u8> {
    let mut builder = BatchBuilder::new(BatchOptions { codec, ..BatchOptions::default() });
    for (index, timestamp) in timestamps.iter().enumerate() {
        let key = (index % 2 == 0).then_some(&b"key"[..]);
        builder.append(Timestamp(*timestamp), key, Some(b"value"), &[]).unwrap();
    }
    builder.build(Offset::ZERO)
}

fn validate(bytes: &[u8], rules: &AppendRules) -> Result<ValidBatch, InvalidBatch> {
    validate_client_batch(&BatchView::parse(bytes).unwrap().0, rules)
}

/// Overwrites bytes of a batch and makes its checksum right again.
fn with(mut bytes: Vec<u8>, at: usize, replacement: &[u8]) -> Vec<u8> {
    bytes[at..at + replacement.len()].copy_from_slice(replacement);
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes
}

#[test]
fn a_good_batch_is_kept_as_it_came() {
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let bytes = batch(codec, &[NOW.0, NOW.0 - 5, -1]);
        let valid = validate(&bytes, &rules()).unwrap();
        assert_eq!(valid, ValidBatch { record_count: 3, max_timestamp: NOW, change: HeaderChange::Keep });
        assert_eq!(valid.log_append_time(), None);
        let mut stored = bytes.clone();
        valid.stamp(&mut stored, Offset(77), LeaderEpoch(5));
        let (view, _) = BatchView::parse(&stored).unwrap();
        assert!(view.crc_matches());
        assert_eq!((view.base_offset(), view.leader_epoch()), (Offset(77), LeaderEpoch(5)));
        assert_eq!(stored[16..], bytes[16..]);
    }
}

#[test]
fn header_refusals_come_in_kafkas_order() {
    let good = batch(Codec::None, &[NOW.0]);
    let mut bytes = good.clone();
    bytes[61] ^= 1;
    assert_eq!(validate(&bytes, &rules()), Err(InvalidBatch::Crc));
    let tight = AppendRules { max_message_bytes: good.len() - 1, ..rules() };
    let too_large = InvalidBatch::TooLarge { size_bytes: good.len(), max_bytes: good.len() - 1 };
    assert_eq!(validate(&bytes, &tight), Err(too_large), "the size is looked at before the checksum");
    assert!(validate(&good, &AppendRules { max_message_bytes: good.len(), ..rules() }).is_ok());
    stamp(&mut bytes, Offset(1), LeaderEpoch(0));
    assert_eq!(
        validate(&bytes, &tight),
        Err(InvalidBatch::BaseOffset(Offset(1))),
        "and the base offset first"
    );
}

#[test]
fn counts_that_do_not_fit_are_refused() {
    let good = batch(Codec::Gzip, &[NOW.0, NOW.0]);
    for (last_offset_delta, record_count) in [(1, 1), (2, 2), (0, 2), (-1, 0), (-2, -1), (i32::MAX, i32::MIN)]
    {
        let bytes = with(
            with(good.clone(), 23, &i32::to_be_bytes(last_offset_delta)),
            57,
            &record_count.to_be_bytes(),
        );
        assert_eq!(validate(&bytes, &rules()), Err(InvalidBatch::Counts { record_count, last_offset_delta }));
    }
    // Header fields that agree with each other but not with the records.
    let plain = batch(Codec::None, &[NOW.0, NOW.0]);
    let more = with(with(plain.clone(), 23, &2i32.to_be_bytes()), 57, &3i32.to_be_bytes());
    assert_eq!(validate(&more, &rules()), Err(InvalidBatch::Malformed { index: 2, reason: Malformed::Ends }));
    let fewer = with(with(plain, 23, &0i32.to_be_bytes()), 57, &1i32.to_be_bytes());
    assert_eq!(
        validate(&fewer, &rules()),
        Err(InvalidBatch::Malformed { index: 1, reason: Malformed::Trailing })
    );
}

#[test]
fn control_batches_unknown_codecs_and_missing_sequences_are_refused() {
    let good = batch(Codec::None, &[NOW.0]);
    assert_eq!(validate(&with(good.clone(), 22, &[1 << 5]), &rules()), Err(InvalidBatch::Control));
    for number in 5..=7 {
        assert_eq!(
            validate(&with(good.clone(), 22, &[number]), &rules()),
            Err(InvalidBatch::UnknownCodec(number))
        );
    }
    let producer = Some(ProducerIdentity { id: ProducerId(0), epoch: ProducerEpoch(0) });
    let mut builder = BatchBuilder::new(BatchOptions { producer, ..BatchOptions::default() });
    builder.append(NOW, None, None, &[]).unwrap();
    assert_eq!(validate(&builder.build(Offset::ZERO), &rules()), Err(InvalidBatch::NoSequence));
    let mut builder =
        BatchBuilder::new(BatchOptions { producer, base_sequence: Some(0), ..BatchOptions::default() });
    builder.append(NOW, None, None, &[]).unwrap();
    assert!(validate(&builder.build(Offset::ZERO), &rules()).is_ok());
}

#[test]
fn a_compacted_topic_lists_the_records_without_a_key() {
    let compacted = AppendRules { keys: KeyRule::Required, ..rules() };
    let faults = |indexes: &[u32]| {
        indexes
            .iter()
            .map(|index| RecordFault { index: *index, reason: RecordFaultReason::NullKey })
            .collect()
    };
    for codec in [Codec::None].into_iter().chain(COMPRESSED) {
        let bytes = batch(codec, &[NOW.0; 4]);
        assert_eq!(validate(&bytes, &compacted), Err(InvalidBatch::Records(faults(&[1, 3]))), "{codec}");
        assert!(validate(&batch(codec, &[NOW.0]), &compacted).is_ok());
    }
}

#[test]
fn timestamps_out_of_range_are_listed_and_win_over_missing_keys() {
    let strict = AppendRules {
        keys: KeyRule::Required,
        timestamps: TimestampRange { before_max_ms: Some(100), after_max_ms: Some(200) },
        ..rules()
    };
    let loose = AppendRules { keys: KeyRule::Optional, ..strict };
    let out_of_range = |timestamp| RecordFaultReason::TimestampOutOfRange(Timestamp(timestamp));
    for codec in [Codec::None].into_iter().chain(COMPRESSED) {
        let bytes = batch(codec, &[NOW.0 - 101, NOW.0, NOW.0 + 201, i64::MIN + 5, i64::MAX]);
        let expected = vec![
            RecordFault { index: 0, reason: out_of_range(NOW.0 - 101) },
            RecordFault { index: 1, reason: RecordFaultReason::NullKey },
            RecordFault { index: 2, reason: out_of_range(NOW.0 + 201) },
            RecordFault { index: 3, reason: RecordFaultReason::NullKey },
            RecordFault { index: 4, reason: out_of_range(i64::MAX) },
        ];
        assert_eq!(validate(&bytes, &strict), Err(InvalidBatch::Timestamps(expected)), "{codec}");
        assert!(validate(&batch(codec, &[NOW.0 - 100, NOW.0 + 200, -1]), &loose).is_ok());
    }
}

#[test]
fn a_late_timestamp_is_found_from_the_header_of_a_compressed_batch() {
    for codec in COMPRESSED {
        let bytes = batch(codec, &[NOW.0, NOW.0 + 3001]);
        let fault =
            RecordFault { index: 1, reason: RecordFaultReason::TimestampOutOfRange(Timestamp(NOW.0 + 3001)) };
        assert_eq!(validate(&bytes, &rules()), Err(InvalidBatch::Timestamps(vec![fault])));
        // A header that claims it falsely is put right, because the records were read.
        let mut lying = batch(codec, &[NOW.0, NOW.0 + 1]);
        set_max_timestamp(&mut lying, Timestamp(NOW.0 + 9999));
        let valid = validate(&lying, &rules()).unwrap();
        assert_eq!((valid.change, valid.max_timestamp), (HeaderChange::MaxTimestamp, Timestamp(NOW.0 + 1)));
        valid.stamp(&mut lying, Offset::ZERO, LeaderEpoch(-1));
        assert!(lying == batch(codec, &[NOW.0, NOW.0 + 1]));
    }
}

#[test]
fn a_compressed_batch_is_opened_only_where_a_record_must_be_read() {
    let compacted = AppendRules { keys: KeyRule::Required, ..rules() };
    let before = TimestampRange { before_max_ms: Some(1), after_max_ms: None };
    for codec in COMPRESSED {
        let good = batch(codec, &[NOW.0]);
        let garbage = with(good.clone(), 61, &vec![0xee; good.len() - 61]);
        assert!(validate(&garbage, &rules()).is_ok(), "{codec}: believed");
        for strict in [compacted, AppendRules { timestamps: before, ..rules() }] {
            assert!(matches!(validate(&garbage, &strict), Err(InvalidBatch::Undecodable { .. })), "{codec}");
        }
    }
}

#[test]
fn a_wrong_maximum_timestamp_is_put_right() {
    let mut bytes = batch(Codec::None, &[NOW.0 - 7, NOW.0]);
    set_max_timestamp(&mut bytes, Timestamp(3));
    let valid = validate(&bytes, &rules()).unwrap();
    assert_eq!((valid.change, valid.max_timestamp), (HeaderChange::MaxTimestamp, NOW));
    valid.stamp(&mut bytes, Offset::ZERO, LeaderEpoch(-1));
    assert!(bytes == batch(Codec::None, &[NOW.0 - 7, NOW.0]));
}

#[test]
fn a_topic_of_append_times_takes_any_timestamp_and_writes_its_own() {
    let append_time = AppendRules { timestamp_type: TimestampType::LogAppendTime, ..rules() };
    for codec in [Codec::None].into_iter().chain(COMPRESSED) {
        let mut bytes = batch(codec, &[0, i64::MAX, -1]);
        let valid = validate(&bytes, &append_time).unwrap();
        assert_eq!((valid.change, valid.log_append_time()), (HeaderChange::LogAppendTime, Some(NOW)));
        valid.stamp(&mut bytes, Offset(9), LeaderEpoch(1));
        let (view, _) = BatchView::parse(&bytes).unwrap();
        assert!(view.crc_matches());
        assert!(view.records().unwrap().iter().all(|record| record.unwrap().timestamp == NOW));
    }
}

#[test]
fn a_client_that_claims_the_brokers_time() {
    let append_time = AppendRules { timestamp_type: TimestampType::LogAppendTime, ..rules() };
    for codec in [Codec::None, Codec::Lz4] {
        let mut bytes = batch(codec, &[NOW.0 - 4]);
        set_log_append_time(&mut bytes, Timestamp(NOW.0 - 1));
        let refused = InvalidBatch::Timestamps(vec![RecordFault {
            index: 0,
            reason: RecordFaultReason::TimestampType,
        }]);
        assert_eq!(validate(&bytes, &append_time), Err(refused.clone()));
        let mut none = bytes.clone();
        set_log_append_time(&mut none, Timestamp(-1));
        assert_eq!(validate(&none, &rules()), Err(refused));
        // In range on a topic of producers' times, it passes and the claim is taken away.
        let valid = validate(&bytes, &rules()).unwrap();
        assert_eq!((valid.change, valid.max_timestamp), (HeaderChange::MaxTimestamp, Timestamp(NOW.0 - 1)));
        valid.stamp(&mut bytes, Offset::ZERO, LeaderEpoch(0));
        let (view, _) = BatchView::parse(&bytes).unwrap();
        assert!(view.crc_matches());
        assert_eq!(view.timestamp_type(), TimestampType::CreateTime);
    }
}

#[test]
fn malformed_records_are_refused_whatever_their_checksum_says() {
    // The record: length, attributes, timestamp delta, offset delta, key length, key, value length, value, headers.
    let good = batch(Codec::None, &[NOW.0]);
    assert_eq!(good[61..], *b"\x1c\0\0\0\x06key\x0avalue\0");
    let cases: [(usize, &[u8], Malformed); 10] = [
        (61, &[0x1a], Malformed::LengthMismatch),
        (61, &[0x1e], Malformed::Ends),
        (61, &[0x01], Malformed::NegativeLength),
        (61, &[0xff, 0xff, 0xff, 0xff, 0xff], Malformed::Varint),
        (64, &[0x02], Malformed::OffsetDelta),
        (64, &[0x01], Malformed::OffsetDelta),
        (65, &[0x03], Malformed::NegativeLength),
        (65, &[0x7e], Malformed::LengthMismatch),
        (75, &[0x02], Malformed::LengthMismatch),
        (75, &[0x01], Malformed::NegativeLength),
    ];
    for (at, replacement, reason) in cases {
        let bytes = with(good.clone(), at, replacement);
        assert_eq!(
            validate(&bytes, &rules()),
            Err(InvalidBatch::Malformed { index: 0, reason }),
            "{at} {replacement:x?}"
        );
    }
}

#[test]
fn headers_that_the_count_does_not_tell_of_are_refused() {
    let mut builder = BatchBuilder::new(BatchOptions::default());
    builder.append(NOW, None, None, &[Header { key: b"h", value: None }]).unwrap();
    let good = builder.build(Offset::ZERO);
    assert!(validate(&good, &rules()).is_ok());
    let mismatch = InvalidBatch::Malformed { index: 0, reason: Malformed::LengthMismatch };
    assert_eq!(validate(&with(good.clone(), 67, &[0]), &rules()), Err(mismatch.clone()));
    assert_eq!(validate(&with(good, 67, &[4]), &rules()), Err(mismatch));
}

#[test]
fn offset_deltas_of_a_client_must_be_consecutive() {
    let mut builder = BatchBuilder::new(BatchOptions::default());
    for _ in 0..3 {
        builder.append(NOW, None, None, &[]).unwrap();
    }
    let good = builder.build(Offset::ZERO);
    // Two records left of three, as compaction would leave them: whole, but nothing a producer sends.
    let gap = [&good[..61], &good[61..68], &good[75..]].concat();
    let gap = with(gap, 8, &i32::to_be_bytes(63));
    let gap = with(with(gap, 23, &1i32.to_be_bytes()), 57, &2i32.to_be_bytes());
    assert_eq!(
        validate(&gap, &rules()),
        Err(InvalidBatch::Malformed { index: 1, reason: Malformed::OffsetDelta })
    );
    let back = with(with(gap.clone(), 71, &[0]), 23, &2i32.to_be_bytes());
    let out_of_order = BatchError::Record { index: 1, reason: Malformed::OffsetDelta };
    for damaged in [&gap, &back] {
        let (view, _) = BatchView::parse(damaged).unwrap();
        assert_eq!(view.records().unwrap().iter().nth(1), Some(Err(out_of_order.clone())));
    }
    let compacted = with(gap, 23, &2i32.to_be_bytes());
    let (view, _) = BatchView::parse(&compacted).unwrap();
    let records = view.records().unwrap();
    let offsets: Vec<_> = records.iter().map(|record| record.unwrap().offset.0).collect();
    assert_eq!(offsets, [0, 2]);
}
