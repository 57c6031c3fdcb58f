use milepost_model::{PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp};
use proptest::prelude::*;

use super::{Record, TopicPartitions, TransactionKey, TransactionStatus, TransactionValue, ValueVersion};
use crate::{DecodeError, EncodeError, MAX_STRING_BYTES};

const KEY: TransactionKey<'_> = TransactionKey { transactional_id: "my-tx" };

fn bytes_of(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn encoded(value: &TransactionValue<'_>, version: ValueVersion) -> Vec<u8> {
    let mut out = Vec::new();
    value.encode(version, &mut out).unwrap();
    out
}

fn key_bytes() -> Vec<u8> {
    let mut out = Vec::new();
    KEY.encode(&mut out).unwrap();
    out
}

fn producer(id: i64, epoch: i16) -> ProducerIdentity {
    ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(epoch) }
}

fn orders(partitions: &[i32]) -> Option<Vec<TopicPartitions<'static>>> {
    let partitions = partitions.iter().copied().map(PartitionIndex).collect();
    Some(vec![TopicPartitions { topic: "orders", partitions }])
}

fn empty() -> TransactionValue<'static> {
    TransactionValue {
        producer: producer(1000, 0),
        previous_producer_id: Some(ProducerId(1000)),
        next_producer_id: None,
        timeout_ms: 60_000,
        status: TransactionStatus::Empty,
        partitions: None,
        last_update_timestamp: Timestamp(1_700_000_000_000),
        start_timestamp: None,
        client_transaction_version: 0,
    }
}

fn ongoing() -> TransactionValue<'static> {
    TransactionValue {
        status: TransactionStatus::Ongoing,
        partitions: orders(&[3]),
        last_update_timestamp: Timestamp(1_700_000_000_001),
        start_timestamp: Some(Timestamp(1_700_000_000_001)),
        client_transaction_version: 2,
        ..empty()
    }
}

/// The bytes are what `TransactionLog` of Kafka 4.4.0 writes for these values.
#[track_caller]
fn is_golden(value: &TransactionValue<'_>, version: ValueVersion, hex: &str) {
    let bytes = bytes_of(hex);
    assert_eq!(encoded(value, version), bytes);
    let record = Record::Transaction { key: KEY, value: Some(value.clone()) };
    assert_eq!(Record::decode(Some(&key_bytes()), Some(&bytes)), Ok(record));
    for length in 2..bytes.len() {
        assert!(TransactionValue::decode(&bytes[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn golden_keys() {
    assert_eq!(key_bytes(), bytes_of("0000 0005 6d792d7478"));
    assert_eq!(Record::decode(Some(&key_bytes()), None), Ok(Record::Transaction { key: KEY, value: None }));
}

#[test]
fn golden_values_of_version_0() {
    let untagged = TransactionValue { previous_producer_id: None, ..empty() };
    is_golden(
        &untagged,
        ValueVersion::V0,
        "0000 00000000000003e8 0000 0000ea60 00 ffffffff 0000018bcfe56800 ffffffffffffffff",
    );
    let ongoing = TransactionValue {
        previous_producer_id: None,
        partitions: orders(&[3, 4]),
        client_transaction_version: 0,
        ..ongoing()
    };
    is_golden(
        &ongoing,
        ValueVersion::V0,
        "0000 00000000000003e8 0000 0000ea60 01 00000001 00066f7264657273 00000002 00000003 00000004
         0000018bcfe56801 0000018bcfe56801",
    );
}

#[test]
fn golden_values_of_version_1() {
    is_golden(
        &empty(),
        ValueVersion::V1,
        "0001 00000000000003e8 0000 0000ea60 00 00 0000018bcfe56800 ffffffffffffffff 01 0008 00000000000003e8",
    );
    is_golden(
        &ongoing(),
        ValueVersion::V1,
        "0001 00000000000003e8 0000 0000ea60 01 02 076f7264657273 02 00000003 00 0000018bcfe56801
         0000018bcfe56801 02 0008 00000000000003e8 0202 0002",
    );
    let prepared = TransactionValue {
        producer: producer(1000, 32767),
        next_producer_id: Some(ProducerId(2000)),
        status: TransactionStatus::PrepareCommit,
        last_update_timestamp: Timestamp(1_700_000_000_002),
        ..ongoing()
    };
    is_golden(
        &prepared,
        ValueVersion::V1,
        "0001 00000000000003e8 7fff 0000ea60 02 02 076f7264657273 02 00000003 00 0000018bcfe56802
         0000018bcfe56801 03 0008 00000000000003e8 0108 00000000000007d0 0202 0002",
    );
    let complete = TransactionValue {
        producer: producer(2000, 0),
        next_producer_id: None,
        status: TransactionStatus::CompleteCommit,
        partitions: Some(Vec::new()),
        last_update_timestamp: Timestamp(1_700_000_000_003),
        ..prepared
    };
    is_golden(
        &complete,
        ValueVersion::V1,
        "0001 00000000000007d0 0000 0000ea60 04 01 0000018bcfe56803 0000018bcfe56801
         02 0008 00000000000003e8 0202 0002",
    );
}

#[test]
fn what_a_newer_broker_adds_is_skipped() {
    // Tag 3 is the epoch that follows the next producer id (KIP-939).
    let value = bytes_of(
        "0001 00000000000003e8 0000 0000ea60 00 00 0000018bcfe56800 ffffffffffffffff
         02 0008 00000000000003e8 0302 0007",
    );
    assert_eq!(TransactionValue::decode(&value), Ok(empty()));
    let record_type = [&7_i16.to_be_bytes()[..], b"anything"].concat();
    assert_eq!(Record::decode(Some(&record_type), Some(b"?")), Ok(Record::Unknown { record_type: 7 }));
    for version in [-1_i16, 2, i16::MAX] {
        let value = [&version.to_be_bytes()[..], b"anything"].concat();
        assert_eq!(Record::decode(Some(&key_bytes()), Some(&value)), Ok(Record::UnknownValue { version }));
    }
}

#[test]
fn what_cannot_be_is_an_error() {
    assert_eq!(Record::decode(None, None), Err(DecodeError::MissingKey));
    let mut value = encoded(&empty(), ValueVersion::V1);
    value[16] = 8;
    assert_eq!(TransactionValue::decode(&value), Err(DecodeError::InvalidValue("transactionStatus")));
    let mut value = encoded(&empty(), ValueVersion::V0);
    value.push(0);
    assert_eq!(TransactionValue::decode(&value), Err(DecodeError::TrailingBytes(1)));
    // An array that claims more elements than there are bytes.
    value[17..21].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
    assert_eq!(TransactionValue::decode(&value), Err(DecodeError::Truncated("partitionIds")));
}

#[test]
fn what_does_not_fit_is_refused() {
    let long = "x".repeat(MAX_STRING_BYTES + 1);
    let key = TransactionKey { transactional_id: &long };
    assert_eq!(key.encode(&mut Vec::new()), Err(EncodeError::TooLong("transactionalId")));
    let topic = TopicPartitions { topic: &long, partitions: Vec::new() };
    let value = TransactionValue { partitions: Some(vec![topic]), ..ongoing() };
    assert_eq!(value.encode(ValueVersion::V0, &mut Vec::new()), Err(EncodeError::TooLong("topic")));
    assert_eq!(TransactionValue::decode(&encoded(&value, ValueVersion::V1)), Ok(value));
}

prop_compose! {
    fn any_value()(
        id: i64, epoch: i16, previous in prop::option::of(0..i64::MAX), next in prop::option::of(0..i64::MAX),
        timeout_ms: i32, status in 0..8_usize, last_update: i64, start in prop::option::of(0..i64::MAX),
        client_transaction_version in 0..3_i16,
        partitions in prop::option::of(prop::collection::vec((0..3_usize, prop::collection::vec(any::<i32>(), 0..4)), 0..4)),
    ) -> TransactionValue<'static> {
        let topic = |(name, numbers): (usize, Vec<i32>)| TopicPartitions {
            topic: ["", "orders", "zahlungen-für-äpfel"][name],
            partitions: numbers.into_iter().map(PartitionIndex).collect(),
        };
        TransactionValue {
            producer: producer(id, epoch),
            previous_producer_id: previous.map(ProducerId),
            next_producer_id: next.map(ProducerId),
            timeout_ms,
            status: TransactionStatus::ALL[status],
            partitions: partitions.map(|topics| topics.into_iter().map(topic).collect()),
            last_update_timestamp: Timestamp(last_update),
            start_timestamp: start.map(Timestamp),
            client_transaction_version,
        }
    }
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(value in any_value()) {
        let bytes = encoded(&value, ValueVersion::V1);
        prop_assert_eq!(TransactionValue::decode(&bytes), Ok(value.clone()));
        let untagged = TransactionValue {
            previous_producer_id: None, next_producer_id: None, client_transaction_version: 0, ..value.clone()
        };
        let bytes = encoded(&value, ValueVersion::V0);
        prop_assert_eq!(TransactionValue::decode(&bytes), Ok(untagged));
    }

    /// Bytes from anywhere are a value or an error, and a value is written back as it was read.
    #[test]
    fn any_bytes_are_contained(key: Vec<u8>, value: Vec<u8>, version in 0_i16..2) {
        let _ = Record::decode(Some(&key), Some(&value));
        let value = [&version.to_be_bytes()[..], &value].concat();
        if let Ok(read) = TransactionValue::decode(&value) {
            let version = if version == 0 { ValueVersion::V0 } else { ValueVersion::V1 };
            let written = encoded(&read, version);
            prop_assert_eq!(TransactionValue::decode(&written), Ok(read));
        }
    }
}
