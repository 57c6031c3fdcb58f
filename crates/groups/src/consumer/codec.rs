//! Records of a consumer group as bytes and back, over `records`.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_model::{Encoded, PartitionIndex};
use milepost_records::offsets::consumer_group::{
    self as bytes, ConsumerGroupKey, ConsumerGroupPart, ConsumerGroupRecord,
};

use super::record::{
    Assignment, ClassicMember, ConsumerChange, ConsumerMember, ConsumerRecord, CurrentAssignment, Epoch,
    GroupEpoch, OwnedPartitions, ResolvedRegex, TargetEpoch,
};

/// Why encoding cannot fail: handlers refuse names that do not fit, and decoded ones did fit.
const FITS: &str = "handlers refuse names that are longer than a record can hold";

/// Makes a change out of a record. `raw` are the bytes of its value.
pub(crate) fn decode(
    part: ConsumerGroupPart<'_>,
    value: Option<ConsumerGroupRecord<'_>>,
    raw: Option<&[u8]>,
) -> ConsumerChange {
    match (part, value) {
        (ConsumerGroupPart::GroupMetadata, Some(ConsumerGroupRecord::GroupMetadata(value))) => {
            let (epoch, metadata_hash) = (Epoch(value.epoch), value.metadata_hash);
            ConsumerChange::Group(Some(GroupEpoch { epoch, metadata_hash }))
        }
        (ConsumerGroupPart::GroupMetadata, _) => ConsumerChange::Group(None),
        (ConsumerGroupPart::PartitionMetadata, _) => ConsumerChange::OldTopics(raw.map(Arc::from)),
        (ConsumerGroupPart::MemberMetadata(id), Some(ConsumerGroupRecord::MemberMetadata(value))) => {
            ConsumerChange::Member(id.into(), Some(Arc::new(member(&value))))
        }
        (ConsumerGroupPart::MemberMetadata(id), _) => ConsumerChange::Member(id.into(), None),
        (
            ConsumerGroupPart::TargetAssignmentMetadata,
            Some(ConsumerGroupRecord::TargetAssignmentMetadata(value)),
        ) => {
            let (epoch, made_at) = (Epoch(value.assignment_epoch), value.assignment_timestamp);
            ConsumerChange::TargetEpoch(Some(TargetEpoch { epoch, made_at }))
        }
        (ConsumerGroupPart::TargetAssignmentMetadata, _) => ConsumerChange::TargetEpoch(None),
        (
            ConsumerGroupPart::TargetAssignmentMember(id),
            Some(ConsumerGroupRecord::TargetAssignmentMember(value)),
        ) => ConsumerChange::Target(id.into(), Some(Arc::new(assignment(&value)))),
        (ConsumerGroupPart::TargetAssignmentMember(id), _) => ConsumerChange::Target(id.into(), None),
        (
            ConsumerGroupPart::CurrentMemberAssignment(id),
            Some(ConsumerGroupRecord::CurrentMemberAssignment(value)),
        ) => ConsumerChange::Current(id.into(), Some(Arc::new(current(&value)))),
        (ConsumerGroupPart::CurrentMemberAssignment(id), _) => ConsumerChange::Current(id.into(), None),
        (
            ConsumerGroupPart::RegularExpression(regex),
            Some(ConsumerGroupRecord::RegularExpression(value)),
        ) => {
            let topics = value.topics.iter().map(|name| Arc::from(*name)).collect();
            let resolved = ResolvedRegex { topics, version: value.version, resolved_at: value.timestamp };
            ConsumerChange::Regex(regex.into(), Some(Arc::new(resolved)))
        }
        (ConsumerGroupPart::RegularExpression(regex), _) => ConsumerChange::Regex(regex.into(), None),
    }
}

fn member(value: &bytes::ConsumerGroupMemberMetadataValue<'_>) -> ConsumerMember {
    let classic = value.classic_member_metadata.as_ref().map(|classic| ClassicMember {
        session_timeout_ms: classic.session_timeout_ms,
        protocols: classic
            .supported_protocols
            .iter()
            .map(|protocol| (protocol.name.into(), protocol.metadata.into()))
            .collect(),
    });
    ConsumerMember {
        instance_id: value.instance_id.map(Arc::from),
        rack_id: value.rack_id.map(Arc::from),
        client_id: value.client_id.into(),
        client_host: value.client_host.into(),
        subscribed_topics: value.subscribed_topic_names.iter().map(|name| Arc::from(*name)).collect(),
        subscribed_regex: value.subscribed_topic_regex.filter(|regex| !regex.is_empty()).map(Arc::from),
        rebalance_timeout_ms: value.rebalance_timeout_ms,
        server_assignor: value.server_assignor.map(Arc::from),
        classic,
    }
}

fn assignment(value: &bytes::ConsumerGroupTargetAssignmentMemberValue) -> Assignment {
    let topics = value
        .topic_partitions
        .iter()
        .map(|topic| (topic.topic_id, topic.partitions.iter().copied().collect()));
    Assignment(topics.collect())
}

fn current(value: &bytes::ConsumerGroupCurrentMemberAssignmentValue) -> CurrentAssignment {
    // What an older broker wrote without epochs counts as given in the member's epoch, as in Kafka.
    let otherwise = Epoch(value.member_epoch.max(0));
    CurrentAssignment {
        epoch: Epoch(value.member_epoch),
        previous_epoch: Epoch(value.previous_member_epoch),
        state: value.state,
        assigned: owned(&value.assigned_partitions, otherwise),
        pending_revocation: owned(&value.partitions_pending_revocation, otherwise),
    }
}

fn owned(topics: &[bytes::OwnedTopicPartitions], otherwise: Epoch) -> OwnedPartitions {
    let one = |topic: &bytes::OwnedTopicPartitions| {
        let epochs = topic.assignment_epochs.as_ref().filter(|epochs| epochs.len() == topic.partitions.len());
        let epoch = |index: usize| epochs.map_or(otherwise, |epochs| Epoch(epochs[index]));
        let partitions: BTreeMap<PartitionIndex, Epoch> = topic
            .partitions
            .iter()
            .enumerate()
            .map(|(index, partition)| (*partition, epoch(index)))
            .collect();
        (topic.topic_id, partitions)
    };
    OwnedPartitions(topics.iter().map(one).collect())
}

/// The bytes of a record.
pub(crate) fn encode(record: &ConsumerRecord, into: &mut Encoded) {
    let part = part_of(&record.change);
    ConsumerGroupKey { group: &record.group, part }.encode(into.new_key()).expect(FITS);
    if let ConsumerChange::OldTopics(Some(raw)) = &record.change {
        into.new_value().extend_from_slice(raw);
        return;
    }
    match value_of(&record.change) {
        None => into.value = None,
        Some(value) => value.encode(into.new_value()).expect(FITS),
    }
}

fn part_of(change: &ConsumerChange) -> ConsumerGroupPart<'_> {
    match change {
        ConsumerChange::Group(_) => ConsumerGroupPart::GroupMetadata,
        ConsumerChange::OldTopics(_) => ConsumerGroupPart::PartitionMetadata,
        ConsumerChange::Member(id, _) => ConsumerGroupPart::MemberMetadata(id),
        ConsumerChange::TargetEpoch(_) => ConsumerGroupPart::TargetAssignmentMetadata,
        ConsumerChange::Target(id, _) => ConsumerGroupPart::TargetAssignmentMember(id),
        ConsumerChange::Current(id, _) => ConsumerGroupPart::CurrentMemberAssignment(id),
        ConsumerChange::Regex(regex, _) => ConsumerGroupPart::RegularExpression(regex),
    }
}

fn value_of(change: &ConsumerChange) -> Option<ConsumerGroupRecord<'_>> {
    Some(match change {
        ConsumerChange::Group(group) => {
            let GroupEpoch { epoch, metadata_hash } = (*group)?;
            let epoch = epoch.0;
            ConsumerGroupRecord::GroupMetadata(bytes::ConsumerGroupMetadataValue { epoch, metadata_hash })
        }
        ConsumerChange::OldTopics(_) => return None,
        ConsumerChange::Member(_, member) => {
            ConsumerGroupRecord::MemberMetadata(member_value(member.as_deref()?))
        }
        ConsumerChange::TargetEpoch(target) => {
            let TargetEpoch { epoch, made_at } = (*target)?;
            ConsumerGroupRecord::TargetAssignmentMetadata(bytes::ConsumerGroupTargetAssignmentMetadataValue {
                assignment_epoch: epoch.0,
                assignment_timestamp: made_at,
            })
        }
        ConsumerChange::Target(_, assignment) => {
            let topic_partitions = assignment.as_ref()?.0.iter().map(|(topic_id, partitions)| {
                let partitions = partitions.iter().copied().collect();
                bytes::TopicPartitions { topic_id: *topic_id, partitions }
            });
            ConsumerGroupRecord::TargetAssignmentMember(bytes::ConsumerGroupTargetAssignmentMemberValue {
                topic_partitions: topic_partitions.collect(),
            })
        }
        ConsumerChange::Current(_, current) => {
            let current = current.as_ref()?;
            ConsumerGroupRecord::CurrentMemberAssignment(bytes::ConsumerGroupCurrentMemberAssignmentValue {
                member_epoch: current.epoch.0,
                previous_member_epoch: current.previous_epoch.0,
                state: current.state,
                assigned_partitions: owned_value(&current.assigned),
                partitions_pending_revocation: owned_value(&current.pending_revocation),
            })
        }
        ConsumerChange::Regex(_, resolved) => {
            let resolved = resolved.as_ref()?;
            ConsumerGroupRecord::RegularExpression(bytes::ConsumerGroupRegularExpressionValue {
                topics: resolved.topics.iter().map(AsRef::as_ref).collect(),
                version: resolved.version,
                timestamp: resolved.resolved_at,
            })
        }
    })
}

fn member_value(member: &ConsumerMember) -> bytes::ConsumerGroupMemberMetadataValue<'_> {
    bytes::ConsumerGroupMemberMetadataValue {
        instance_id: member.instance_id.as_deref(),
        rack_id: member.rack_id.as_deref(),
        client_id: &member.client_id,
        client_host: &member.client_host,
        subscribed_topic_names: member.subscribed_topics.iter().map(AsRef::as_ref).collect(),
        subscribed_topic_regex: Some(member.subscribed_regex.as_deref().unwrap_or_default()),
        rebalance_timeout_ms: member.rebalance_timeout_ms,
        server_assignor: member.server_assignor.as_deref(),
        classic_member_metadata: member.classic.as_ref().map(|classic| bytes::ClassicMemberMetadata {
            session_timeout_ms: classic.session_timeout_ms,
            supported_protocols: classic
                .protocols
                .iter()
                .map(|(name, metadata)| bytes::ClassicProtocol { name, metadata })
                .collect(),
        }),
    }
}

fn owned_value(owned: &OwnedPartitions) -> Vec<bytes::OwnedTopicPartitions> {
    let one = |(topic_id, partitions): (&_, &BTreeMap<PartitionIndex, Epoch>)| bytes::OwnedTopicPartitions {
        topic_id: *topic_id,
        partitions: partitions.keys().copied().collect(),
        assignment_epochs: Some(partitions.values().map(|epoch| epoch.0).collect()),
    };
    owned.0.iter().map(one).collect()
}
