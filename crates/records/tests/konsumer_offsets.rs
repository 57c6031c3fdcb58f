//! A reader that no one here wrote, `konsumer_offsets`, reads what we write as we meant it.
//!
//! It knows the plain value versions only, so that the usual commit (version 4) is left to the worked bytes.

use konsumer_offsets::KonsumerOffsetsData;
use milepost_model::{Generation, Offset, PartitionIndex, Timestamp};
use milepost_records::offsets::{
    GroupMetadataKey, GroupMetadataMember, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue,
};
use milepost_records::{EncodeError, consumer_protocol};

/// Version 1: topics `a` and `bc`, empty user data (their reader has no null), owned partitions `a` 0.
const SUBSCRIPTION: &[u8] = b"\0\x01\0\0\0\x02\0\x01a\0\x02bc\0\0\0\0\0\0\0\x01\0\x01a\0\0\0\x01\0\0\0\0";
/// Version 1: `a` 0 and 2, empty user data.
const ASSIGNMENT: &[u8] = b"\0\x01\0\0\0\x01\0\x01a\0\0\0\x02\0\0\0\0\0\0\0\x02\0\0\0\0";

fn encoded(encode: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out).expect("it fits");
    out
}

#[test]
fn a_commit_with_an_expiry() {
    let key = OffsetCommitKey { group: "group é", topic: "orders", partition: PartitionIndex(7) };
    let value = OffsetCommitValue {
        offset: Offset(i64::MAX),
        leader_epoch: None,
        metadata: "in words",
        commit_timestamp: Timestamp(1_700_000_000_000),
        expire_timestamp: Some(Timestamp(1_700_000_060_000)),
        topic_id: None,
    };
    let (key, value) = (encoded(|out| key.encode(out)), encoded(|out| value.encode(out)));
    let read = KonsumerOffsetsData::try_from_bytes(Some(&key), Some(&value)).unwrap();
    let KonsumerOffsetsData::OffsetCommit(commit) = read else { panic!("{read:?}") };
    assert_eq!((commit.message_version, commit.schema_version, commit.is_tombstone), (1, 1, false));
    assert_eq!((&*commit.group, &*commit.topic, commit.partition), ("group é", "orders", 7));
    assert_eq!((commit.offset, &*commit.metadata), (i64::MAX, "in words"));
    assert_eq!((commit.commit_timestamp, commit.expire_timestamp), (1_700_000_000_000, 1_700_000_060_000));

    let tombstone = KonsumerOffsetsData::try_from_bytes(Some(&key), None).unwrap();
    assert!(matches!(tombstone, KonsumerOffsetsData::OffsetCommit(commit) if commit.is_tombstone));
}

#[test]
fn a_group_with_a_member() {
    let member = GroupMetadataMember {
        member_id: "client-1",
        group_instance_id: Some("instance"),
        client_id: "client",
        client_host: "/127.0.0.1",
        rebalance_timeout_ms: Some(300_000),
        session_timeout_ms: 45_000,
        subscription: SUBSCRIPTION,
        assignment: ASSIGNMENT,
    };
    let group = GroupMetadataValue {
        protocol_type: Some("consumer"),
        generation: Generation(12),
        protocol: Some("range"),
        leader: Some("client-1"),
        current_state_timestamp: Some(Timestamp(1_700_000_000_000)),
        members: vec![member],
    };
    let key = encoded(|out| GroupMetadataKey { group: "g" }.encode(out));
    let value = encoded(|out| group.encode(out));
    let read = KonsumerOffsetsData::try_from_bytes(Some(&key), Some(&value)).unwrap();
    let KonsumerOffsetsData::GroupMetadata(theirs) = read else { panic!("{read:?}") };
    assert_eq!((&*theirs.group, theirs.schema_version, theirs.generation), ("g", 3, 12));
    assert_eq!(
        (&*theirs.protocol_type, &*theirs.protocol, &*theirs.leader),
        ("consumer", "range", "client-1")
    );
    assert_eq!(theirs.current_state_timestamp, 1_700_000_000_000);
    let [member] = theirs.members.as_slice() else { panic!("{theirs:?}") };
    assert_eq!((&*member.id, &*member.group_instance_id), ("client-1", "instance"));
    assert_eq!((&*member.client_id, &*member.client_host), ("client", "/127.0.0.1"));
    assert_eq!((member.rebalance_timeout, member.session_timeout), (300_000, 45_000));

    assert_eq!(
        consumer_protocol::subscribed_topics(SUBSCRIPTION).unwrap(),
        member.subscription.subscribed_topics
    );
    let ours = consumer_protocol::Assignment::decode(ASSIGNMENT).unwrap();
    let [assigned] = member.assignment.assigned_topic_partitions.as_slice() else { panic!("{member:?}") };
    assert_eq!(ours.partitions[0].topic, assigned.topic);
    let partitions = ours.partitions[0].partitions.iter().map(|partition| partition.0);
    assert_eq!(partitions.collect::<Vec<_>>(), assigned.partitions);
}
