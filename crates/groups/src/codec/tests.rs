use milepost_model::{Corrupt, Encoded, Generation, Offset, Origin, PartitionIndex, Timestamp, TopicId};

use super::{decode, encode};
use crate::hard::Hard;
use crate::{ClassicGroup, CommittedOffset, GroupRecord, Member, OffsetRecord, Record};

/// Type 1, group "g1", topic "t", partition 3.
const OFFSET_KEY: &[u8] = b"\0\x01\0\x02g1\0\x01t\0\0\0\x03";

fn offset(committed: Option<CommittedOffset>) -> Record {
    let (group, topic) = ("g1".into(), "t".into());
    Record::Offset(OffsetRecord { group, topic, partition: PartitionIndex(3), committed })
}

fn encoded(record: &Record) -> Encoded {
    // What was there before must not show through.
    let mut into = Encoded { key: vec![7; 300], value: Some(vec![7; 300]) };
    encode(record, &mut into);
    into
}

#[test]
fn offsets_are_the_bytes_kafka_writes() {
    let committed = CommittedOffset::new(Offset(42), Timestamp(1_700_000_000_000))
        .with_leader_epoch(Some(milepost_model::LeaderEpoch(7)));
    let encoded = encoded(&offset(Some(committed)));
    assert_eq!(encoded.key, OFFSET_KEY);
    let value = b"\0\x04\0\0\0\0\0\0\0\x2a\0\0\0\x07\x01\0\0\x01\x8b\xcf\xe5\x68\0\0";
    assert_eq!(encoded.value.as_deref(), Some(&value[..]));
}

#[test]
fn an_expiry_leaves_no_room_for_epoch_and_topic_id() {
    let committed = CommittedOffset::new(Offset(1), Timestamp(5))
        .with_leader_epoch(Some(milepost_model::LeaderEpoch(7)))
        .with_topic_id(Some(TopicId([1; 16])))
        .with_metadata("x")
        .with_expire_timestamp(Some(Timestamp(9)));
    assert_eq!((committed.leader_epoch(), committed.topic_id()), (None, None));
    let record = offset(Some(committed));
    let encoded = encoded(&record);
    assert_eq!(decode(&Hard::new(0), Some(&encoded.key), encoded.value.as_deref()), Ok(Some(record)));
}

#[test]
fn tombstones_and_the_oldest_type_are_read() {
    let hard = Hard::new(0);
    assert_eq!(decode(&hard, Some(OFFSET_KEY), None), Ok(Some(offset(None))));
    let legacy_key = b"\0\0\0\x02g1\0\x01t\0\0\0\x03";
    let legacy_value = b"\0\0\0\0\0\0\0\0\0\x2a\0\0\0\0\0\0\0\0\0\x05";
    let committed = CommittedOffset::new(Offset(42), Timestamp(5));
    assert_eq!(decode(&hard, Some(legacy_key), Some(legacy_value)), Ok(Some(offset(Some(committed)))));
}

/// KAFKA-8069, KAFKA-7403: −1 in the place of an expiry was read as a time, which had long passed.
#[test]
fn kafka_8069_an_expiry_of_minus_one_is_none() {
    let value = |expiry: i64| {
        let head = b"\0\x01\0\0\0\0\0\0\0\x2a\0\0\0\0\0\0\0\0\0\x05";
        [&head[..], &expiry.to_be_bytes()].concat()
    };
    let hard = Hard::new(0);
    let plain = CommittedOffset::new(Offset(42), Timestamp(5));
    assert_eq!(decode(&hard, Some(OFFSET_KEY), Some(&value(-1))), Ok(Some(offset(Some(plain.clone())))));
    let expiring = plain.with_expire_timestamp(Some(Timestamp(65)));
    assert_eq!(decode(&hard, Some(OFFSET_KEY), Some(&value(65))), Ok(Some(offset(Some(expiring)))));
}

#[test]
fn unknown_types_are_skipped_and_unknown_versions_stop_the_load() {
    let hard = Hard::new(0);
    assert_eq!(decode(&hard, Some(b"\0\x63whatever"), Some(b"whatever")), Ok(None));
    assert!(matches!(decode(&hard, Some(OFFSET_KEY), Some(b"\0\x63")), Err(Corrupt(_))));
    assert!(matches!(decode(&hard, Some(b"\0\x01\0\x10"), None), Err(Corrupt(_))));
    assert!(matches!(decode(&hard, None, None), Err(Corrupt(_))));
}

#[test]
fn groups_are_the_same_after_bytes() {
    let member = |id: &str, instance: Option<&str>| Member {
        member_id: id.into(),
        group_instance_id: instance.map(Into::into),
        client_id: "client".into(),
        client_host: "/10.0.0.5".into(),
        rebalance_timeout_ms: 60_000,
        session_timeout_ms: 10_000,
        subscription: (*b"what").into(),
        assignment: (*b"part").into(),
    };
    let classic = ClassicGroup {
        protocol_type: Some("consumer".into()),
        generation: Generation(9),
        protocol: Some("range".into()),
        leader: Some("b".into()),
        state_timestamp: Some(Timestamp(7)),
        members: vec![member("b", None), member("a", Some("i1"))].into(),
    };
    assert_eq!(&*classic.members[0].member_id, "a", "members are kept by id");
    for classic in [Some(classic), Some(ClassicGroup::default()), None] {
        let record = Record::Group(GroupRecord { group: "g1".into(), classic: classic.map(Into::into) });
        let encoded = encoded(&record);
        assert_eq!(decode(&Hard::new(0), Some(&encoded.key), encoded.value.as_deref()), Ok(Some(record)));
    }
}

#[test]
fn names_that_are_known_are_shared() {
    let mut hard = Hard::new(0);
    let committed = CommittedOffset::new(Offset(42), Timestamp(5));
    hard.replay(Offset(0), Origin::Plain, offset(Some(committed)));
    let Ok(Some(Record::Offset(record))) = decode(&hard, Some(OFFSET_KEY), None) else {
        panic!("it is an offset")
    };
    let group = hard.group("g1").unwrap();
    assert!(std::sync::Arc::ptr_eq(&record.group, group.id()));
    assert!(std::sync::Arc::ptr_eq(&record.topic, group.topics()[0].topic()));
}
