use milepost_model::{Generation, LeaderEpoch, Offset, PartitionIndex, Timestamp, TopicId};
use proptest::prelude::*;

use super::{
    GroupMetadataKey, GroupMetadataMember, GroupMetadataValue, Key, OffsetCommitKey, OffsetCommitValue,
    Record,
};
use crate::{DecodeError, EncodeError};

const TIME: &[u8] = &[0x00, 0x00, 0x01, 0x8b, 0xcf, 0xe5, 0x68, 0x00];
const KEY: OffsetCommitKey<'_> = OffsetCommitKey { group: "g1", topic: "t", partition: PartitionIndex(3) };
const VALUE: OffsetCommitValue<'_> = OffsetCommitValue {
    offset: Offset(42),
    leader_epoch: Some(LeaderEpoch(7)),
    metadata: "",
    commit_timestamp: Timestamp(1_700_000_000_000),
    expire_timestamp: None,
    topic_id: None,
};

fn commit_bytes(version: u8, after_offset: &[&[u8]]) -> Vec<u8> {
    [&[0, version, 0, 0, 0, 0, 0, 0, 0, 42][..], &after_offset.concat()].concat()
}

fn encoded(encode: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out).unwrap();
    out
}

#[test]
fn the_worked_commit_key() {
    let bytes = [0, 1, 0, 2, 0x67, 0x31, 0, 1, 0x74, 0, 0, 0, 3];
    assert_eq!(encoded(|out| KEY.encode(out)), bytes);
    assert_eq!(Key::decode(&bytes), Ok(Key::OffsetCommit(KEY)));
    let mut legacy = bytes;
    legacy[1] = 0;
    assert_eq!(Key::decode(&legacy), Ok(Key::LegacyOffsetCommit(KEY)));
}

#[test]
fn the_worked_commit_values_that_are_written() {
    let plain = commit_bytes(4, &[&[0, 0, 0, 7, 1], TIME, &[0]]);
    assert_eq!(encoded(|out| VALUE.encode(out)), plain);
    assert_eq!(OffsetCommitValue::decode(&plain), Ok(VALUE));

    let id = TopicId(std::array::from_fn(|index| index as u8));
    let with_id = commit_bytes(4, &[&[0, 0, 0, 7, 1], TIME, &[1, 0, 16], &id.0]);
    let value = OffsetCommitValue { topic_id: Some(id), ..VALUE };
    assert_eq!(encoded(|out| value.encode(out)), with_id);
    assert_eq!(OffsetCommitValue::decode(&with_id), Ok(value));

    let with_expiry = commit_bytes(1, &[&[0, 0], TIME, &[0, 0, 1, 0x8b, 0xcf, 0xe6, 0x52, 0x60]]);
    let value = OffsetCommitValue { expire_timestamp: Some(Timestamp(1_700_000_060_000)), ..VALUE };
    assert_eq!(encoded(|out| value.encode(out)), with_expiry);
    assert_eq!(
        OffsetCommitValue::decode(&with_expiry),
        Ok(OffsetCommitValue { leader_epoch: None, ..value })
    );
}

#[test]
fn older_commit_values_are_read() {
    let no_epoch = OffsetCommitValue { leader_epoch: None, ..VALUE };
    let v0 = commit_bytes(0, &[&[0, 0], TIME]);
    assert_eq!(OffsetCommitValue::decode(&v0), Ok(no_epoch));
    assert_eq!(OffsetCommitValue::decode_legacy(&v0), Ok(no_epoch));
    assert_eq!(OffsetCommitValue::decode(&commit_bytes(1, &[&[0, 0], TIME, &[0xff; 8]])), Ok(no_epoch));
    assert_eq!(OffsetCommitValue::decode(&commit_bytes(2, &[&[0, 0], TIME])), Ok(no_epoch));
    let v3 = commit_bytes(3, &[&[0, 0, 0, 7, 0, 0], TIME]);
    assert_eq!(OffsetCommitValue::decode(&v3), Ok(VALUE));
    assert_eq!(
        OffsetCommitValue::decode_legacy(&v3),
        Err(DecodeError::UnsupportedVersion { record: "LegacyOffsetCommitValue", version: 3 })
    );
}

#[test]
fn tagged_fields_of_a_newer_broker_are_skipped() {
    let value = commit_bytes(4, &[&[0, 0, 0, 7, 1], TIME, &[2, 0, 16], &[9; 16], &[5, 3, 1, 2, 3]]);
    assert_eq!(
        OffsetCommitValue::decode(&value),
        Ok(OffsetCommitValue { topic_id: Some(TopicId([9; 16])), ..VALUE })
    );
    let short_id = commit_bytes(4, &[&[0, 0, 0, 7, 1], TIME, &[1, 0, 17], &[9; 17]]);
    assert_eq!(OffsetCommitValue::decode(&short_id), Err(DecodeError::TrailingBytes(1)));
    let zero_id = commit_bytes(4, &[&[0, 0, 0, 7, 1], TIME, &[1, 0, 16], &[0; 16]]);
    assert_eq!(OffsetCommitValue::decode(&zero_id), Ok(VALUE));
}

#[test]
fn the_worked_empty_group() {
    let key = [0, 2, 0, 2, 0x67, 0x31];
    let value = [&[0, 3, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff][..], TIME, &[0, 0, 0, 0]].concat();
    let empty = GroupMetadataValue {
        protocol_type: None,
        generation: Generation(0),
        protocol: None,
        leader: None,
        current_state_timestamp: Some(Timestamp(1_700_000_000_000)),
        members: Vec::new(),
    };
    assert_eq!(encoded(|out| GroupMetadataKey { group: "g1" }.encode(out)), key);
    assert_eq!(encoded(|out| empty.encode(out)), value);
    let record = Record::GroupMetadata { key: GroupMetadataKey { group: "g1" }, value: Some(empty) };
    assert_eq!(Record::decode(Some(&key), Some(&value)), Ok(record));
}

fn member() -> GroupMetadataMember<'static> {
    GroupMetadataMember {
        member_id: "m",
        group_instance_id: Some("i"),
        client_id: "c",
        client_host: "/h",
        rebalance_timeout_ms: Some(5),
        session_timeout_ms: 6,
        subscription: b"s",
        assignment: b"",
    }
}

fn group(member: GroupMetadataMember<'static>) -> GroupMetadataValue<'static> {
    GroupMetadataValue {
        protocol_type: Some("consumer"),
        generation: Generation(9),
        protocol: Some("range"),
        leader: Some("m"),
        current_state_timestamp: Some(Timestamp(1_700_000_000_000)),
        members: vec![member],
    }
}

/// The same group in each version's own bytes, put together by hand from the schema.
#[test]
fn a_group_is_read_in_every_version() {
    let head = b"\0\x08consumer\0\0\0\x09\0\x05range\0\x01m";
    let members = b"\0\0\0\x01\0\x01m";
    let host = b"\0\x01c\0\x02/h";
    let tail = b"\0\0\0\x06\0\0\0\x01s\0\0\0\0";
    let v3 = [b"\0\x03", &head[..], TIME, members, b"\0\x01i", host, b"\0\0\0\x05", tail].concat();
    assert_eq!(GroupMetadataValue::decode(&v3), Ok(group(member())));
    assert_eq!(encoded(|out| group(member()).encode(out)), v3);

    let v2 = [b"\0\x02", &head[..], TIME, members, host, b"\0\0\0\x05", tail].concat();
    let no_instance = GroupMetadataMember { group_instance_id: None, ..member() };
    assert_eq!(GroupMetadataValue::decode(&v2), Ok(group(no_instance)));

    let v1 = [b"\0\x01", &head[..], members, host, b"\0\0\0\x05", tail].concat();
    let no_time = GroupMetadataValue { current_state_timestamp: None, ..group(no_instance) };
    assert_eq!(GroupMetadataValue::decode(&v1), Ok(no_time));

    let v0 = [b"\0\0", &head[..], members, host, tail].concat();
    let no_timeout = GroupMetadataMember { rebalance_timeout_ms: None, ..no_instance };
    assert_eq!(
        GroupMetadataValue::decode(&v0),
        Ok(GroupMetadataValue { current_state_timestamp: None, ..group(no_timeout) })
    );

    let v4 = [
        b"\0\x04\x09consumer\0\0\0\x09\x06range\x02m",
        TIME,
        b"\x02\x02m\x02i\x02c\x03/h\0\0\0\x05\0\0\0\x06\x02s\x01\0\0",
    ]
    .concat();
    assert_eq!(GroupMetadataValue::decode(&v4), Ok(group(member())));
}

#[test]
fn tombstones_unknown_types_and_unknown_versions() {
    let key = encoded(|out| KEY.encode(out));
    assert_eq!(Record::decode(Some(&key), None), Ok(Record::OffsetCommit { key: KEY, value: None }));
    assert_eq!(
        Record::decode(Some(&key), Some(&[0, 5])),
        Err(DecodeError::UnsupportedVersion { record: "OffsetCommitValue", version: 5 })
    );
    assert_eq!(
        Record::decode(Some(&[0, 2, 0, 0]), Some(&[0xff, 0xff])),
        Err(DecodeError::UnsupportedVersion { record: "GroupMetadataValue", version: -1 })
    );
    for record_type in (9..16).chain(17..24).chain([-1, i16::MAX]) {
        let key = [&record_type.to_be_bytes()[..], b"anything"].concat();
        assert_eq!(Key::decode(&key), Ok(Key::Unknown { record_type, bytes: b"anything" }));
        assert_eq!(Record::decode(Some(&key), Some(b"\xff")), Ok(Record::Unknown { record_type }));
    }
    assert_eq!(Record::decode(None, Some(b"")), Err(DecodeError::MissingKey));
    assert_eq!(Record::decode(Some(&[0]), None), Err(DecodeError::Truncated("the record type")));
}

#[test]
fn lengths_that_lie_cost_nothing() {
    let huge_members = [b"\0\x03\0\0\0\0\0\0\xff\xff\xff\xff", TIME, b"\x7f\xff\xff\xff"].concat();
    assert_eq!(GroupMetadataValue::decode(&huge_members), Err(DecodeError::Truncated("memberId")));
    let huge_tags = commit_bytes(4, &[&[0, 0, 0, 7, 1], TIME, &[0xff, 0xff, 0xff, 0xff, 0x0f]]);
    assert_eq!(OffsetCommitValue::decode(&huge_tags), Err(DecodeError::Truncated("a tag")));
    let overlong = commit_bytes(4, &[&[0, 0, 0, 7], &[0xff, 0xff, 0xff, 0xff, 0x1f]]);
    assert_eq!(OffsetCommitValue::decode(&overlong), Err(DecodeError::InvalidLength("metadata")));
    let null_metadata = commit_bytes(0, &[&[0xff, 0xff], TIME]);
    assert_eq!(OffsetCommitValue::decode(&null_metadata), Err(DecodeError::InvalidLength("metadata")));
}

#[test]
fn what_does_not_fit_is_refused() {
    let long = "x".repeat(crate::MAX_STRING_BYTES + 1);
    let key = OffsetCommitKey { group: &long, ..KEY };
    assert_eq!(key.encode(&mut Vec::new()), Err(EncodeError::TooLong("group")));
    let value = OffsetCommitValue { metadata: &long, ..VALUE };
    let bytes = encoded(|out| value.encode(out));
    assert_eq!(OffsetCommitValue::decode(&bytes), Ok(value));
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        group in ".{0,20}", topic in ".{0,20}", partition: i32, offset: i64, epoch in proptest::option::of(0..i32::MAX),
        metadata in ".{0,200}", time: i64, expiry in proptest::option::of(0..i64::MAX), id: [u8; 16],
    ) {
        let key = OffsetCommitKey { group: &group, topic: &topic, partition: PartitionIndex(partition) };
        let value = OffsetCommitValue {
            offset: Offset(offset),
            leader_epoch: epoch.filter(|_| expiry.is_none()).map(LeaderEpoch),
            metadata: &metadata,
            commit_timestamp: Timestamp(time),
            expire_timestamp: expiry.map(Timestamp),
            topic_id: Some(TopicId(id)).filter(|id| expiry.is_none() && !id.is_zero()),
        };
        let (key_bytes, value_bytes) = (encoded(|out| key.encode(out)), encoded(|out| value.encode(out)));
        let decoded = Record::decode(Some(&key_bytes), Some(&value_bytes));
        prop_assert_eq!(decoded, Ok(Record::OffsetCommit { key, value: Some(value) }));
    }

    /// Bytes from anywhere are a record or an error, and a record is written back as it was read.
    #[test]
    fn any_bytes_are_contained(key: Vec<u8>, value: Vec<u8>, record_type in 0_i16..3, version in 0_i16..5) {
        let _ = Record::decode(Some(&key), Some(&value));
        let key = [&record_type.to_be_bytes()[..], &key].concat();
        let value = [&version.to_be_bytes()[..], &value].concat();
        let _ = Key::decode(&key);
        let _ = GroupMetadataValue::decode(&value);
        if let (Ok(read), 1 | 4) = (OffsetCommitValue::decode(&value), version) {
            let written = encoded(|out| read.encode(out));
            prop_assert_eq!(OffsetCommitValue::decode(&written), Ok(read));
        }
    }
}
