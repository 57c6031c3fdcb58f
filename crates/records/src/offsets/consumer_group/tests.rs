use milepost_model::{PartitionIndex, Timestamp, TopicId};
use proptest::prelude::*;

use super::*;
use crate::DecodeError;
use crate::offsets::{Key, Record};

const TIME: &[u8] = &[0x00, 0x00, 0x01, 0x8b, 0xcf, 0xe5, 0x68, 0x00];
const ID: TopicId = TopicId(*b"0123456789abcdef");

/// Checks that a record is written as these bytes, and read from them again.
fn check(part: ConsumerGroupPart<'_>, key: &[u8], record: &ConsumerGroupRecord<'_>, value: &[u8]) {
    let key_of_it = ConsumerGroupKey { group: "g1", part };
    let (mut key_bytes, mut value_bytes) = (Vec::new(), Vec::new());
    key_of_it.encode(&mut key_bytes).unwrap();
    record.encode(&mut value_bytes).unwrap();
    assert_eq!(key_bytes, key);
    assert_eq!(value_bytes, value);
    assert_eq!(Key::decode(key), Ok(Key::ConsumerGroup(key_of_it)));
    let read = Record::ConsumerGroup { key: key_of_it, value: Some(record.clone()) };
    assert_eq!(Record::decode(Some(key), Some(value)), Ok(read));
    assert_eq!(Record::decode(Some(key), None), Ok(Record::ConsumerGroup { key: key_of_it, value: None }));
}

#[test]
fn the_worked_group() {
    let part = ConsumerGroupPart::GroupMetadata;
    let record = |epoch, metadata_hash| {
        ConsumerGroupRecord::GroupMetadata(ConsumerGroupMetadataValue { epoch, metadata_hash })
    };
    check(part, b"\0\x03\0\x02g1", &record(1, 0), b"\0\0\0\0\0\x01\0");
    let hashed = b"\0\0\0\0\0\x02\x01\0\x08\x7f\x02\x03\x04\x05\x06\x07\x08";
    check(part, b"\0\x03\0\x02g1", &record(2, 0x7f02_0304_0506_0708), hashed);
}

#[test]
fn a_member_by_hand_from_the_schema() {
    let plain = ConsumerGroupMemberMetadataValue {
        instance_id: None,
        rack_id: Some("r"),
        client_id: "c",
        client_host: "/h",
        subscribed_topic_names: vec!["a", "b"],
        subscribed_topic_regex: Some(""),
        rebalance_timeout_ms: Some(5),
        server_assignor: None,
        classic_member_metadata: None,
    };
    let key = b"\0\x05\0\x02g1\0\x01m";
    let head = b"\0\0\0\x02r\x02c\x03/h\x03\x02a\x02b\x01\0\0\0\x05\0";
    let part = ConsumerGroupPart::MemberMetadata("m");
    // One tag, 0, of one byte: it is null. Kafka says so in every record of a member.
    let value = [&head[..], b"\x01\0\x01\0"].concat();
    check(part, key, &ConsumerGroupRecord::MemberMetadata(plain.clone()), &value);

    let protocols = vec![ClassicProtocol { name: "range", metadata: b"xy" }];
    let classic = ClassicMemberMetadata { session_timeout_ms: 6, supported_protocols: protocols };
    let record = ConsumerGroupRecord::MemberMetadata(ConsumerGroupMemberMetadataValue {
        classic_member_metadata: Some(classic),
        ..plain
    });
    // One tag, 0, of 17 bytes: it is there (1), the timeout, a list of one, and two empty tag sections.
    let value = [&head[..], b"\x01\0\x11\x01\0\0\0\x06\x02\x06range\x03xy\0\0"].concat();
    check(part, key, &record, &value);
}

#[test]
fn assignments_by_hand_from_the_schema() {
    let target = ConsumerGroupTargetAssignmentMetadataValue {
        assignment_epoch: 3,
        assignment_timestamp: Some(Timestamp(1_700_000_000_000)),
    };
    check(
        ConsumerGroupPart::TargetAssignmentMetadata,
        b"\0\x06\0\x02g1",
        &ConsumerGroupRecord::TargetAssignmentMetadata(target),
        &[b"\0\0\0\0\0\x03\x01\0\x08", TIME].concat(),
    );

    let partitions = vec![PartitionIndex(0), PartitionIndex(7)];
    let topic = TopicPartitions { topic_id: ID, partitions: partitions.clone() };
    check(
        ConsumerGroupPart::TargetAssignmentMember("m"),
        b"\0\x07\0\x02g1\0\x01m",
        &ConsumerGroupRecord::TargetAssignmentMember(ConsumerGroupTargetAssignmentMemberValue {
            topic_partitions: vec![topic],
        }),
        b"\0\0\x020123456789abcdef\x03\0\0\0\0\0\0\0\x07\0\0",
    );

    let owned = OwnedTopicPartitions { topic_id: ID, partitions, assignment_epochs: Some(vec![2, 3]) };
    let old =
        OwnedTopicPartitions { topic_id: ID, partitions: vec![PartitionIndex(1)], assignment_epochs: None };
    let current = ConsumerGroupCurrentMemberAssignmentValue {
        member_epoch: 3,
        previous_member_epoch: 2,
        state: MemberState::UnrevokedPartitions,
        assigned_partitions: vec![owned],
        partitions_pending_revocation: vec![old],
    };
    check(
        ConsumerGroupPart::CurrentMemberAssignment("m"),
        b"\0\x08\0\x02g1\0\x01m",
        &ConsumerGroupRecord::CurrentMemberAssignment(current),
        b"\0\0\0\0\0\x03\0\0\0\x02\x01\
          \x020123456789abcdef\x03\0\0\0\0\0\0\0\x07\x01\0\x09\x03\0\0\0\x02\0\0\0\x03\
          \x020123456789abcdef\x02\0\0\0\x01\0\0",
    );
}

#[test]
fn a_regular_expression_and_the_topics_of_kafka_4_0() {
    let regex = ConsumerGroupRegularExpressionValue {
        topics: vec!["a", "bc"],
        version: 9,
        timestamp: Timestamp(1_700_000_000_000),
    };
    check(
        ConsumerGroupPart::RegularExpression("a.*"),
        b"\0\x10\0\x02g1\0\x03a.*",
        &ConsumerGroupRecord::RegularExpression(regex),
        &[b"\0\0\x03\x02a\x03bc\0\0\0\0\0\0\0\x09", TIME, b"\0"].concat(),
    );

    let racks = vec![PartitionRacks { partition: PartitionIndex(0), racks: vec!["r"] }];
    let topic = TopicMetadata { topic_id: ID, topic_name: "t", num_partitions: 1, partition_metadata: racks };
    check(
        ConsumerGroupPart::PartitionMetadata,
        b"\0\x04\0\x02g1",
        &ConsumerGroupRecord::PartitionMetadata(ConsumerGroupPartitionMetadataValue { topics: vec![topic] }),
        b"\0\0\x020123456789abcdef\x02t\0\0\0\x01\x02\0\0\0\0\x02\x02r\0\0\0",
    );
}

#[test]
fn a_newer_broker_is_understood_as_far_as_it_goes() {
    let part = ConsumerGroupPart::CurrentMemberAssignment("m");
    let state = b"\0\0\0\0\0\x03\0\0\0\x02\x07\x01\x01\x01\x09\x01\xff";
    let record = ConsumerGroupRecord::decode(part, state).unwrap();
    let ConsumerGroupRecord::CurrentMemberAssignment(value) = record else { panic!("{record:?}") };
    assert_eq!(value.state, MemberState::Unknown(7));
    assert_eq!(
        ConsumerGroupRecord::decode(part, b"\0\x01"),
        Err(DecodeError::UnsupportedVersion {
            record: "ConsumerGroupCurrentMemberAssignmentValue",
            version: 1
        })
    );
}

fn topic_partitions() -> impl Strategy<Value = Vec<OwnedTopicPartitions>> {
    let topic = (any::<[u8; 16]>(), prop::collection::vec((any::<i32>(), any::<i32>()), 0..4), any::<bool>());
    let topic = topic.prop_map(|(id, pairs, with_epochs)| OwnedTopicPartitions {
        topic_id: TopicId(id),
        partitions: pairs.iter().map(|(partition, _)| PartitionIndex(*partition)).collect(),
        assignment_epochs: with_epochs.then(|| pairs.iter().map(|(_, epoch)| *epoch).collect()),
    });
    prop::collection::vec(topic, 0..3)
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        group in ".{0,20}", member in ".{0,20}", names in prop::collection::vec(".{0,9}", 0..4),
        instance in prop::option::of(".{0,9}"), regex in prop::option::of(".{0,9}"), timeout in prop::option::of(0..i32::MAX),
        epoch: i32, previous: i32, code: i8, assigned in topic_partitions(), pending in topic_partitions(),
    ) {
        let value = ConsumerGroupRecord::MemberMetadata(ConsumerGroupMemberMetadataValue {
            instance_id: instance.as_deref(),
            rack_id: regex.as_deref(),
            client_id: &group,
            client_host: &member,
            subscribed_topic_names: names.iter().map(String::as_str).collect(),
            subscribed_topic_regex: regex.as_deref(),
            rebalance_timeout_ms: timeout,
            server_assignor: instance.as_deref(),
            classic_member_metadata: None,
        });
        let current = ConsumerGroupRecord::CurrentMemberAssignment(ConsumerGroupCurrentMemberAssignmentValue {
            member_epoch: epoch,
            previous_member_epoch: previous,
            state: MemberState::from_code(code),
            assigned_partitions: assigned,
            partitions_pending_revocation: pending,
        });
        for (part, record) in [
            (ConsumerGroupPart::MemberMetadata(&member), value),
            (ConsumerGroupPart::CurrentMemberAssignment(&member), current),
        ] {
            let key = ConsumerGroupKey { group: &group, part };
            let (mut key_bytes, mut value_bytes) = (Vec::new(), Vec::new());
            key.encode(&mut key_bytes).unwrap();
            record.encode(&mut value_bytes).unwrap();
            let read = Record::decode(Some(&key_bytes), Some(&value_bytes));
            prop_assert_eq!(read, Ok(Record::ConsumerGroup { key, value: Some(record) }));
        }
    }

    /// Bytes from anywhere are a record or an error, and what was read is written so that it is read again.
    #[test]
    fn any_bytes_are_contained(record_type in prop_oneof![3_i16..9, Just(16_i16)], key: Vec<u8>, value: Vec<u8>) {
        let key = [&record_type.to_be_bytes()[..], &key].concat();
        let _ = Key::decode(&key);
        let value = [&[0, 0], &value[..]].concat();
        for part in [
            ConsumerGroupPart::GroupMetadata,
            ConsumerGroupPart::PartitionMetadata,
            ConsumerGroupPart::MemberMetadata("m"),
            ConsumerGroupPart::TargetAssignmentMetadata,
            ConsumerGroupPart::TargetAssignmentMember("m"),
            ConsumerGroupPart::CurrentMemberAssignment("m"),
            ConsumerGroupPart::RegularExpression("r"),
        ] {
            if let Ok(record) = ConsumerGroupRecord::decode(part, &value) {
                let mut again = Vec::new();
                record.encode(&mut again).unwrap();
                prop_assert_eq!(ConsumerGroupRecord::decode(part, &again), Ok(record));
            }
        }
    }
}
