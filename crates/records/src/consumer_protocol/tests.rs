use milepost_model::PartitionIndex;

use super::{AssignedTopic, Assignment, Subscription, encode_subscription, subscribed_topics, version_of};
use crate::DecodeError;

const SUBSCRIPTION_V0: &[u8] = b"\0\0\0\0\0\x02\0\x01a\0\x02bc\xff\xff\xff\xff";
const ASSIGNMENT_V1: &[u8] = b"\0\x01\0\0\0\x01\0\x01t\0\0\0\x02\0\0\0\0\0\0\0\x07\0\0\0\x02hi";

#[test]
fn topics_are_read_from_any_version() {
    assert_eq!(subscribed_topics(SUBSCRIPTION_V0), Ok(vec!["a", "bc"]));
    let mut newer = SUBSCRIPTION_V0.to_vec();
    newer[1] = 99;
    newer.extend_from_slice(b"fields of the future");
    assert_eq!(subscribed_topics(&newer), Ok(vec!["a", "bc"]));
}

const SUBSCRIPTION_V3: &[u8] =
    b"\0\x03\0\0\0\x01\0\x01t\xff\xff\xff\xff\0\0\0\x01\0\x01t\0\0\0\x01\0\0\0\x07\0\0\0\x05\0\x01r";

#[test]
fn a_subscription_is_read_in_each_version() {
    let owned = vec![AssignedTopic { topic: "t", partitions: vec![PartitionIndex(7)] }];
    let all = Subscription { topics: vec!["t"], owned: owned.clone(), rack_id: Some("r") };
    assert_eq!(Subscription::decode(SUBSCRIPTION_V3), Ok(all.clone()));
    let mut other = SUBSCRIPTION_V3.to_vec();
    other[1] = 99;
    other.extend_from_slice(b"fields of the future");
    assert_eq!(Subscription::decode(&other), Ok(all));
    assert_eq!(version_of(&other), Ok(3));
    for version in [1, 2] {
        other[1] = version;
        let read = Subscription::decode(&other);
        assert_eq!(read, Ok(Subscription { topics: vec!["t"], owned: owned.clone(), rack_id: None }));
    }
    let old = Subscription { topics: vec!["a", "bc"], ..Subscription::default() };
    assert_eq!(Subscription::decode(SUBSCRIPTION_V0), Ok(old));
    assert_eq!(version_of(SUBSCRIPTION_V0), Ok(0));
    for length in 0..SUBSCRIPTION_V3.len() {
        assert!(Subscription::decode(&SUBSCRIPTION_V3[..length]).is_err(), "{length} bytes");
    }
    assert!(version_of(b"\xff\xff").is_err());
}

#[test]
fn an_assignment_is_written_in_the_version_of_its_reader() {
    let assignment = Assignment::decode(ASSIGNMENT_V1).unwrap();
    assert_eq!(assignment.encode_as(1).as_deref(), Ok(ASSIGNMENT_V1));
}

#[test]
fn an_assignment_is_read() {
    let partitions =
        vec![AssignedTopic { topic: "t", partitions: vec![PartitionIndex(0), PartitionIndex(7)] }];
    assert_eq!(Assignment::decode(ASSIGNMENT_V1), Ok(Assignment { partitions, user_data: Some(b"hi") }));
    assert_eq!(Assignment::decode(b""), Ok(Assignment::default()));
}

#[test]
fn malformed_bytes_are_errors() {
    assert_eq!(subscribed_topics(b""), Err(DecodeError::Truncated("the version")));
    assert_eq!(subscribed_topics(b"\xff\xff\0\0\0\0"), Err(DecodeError::InvalidValue("the version")));
    assert_eq!(subscribed_topics(b"\0\0\x7f\xff\xff\xff"), Err(DecodeError::Truncated("topic")));
    assert_eq!(subscribed_topics(b"\0\0\xff\xff\xff\xff"), Err(DecodeError::InvalidLength("topics")));
    assert_eq!(subscribed_topics(b"\0\0\0\0\0\x01\0\x01\xff"), Err(DecodeError::InvalidUtf8("topic")));
    for length in 2..13 {
        assert!(subscribed_topics(&SUBSCRIPTION_V0[..length]).is_err(), "{length} bytes");
    }
    for length in 1..ASSIGNMENT_V1.len() {
        assert!(Assignment::decode(&ASSIGNMENT_V1[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn what_is_written_is_version_0_and_reads_back() {
    assert_eq!(encode_subscription(["a", "bc"].into_iter()).as_deref(), Ok(SUBSCRIPTION_V0));
    let mut plain = ASSIGNMENT_V1.to_vec();
    plain[1] = 0;
    let assignment = Assignment::decode(ASSIGNMENT_V1).unwrap();
    assert_eq!(assignment.encode(), Ok(plain.clone()));
    assert_eq!(Assignment::decode(&plain), Ok(assignment));
}
