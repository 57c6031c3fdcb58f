//! What the notation promises, and what the readers refuse.
#![allow(unreachable_pub)] // The notation makes public structures; the sample below is one.

use crate::errors::{DecodeError, EncodeError};
use crate::field::{Field, Shape};
use crate::messages::fetch::PartitionData;
use crate::messages::heartbeat::{HeartbeatRequest, HeartbeatResponse};
use crate::messages::join_group::{JoinGroupRequest, JoinGroupResponse};
use crate::messages::metadata::MetadataRequest;
use crate::{ErrorCode, Message, Reader, encode_request, encode_response};

messages! {
    /// Exercises what the APIs of today do not use yet.
    pub struct Sample<'a> {
        inner: Option<Inner> [0..] nullable [1..],
        port: u16 [0..] = 9092,
        first: &'a str [0..] tag 0,
        second: i32 [0..] tag 5 = -1,
    }

    /// A structure that may be null.
    pub struct Inner { size: u32 [0..] }
}

fn shape(version: i16) -> Shape {
    Shape { version, flexible: true, nullable: false }
}

fn written(sample: &Sample<'_>, version: i16) -> Vec<u8> {
    let mut out = Vec::new();
    sample.write(&mut out, shape(version)).unwrap();
    out
}

fn read(bytes: &[u8], version: i16) -> Result<Sample<'_>, DecodeError> {
    let mut reader = Reader::new(bytes);
    let sample = Sample::read(&mut reader, shape(version))?;
    reader.finish()?;
    Ok(sample)
}

#[test]
fn a_structure_may_be_null_where_the_notation_says_so() {
    let null = Sample::default();
    assert_eq!(written(&null, 1), [0xff, 0x23, 0x84, 0]);
    assert_eq!(read(&[0xff, 0x23, 0x84, 0], 1).unwrap(), null);
    let present = Sample { inner: Some(Inner { size: 7 }), ..Sample::default() };
    assert_eq!(written(&present, 1), [1, 0, 0, 0, 7, 0, 0x23, 0x84, 0]);
    assert_eq!(read(&written(&present, 1), 1).unwrap(), present);
    // Version 0 has no byte that could say null: null becomes a structure of zeros.
    assert_eq!(written(&present, 0), [0, 0, 0, 7, 0, 0x23, 0x84, 0]);
    assert_eq!(written(&null, 0), [0, 0, 0, 0, 0, 0x23, 0x84, 0]);
    assert_eq!(null.lost_field("", shape(0)), Some("inner"));
    assert_eq!(null.lost_field("", shape(1)), None);
}

#[test]
fn tagged_fields_are_written_when_they_are_not_their_default() {
    let sample = Sample { first: "a", second: 2, ..Sample::default() };
    assert_eq!(written(&sample, 1), [0xff, 0x23, 0x84, 2, 0, 2, 2, b'a', 5, 4, 0, 0, 0, 2]);
    assert_eq!(read(&written(&sample, 1), 1).unwrap(), sample);
}

#[test]
fn unknown_tags_are_skipped_and_known_ones_must_fill_their_size() {
    let unknown = [0xff, 0x23, 0x84, 2, 3, 2, 9, 9, 5, 4, 0, 0, 0, 2];
    assert_eq!(read(&unknown, 1).unwrap(), Sample { second: 2, ..Sample::default() });
    let too_long = [0xff, 0x23, 0x84, 1, 5, 5, 0, 0, 0, 2, 0];
    assert_eq!(read(&too_long, 1), Err(DecodeError::TrailingBytes));
    let too_short = [0xff, 0x23, 0x84, 1, 5, 3, 0, 0, 2];
    assert_eq!(read(&too_short, 1), Err(DecodeError::Truncated));
    let beyond_the_end = [0xff, 0x23, 0x84, 1, 3, 9, 0];
    assert_eq!(read(&beyond_the_end, 1), Err(DecodeError::Truncated));
}

#[test]
fn numbers_of_variable_length_hold_32_bits() {
    let read = |bytes: &[u8]| Reader::new(bytes).unsigned_varint();
    assert_eq!(read(&[0x7f]), Ok(127));
    assert_eq!(read(&[0x80, 1]), Ok(128));
    assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Ok(u32::MAX));
    assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x1f]), Err(DecodeError::VarintTooLong));
    assert_eq!(read(&[0x80, 0x80, 0x80, 0x80, 0x80, 0]), Err(DecodeError::VarintTooLong));
    assert_eq!(read(&[0x80]), Err(DecodeError::Truncated));
    for value in [0, 1, 127, 128, 16_383, 16_384, u32::MAX] {
        let mut out = Vec::new();
        crate::field::write_unsigned_varint(&mut out, value);
        assert_eq!(read(&out), Ok(value));
    }
}

#[test]
fn null_is_refused_where_the_version_has_none() {
    let heartbeat = |bytes: &[u8]| HeartbeatRequest::decode(&mut Reader::new(bytes), 0).map(|_| ());
    assert_eq!(heartbeat(&[0xff, 0xff]), Err(DecodeError::UnexpectedNull));
    assert_eq!(heartbeat(&[0xff, 0xfe]), Err(DecodeError::NegativeLength));
    fn topics(version: i16, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        MetadataRequest::decode(&mut Reader::new(bytes), version)
            .map(|request| request.topics.map(|t| t.len()))
    }
    assert_eq!(topics(0, &[0xff, 0xff, 0xff, 0xff]), Err(DecodeError::UnexpectedNull));
    assert_eq!(topics(1, &[0xff, 0xff, 0xff, 0xff]), Ok(None));
    assert_eq!(topics(1, &[0, 0, 0, 0]), Ok(Some(0)));
    assert_eq!(topics(1, &[0x80, 0, 0, 0]), Err(DecodeError::NegativeLength));
}

#[test]
fn null_is_written_as_empty_where_the_version_has_none() {
    let response = JoinGroupResponse::default();
    let mut out = Vec::new();
    response.encode(&mut out, 6).unwrap();
    assert_eq!(out, [0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 1, 1, 1, 0]);
    assert_eq!(response.check(6), Err(EncodeError::NotInVersion("protocol_name")));
}

#[test]
fn a_client_is_told_what_its_version_would_lose() {
    let request = JoinGroupRequest { group_instance_id: Some("i"), reason: Some("r"), ..Default::default() };
    let mut out = vec![1];
    let told = encode_request(&mut out, &request, 4, 1, None);
    assert_eq!(told, Err(EncodeError::NotInVersion("group_instance_id")));
    assert_eq!(out, [1]);
    // The reason for joining may get lost.
    assert_eq!(encode_request(&mut out, &request, 5, 1, None), Ok(()));
}

#[test]
fn versions_that_are_not_served_are_refused_both_ways() {
    let mut out = Vec::new();
    let response = HeartbeatResponse::default();
    assert_eq!(encode_response(&mut out, &response, 5, 1), Err(EncodeError::UnsupportedVersion));
    assert_eq!(out, []);
    assert_eq!(
        HeartbeatResponse::decode(&mut Reader::new(&[0; 9]), -1),
        Err(DecodeError::UnsupportedVersion)
    );
}

#[test]
fn strings_have_at_most_32767_bytes_in_every_version() {
    let long = "x".repeat(32_768);
    for version in [0, 4] {
        let longest = HeartbeatRequest { group_id: &long[1..], ..Default::default() };
        let mut out = Vec::new();
        longest.encode(&mut out, version).unwrap();
        assert_eq!(HeartbeatRequest::decode(&mut Reader::new(&out), version).unwrap(), longest);
        let too_long = HeartbeatRequest { group_id: &long, ..Default::default() };
        assert_eq!(too_long.encode(&mut Vec::new(), version), Err(EncodeError::StringTooLong));
    }
    let mut compact = vec![0x81, 0x80, 0x02];
    compact.extend_from_slice(long.as_bytes());
    assert_eq!(HeartbeatRequest::decode(&mut Reader::new(&compact), 4), Err(DecodeError::StringTooLong));
}

#[test]
fn strings_must_be_utf_8() {
    let body = [0, 2, 0xc3, 0x28, 0, 0, 0, 0, 0, 0];
    assert_eq!(HeartbeatRequest::decode(&mut Reader::new(&body), 0), Err(DecodeError::InvalidUtf8));
}

#[test]
fn records_of_a_fetch_are_empty_and_not_null_when_nothing_is_said() {
    assert_eq!(PartitionData::default().records, Some(&[][..]));
}

#[test]
fn decoding_borrows_from_the_frame() {
    let mut body = Vec::new();
    HeartbeatRequest { group_id: "group", ..Default::default() }.encode(&mut body, 0).unwrap();
    let request = HeartbeatRequest::decode(&mut Reader::new(&body), 0).unwrap();
    assert!(body.as_ptr_range().contains(&request.group_id.as_ptr()));
}

#[test]
fn error_codes_are_kafkas() {
    assert_eq!(ErrorCode::ALL.len(), 138);
    for (code, error) in (-1_i16..).zip(ErrorCode::ALL) {
        assert_eq!(error.code(), code);
        assert_eq!(ErrorCode::from_code(code), *error);
    }
    assert_eq!(ErrorCode::from_code(137), ErrorCode::UnknownServerError);
    assert_eq!(ErrorCode::default(), ErrorCode::None);
    assert!(!ErrorCode::None.is_error() && ErrorCode::UnknownServerError.is_error());
    let facts = [
        (ErrorCode::UnknownTopicOrPartition, 3, "UNKNOWN_TOPIC_OR_PARTITION", true),
        (ErrorCode::CoordinatorLoadInProgress, 14, "COORDINATOR_LOAD_IN_PROGRESS", true),
        (ErrorCode::IllegalGeneration, 22, "ILLEGAL_GENERATION", false),
        (ErrorCode::UnsupportedVersion, 35, "UNSUPPORTED_VERSION", false),
        (ErrorCode::KafkaStorageError, 56, "KAFKA_STORAGE_ERROR", true),
        (ErrorCode::UnstableOffsetCommit, 88, "UNSTABLE_OFFSET_COMMIT", true),
        (ErrorCode::StaleMemberEpoch, 113, "STALE_MEMBER_EPOCH", false),
        (ErrorCode::RebootstrapRequired, 129, "REBOOTSTRAP_REQUIRED", false),
    ];
    for (error, code, name, retriable) in facts {
        assert_eq!((error.code(), error.name(), error.is_retriable()), (code, name, retriable));
    }
}
