//! Records as Kafka's schemas name their fields.

use milepost_model::PartitionIndex;
use milepost_records::consumer_protocol::{AssignedTopic, Assignment, Subscription};
use milepost_records::offsets::consumer_group::{
    ConsumerGroupMemberMetadataValue, ConsumerGroupPart, ConsumerGroupRecord, OwnedTopicPartitions,
};
use milepost_records::offsets::described::{DescribedRecord, Value};
use milepost_records::offsets::{GroupMetadataMember, GroupMetadataValue, OffsetCommitValue, Record};

use super::field::Field;

/// The protocol type of consumers, whose embedded bytes are known.
const CONSUMER: &str = "consumer";

/// How the bytes that members hand through are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Embedded {
    /// As they are.
    Bytes,
    /// As what they say, where they are a consumer's.
    Words,
}

/// The name of a record's type.
pub(super) fn name(record: &Record<'_>) -> &'static str {
    match record {
        Record::OffsetCommit { .. } => "OffsetCommit",
        Record::GroupMetadata { .. } => "GroupMetadata",
        Record::ConsumerGroup { key, .. } => match key.part {
            ConsumerGroupPart::GroupMetadata => "ConsumerGroupMetadata",
            ConsumerGroupPart::PartitionMetadata => "ConsumerGroupPartitionMetadata",
            ConsumerGroupPart::MemberMetadata(_) => "ConsumerGroupMemberMetadata",
            ConsumerGroupPart::TargetAssignmentMetadata => "ConsumerGroupTargetAssignmentMetadata",
            ConsumerGroupPart::TargetAssignmentMember(_) => "ConsumerGroupTargetAssignmentMember",
            ConsumerGroupPart::CurrentMemberAssignment(_) => "ConsumerGroupCurrentMemberAssignment",
            ConsumerGroupPart::RegularExpression(_) => "ConsumerGroupRegularExpression",
        },
        Record::Unknown { .. } => "Unknown",
    }
}

/// What a record is about. `None` where that is not known.
pub(super) fn key(record: &Record<'_>) -> Option<Field> {
    Some(Field::Object(match record {
        Record::OffsetCommit { key, .. } => vec![
            ("group", key.group.into()),
            ("topic", key.topic.into()),
            ("partition", key.partition.0.into()),
        ],
        Record::GroupMetadata { key, .. } => vec![("group", key.group.into())],
        Record::ConsumerGroup { key, .. } => {
            let mut fields = vec![("groupId", key.group.into())];
            match key.part {
                ConsumerGroupPart::GroupMetadata
                | ConsumerGroupPart::PartitionMetadata
                | ConsumerGroupPart::TargetAssignmentMetadata => {}
                ConsumerGroupPart::MemberMetadata(member)
                | ConsumerGroupPart::TargetAssignmentMember(member)
                | ConsumerGroupPart::CurrentMemberAssignment(member) => {
                    fields.push(("memberId", member.into()));
                }
                ConsumerGroupPart::RegularExpression(regex) => {
                    fields.push(("regularExpression", regex.into()));
                }
            }
            fields
        }
        Record::Unknown { .. } => return None,
    }))
}

/// What a record says, with the fields that this version has. `None` where it says that something is gone.
pub(super) fn value(record: &Record<'_>, version: i16, embedded: Embedded) -> Option<Field> {
    match record {
        Record::OffsetCommit { value, .. } => value.as_ref().map(|value| offset(value, version)),
        Record::GroupMetadata { value, .. } => value.as_ref().map(|value| classic(value, version, embedded)),
        Record::ConsumerGroup { value, .. } => value.as_ref().map(|value| consumer(value, embedded)),
        Record::Unknown { .. } => None,
    }
}

fn offset(value: &OffsetCommitValue<'_>, version: i16) -> Field {
    let mut fields = vec![("offset", value.offset.0.into())];
    if version >= 3 {
        fields.push(("leaderEpoch", value.leader_epoch.map_or(-1, |epoch| epoch.0).into()));
    }
    fields.push(("metadata", value.metadata.into()));
    fields.push(("commitTimestamp", value.commit_timestamp.0.into()));
    if version == 1 {
        fields.push(("expireTimestamp", value.expire_timestamp.map_or(-1, |time| time.0).into()));
    }
    // A tagged field: it is there only if it says something.
    if let Some(id) = value.topic_id {
        fields.push(("topicId", id.to_string().into()));
    }
    Field::Object(fields)
}

fn classic(value: &GroupMetadataValue<'_>, version: i16, embedded: Embedded) -> Field {
    let embedded = match embedded {
        Embedded::Words if value.protocol_type == Some(CONSUMER) => Embedded::Words,
        _ => Embedded::Bytes,
    };
    let mut fields = vec![
        ("protocolType", value.protocol_type.unwrap_or_default().into()),
        ("generation", value.generation.0.into()),
        ("protocol", value.protocol.into()),
        ("leader", value.leader.into()),
    ];
    if version >= 2 {
        fields
            .push(("currentStateTimestamp", value.current_state_timestamp.map_or(-1, |time| time.0).into()));
    }
    fields.push(("members", Field::list(&value.members, |member| classic_member(member, version, embedded))));
    Field::Object(fields)
}

fn classic_member(member: &GroupMetadataMember<'_>, version: i16, embedded: Embedded) -> Field {
    let mut fields = vec![("memberId", member.member_id.into())];
    if version >= 3 {
        fields.push(("groupInstanceId", member.group_instance_id.into()));
    }
    fields.push(("clientId", member.client_id.into()));
    fields.push(("clientHost", member.client_host.into()));
    if version >= 1 {
        fields.push(("rebalanceTimeout", member.rebalance_timeout_ms.unwrap_or(-1).into()));
    }
    fields.push(("sessionTimeout", member.session_timeout_ms.into()));
    fields.push(("subscription", subscription(member.subscription, embedded)));
    fields.push(("assignment", assignment(member.assignment, embedded)));
    Field::Object(fields)
}

fn subscription(bytes: &[u8], embedded: Embedded) -> Field {
    match Subscription::decode(bytes) {
        Ok(subscription) if embedded == Embedded::Words => Field::Object(vec![
            ("topics", Field::list(subscription.topics, Field::from)),
            ("ownedPartitions", Field::list(&subscription.owned, assigned)),
            ("rackId", subscription.rack_id.into()),
        ]),
        _ => Field::bytes(bytes),
    }
}

fn assignment(bytes: &[u8], embedded: Embedded) -> Field {
    match Assignment::decode(bytes) {
        Ok(assignment) if embedded == Embedded::Words => {
            Field::Object(vec![("assignedPartitions", Field::list(&assignment.partitions, assigned))])
        }
        _ => Field::bytes(bytes),
    }
}

fn assigned(topic: &AssignedTopic<'_>) -> Field {
    Field::Object(vec![("topic", topic.topic.into()), ("partitions", indexes(&topic.partitions))])
}

fn indexes(partitions: &[PartitionIndex]) -> Field {
    Field::list(partitions, |one| one.0.into())
}

fn consumer(value: &ConsumerGroupRecord<'_>, embedded: Embedded) -> Field {
    Field::Object(match value {
        ConsumerGroupRecord::GroupMetadata(value) => {
            vec![("epoch", value.epoch.into()), ("metadataHash", value.metadata_hash.into())]
        }
        ConsumerGroupRecord::PartitionMetadata(value) => {
            let topic = |topic: &milepost_records::offsets::consumer_group::TopicMetadata<'_>| {
                let racks = Field::list(&topic.partition_metadata, |one| {
                    let racks = Field::list(&one.racks, |rack| (*rack).into());
                    Field::Object(vec![("partition", one.partition.0.into()), ("racks", racks)])
                });
                Field::Object(vec![
                    ("topicId", topic.topic_id.to_string().into()),
                    ("topicName", topic.topic_name.into()),
                    ("numPartitions", topic.num_partitions.into()),
                    ("partitionMetadata", racks),
                ])
            };
            vec![("topics", Field::list(&value.topics, topic))]
        }
        ConsumerGroupRecord::MemberMetadata(value) => member(value, embedded),
        ConsumerGroupRecord::TargetAssignmentMetadata(value) => {
            let mut fields = vec![("assignmentEpoch", value.assignment_epoch.into())];
            if let Some(time) = value.assignment_timestamp {
                fields.push(("assignmentTimestamp", time.0.into()));
            }
            fields
        }
        ConsumerGroupRecord::TargetAssignmentMember(value) => {
            let topic = |topic: &milepost_records::offsets::consumer_group::TopicPartitions| {
                Field::Object(vec![
                    ("topicId", topic.topic_id.to_string().into()),
                    ("partitions", indexes(&topic.partitions)),
                ])
            };
            vec![("topicPartitions", Field::list(&value.topic_partitions, topic))]
        }
        ConsumerGroupRecord::CurrentMemberAssignment(value) => vec![
            ("memberEpoch", value.member_epoch.into()),
            ("previousMemberEpoch", value.previous_member_epoch.into()),
            ("state", value.state.code().into()),
            ("assignedPartitions", Field::list(&value.assigned_partitions, owned)),
            ("partitionsPendingRevocation", Field::list(&value.partitions_pending_revocation, owned)),
        ],
        ConsumerGroupRecord::RegularExpression(value) => vec![
            ("topics", Field::list(&value.topics, |topic| (*topic).into())),
            ("version", value.version.into()),
            ("timestamp", value.timestamp.0.into()),
        ],
    })
}

fn member(value: &ConsumerGroupMemberMetadataValue<'_>, embedded: Embedded) -> Vec<(&'static str, Field)> {
    let mut fields = vec![
        ("instanceId", value.instance_id.into()),
        ("rackId", value.rack_id.into()),
        ("clientId", value.client_id.into()),
        ("clientHost", value.client_host.into()),
        ("subscribedTopicNames", Field::list(&value.subscribed_topic_names, |topic| (*topic).into())),
        ("subscribedTopicRegex", value.subscribed_topic_regex.into()),
        ("rebalanceTimeoutMs", value.rebalance_timeout_ms.unwrap_or(-1).into()),
        ("serverAssignor", value.server_assignor.into()),
    ];
    if let Some(classic) = &value.classic_member_metadata {
        let protocols = Field::list(&classic.supported_protocols, |protocol| {
            let metadata = subscription(protocol.metadata, embedded);
            Field::Object(vec![("name", protocol.name.into()), ("metadata", metadata)])
        });
        let classic =
            vec![("sessionTimeoutMs", classic.session_timeout_ms.into()), ("supportedProtocols", protocols)];
        fields.push(("classicMemberMetadata", Field::Object(classic)));
    }
    fields
}

fn owned(topic: &OwnedTopicPartitions) -> Field {
    let mut fields =
        vec![("topicId", topic.topic_id.to_string().into()), ("partitions", indexes(&topic.partitions))];
    if let Some(epochs) = &topic.assignment_epochs {
        fields.push(("assignmentEpochs", Field::list(epochs, |epoch| (*epoch).into())));
    }
    Field::Object(fields)
}

/// What a record of a share or streams group is about.
pub(super) fn described_key(record: &DescribedRecord<'_>) -> Field {
    let member = record.member.map(|member| ("memberId", member.into()));
    Field::Object([("groupId", record.group.into())].into_iter().chain(member).collect())
}

/// What it says. `None` where it says that something is gone.
pub(super) fn described_value(record: &DescribedRecord<'_>) -> Option<Field> {
    record.value.as_ref().map(|fields| described_fields(fields))
}

fn described_fields(fields: &[(&'static str, Value<'_>)]) -> Field {
    Field::Object(fields.iter().map(|(name, value)| (*name, described(value))).collect())
}

fn described(value: &Value<'_>) -> Field {
    match value {
        Value::Null => Field::Value(serde_json::Value::Null),
        Value::Number(number) => (*number).into(),
        Value::Text(text) => (*text).into(),
        Value::Id(id) => id.to_string().into(),
        Value::List(list) => Field::list(list, described),
        Value::Structure(fields) => described_fields(fields),
    }
}
