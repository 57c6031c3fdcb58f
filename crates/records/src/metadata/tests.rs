use milepost_model::{ProducerId, TopicId};

use super::{Config, GroupConfigs, Record, Topic};
use crate::DecodeError;

const ID: TopicId = TopicId([0xab; 16]);

fn encoded(record: &Record<'_>) -> (Vec<u8>, Option<Vec<u8>>) {
    let mut key = Vec::new();
    record.encode_key(&mut key).unwrap();
    (key, record.encode_value().unwrap())
}

#[track_caller]
fn is_golden(record: &Record<'_>, key: &[u8], value: Option<&[u8]>) {
    let (our_key, our_value) = encoded(record);
    assert_eq!(our_key, key);
    assert_eq!(our_value.as_deref(), value);
    assert_eq!(Record::decode(Some(key), value).as_ref(), Ok(record));
    if let Some(value) = value {
        for length in 0..value.len() {
            assert!(Record::decode(Some(key), Some(&value[..length])).is_err(), "{length} bytes");
        }
    }
    for length in 0..key.len() {
        assert!(!matches!(Record::decode(Some(&key[..length]), value), Ok(ref other) if other == record));
    }
}

fn topic() -> Record<'static> {
    Record::Topic(Topic {
        id: ID,
        name: "orders",
        partition_count: 3,
        replication_factor: -1,
        is_internal: false,
        configs: vec![
            Config { key: "cleanup.policy", value: "compact" },
            Config { key: "retention.ms", value: "-1" },
        ],
    })
}

#[test]
fn golden_bytes() {
    let topic_key = [&[0, 1][..], &[0xab; 16]].concat();
    is_golden(
        &topic(),
        &topic_key,
        Some(b"\0\0\x07orders\0\0\0\x03\xff\xff\0\x03\x0fcleanup.policy\x08compact\0\x0dretention.ms\x03-1\0\0"),
    );
    is_golden(&Record::TopicDeletion(ID), &topic_key, None);
    is_golden(&Record::ClusterId("milepost"), &[0, 2], Some(b"\0\0\x09milepost\0"));
    is_golden(
        &Record::ProducerIdBlock { next_producer_id: ProducerId(1000) },
        &[0, 3],
        Some(b"\0\0\0\0\0\0\0\0\x03\xe8\0"),
    );
    let configs = vec![Config { key: "consumer.session.timeout.ms", value: "45000" }];
    is_golden(
        &Record::GroupConfigs(GroupConfigs { group: "g1", configs }),
        b"\0\x04\x03g1",
        Some(b"\0\0\x02\x1cconsumer.session.timeout.ms\x0645000\0\0"),
    );
    is_golden(&Record::GroupConfigsDeletion("g1"), b"\0\x04\x03g1", None);
}

#[test]
fn fields_of_a_newer_writer_are_skipped_and_newer_versions_refused() {
    assert_eq!(Record::decode(Some(&[0, 2]), Some(b"\0\0\x02m\x01\x05\x02hi")), Ok(Record::ClusterId("m")));
    assert_eq!(
        Record::decode(Some(&[0, 2]), Some(b"\0\x01\x02m\0")),
        Err(DecodeError::UnsupportedVersion { record: "ClusterId", version: 1 })
    );
    assert_eq!(Record::decode(Some(&[0, 77, 1]), Some(b"?")), Ok(Record::Unknown { record_type: 77 }));
}

#[test]
fn what_cannot_be_is_an_error() {
    assert_eq!(Record::decode(None, Some(b"")), Err(DecodeError::MissingKey));
    assert!(Record::decode(Some(&[0, 2]), None).is_err());
    assert!(Record::decode(Some(&[0, 3]), None).is_err());
    assert!(Record::decode(Some(&[0, 3]), Some(b"\0\0\xff\xff\xff\xff\xff\xff\xff\xff\0")).is_err());
    assert_eq!(Record::decode(Some(&[0, 2]), Some(b"\0\0\x02m\0!")), Err(DecodeError::TrailingBytes(1)));
    let (key, value) = encoded(&topic());
    let mut value = value.unwrap();
    value[9..13].fill(0);
    assert_eq!(Record::decode(Some(&key), Some(&value)), Err(DecodeError::InvalidValue("partition count")));
}
