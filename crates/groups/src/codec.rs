//! Records as bytes and back, over `records`. Names that the state already knows are shared, not copied.

use std::sync::Arc;

use milepost_model::{Corrupt, Encoded};
use milepost_records::offsets::{self, GroupMetadataKey, GroupMetadataMember, GroupMetadataValue};
use milepost_records::offsets::{OffsetCommitKey, OffsetCommitValue};

use crate::consumer::{self, ConsumerRecord};
use crate::hard::Hard;
use crate::{ClassicGroup, CommittedOffset, GroupRecord, Member, OffsetRecord, Record};

#[cfg(test)]
mod tests;

/// Why encoding cannot fail: handlers refuse names that do not fit, and decoded ones did fit.
const FITS: &str = "handlers refuse names that are longer than a record can hold";

pub(crate) fn decode(
    hard: &Hard,
    key: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Result<Option<Record>, Corrupt> {
    match offsets::Record::decode(key, value).map_err(|error| Corrupt(error.to_string()))? {
        offsets::Record::OffsetCommit { key, value } => Ok(Some(Record::Offset(OffsetRecord {
            group: hard.shared_group_id(key.group),
            topic: hard.shared_topic(key.topic),
            partition: key.partition,
            committed: value.map(|value| committed_offset(&value)),
        }))),
        offsets::Record::GroupMetadata { key, value } => Ok(Some(Record::Group(GroupRecord {
            group: hard.shared_group_id(key.group),
            classic: value.map(|value| Arc::new(classic_group(&value))),
        }))),
        offsets::Record::ConsumerGroup { key, value: decoded } => {
            let group = hard.shared_group_id(key.group);
            let change = consumer::decode(key.part, decoded, value);
            Ok(Some(Record::Consumer(ConsumerRecord { group, change })))
        }
        offsets::Record::Unknown { .. } => Ok(None),
    }
}

fn committed_offset(value: &OffsetCommitValue<'_>) -> CommittedOffset {
    CommittedOffset::new(value.offset, value.commit_timestamp)
        .with_leader_epoch(value.leader_epoch)
        .with_topic_id(value.topic_id)
        .with_metadata(value.metadata)
        .with_expire_timestamp(value.expire_timestamp)
}

fn classic_group(value: &GroupMetadataValue<'_>) -> ClassicGroup {
    let members = value.members.iter().map(|member| Member {
        member_id: member.member_id.into(),
        group_instance_id: member.group_instance_id.map(Arc::from),
        client_id: member.client_id.into(),
        client_host: member.client_host.into(),
        rebalance_timeout_ms: member.rebalance_timeout_ms.unwrap_or(member.session_timeout_ms),
        session_timeout_ms: member.session_timeout_ms,
        subscription: member.subscription.into(),
        assignment: member.assignment.into(),
    });
    ClassicGroup {
        protocol_type: value.protocol_type.map(Arc::from),
        generation: value.generation,
        protocol: value.protocol.map(Arc::from),
        leader: value.leader.map(Arc::from),
        state_timestamp: value.current_state_timestamp,
        members: members.collect::<Vec<_>>().into(),
    }
}

pub(crate) fn encode(record: &Record, into: &mut Encoded) {
    match record {
        Record::Offset(record) => encode_offset(record, into),
        Record::Group(record) => encode_group(record, into),
        Record::Consumer(record) => consumer::encode(record, into),
    }
}

fn encode_offset(record: &OffsetRecord, into: &mut Encoded) {
    OffsetCommitKey { group: &record.group, topic: &record.topic, partition: record.partition }
        .encode(into.new_key())
        .expect(FITS);
    let Some(committed) = &record.committed else {
        into.value = None;
        return;
    };
    OffsetCommitValue {
        offset: committed.offset(),
        leader_epoch: committed.leader_epoch(),
        metadata: committed.metadata(),
        commit_timestamp: committed.commit_timestamp(),
        expire_timestamp: committed.expire_timestamp(),
        topic_id: committed.topic_id(),
    }
    .encode(into.new_value())
    .expect(FITS);
}

fn encode_group(record: &GroupRecord, into: &mut Encoded) {
    GroupMetadataKey { group: &record.group }.encode(into.new_key()).expect(FITS);
    let Some(classic) = &record.classic else {
        into.value = None;
        return;
    };
    let members = classic.members.iter().map(|member| GroupMetadataMember {
        member_id: &member.member_id,
        group_instance_id: member.group_instance_id.as_deref(),
        client_id: &member.client_id,
        client_host: &member.client_host,
        rebalance_timeout_ms: Some(member.rebalance_timeout_ms),
        session_timeout_ms: member.session_timeout_ms,
        subscription: &member.subscription,
        assignment: &member.assignment,
    });
    GroupMetadataValue {
        protocol_type: classic.protocol_type.as_deref(),
        generation: classic.generation,
        protocol: classic.protocol.as_deref(),
        leader: classic.leader.as_deref(),
        current_state_timestamp: classic.state_timestamp,
        members: members.collect(),
    }
    .encode(into.new_value())
    .expect(FITS);
}
