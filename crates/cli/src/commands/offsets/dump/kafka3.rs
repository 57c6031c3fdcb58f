//! The shape of Kafka 3's formatters, which is how Scala writes its case classes. Scripts still read it.

use milepost_records::offsets::{GroupMetadataMember, GroupMetadataValue, OffsetCommitValue, Record};

/// What those formatters write for a value that is not there.
const TOMBSTONE: &str = "NULL";

/// One line. Nothing for types that have no formatter.
pub(super) fn line(record: &Record<'_>) -> Option<String> {
    match record {
        Record::OffsetCommit { key, value } => {
            let value = value.as_ref().map_or_else(|| TOMBSTONE.to_owned(), offset);
            Some(format!("[{},{},{}]::{value}", key.group, key.topic, key.partition))
        }
        Record::GroupMetadata { key, value } => {
            let value = value.as_ref().map_or_else(|| TOMBSTONE.to_owned(), |value| group(key.group, value));
            Some(format!("{}::{value}", key.group))
        }
        Record::ConsumerGroup { .. } | Record::Unknown { .. } => None,
    }
}

fn offset(value: &OffsetCommitValue<'_>) -> String {
    let epoch = value
        .leader_epoch
        .map_or_else(|| "Optional.empty".to_owned(), |epoch| format!("Optional[{}]", epoch.0));
    let expires =
        value.expire_timestamp.map_or_else(|| "None".to_owned(), |time| format!("Some({})", time.0));
    format!(
        "OffsetAndMetadata(offset={}, leaderEpoch={epoch}, metadata={}, commitTimestamp={}, expireTimestamp={expires})",
        value.offset, value.metadata, value.commit_timestamp.0
    )
}

fn group(name: &str, value: &GroupMetadataValue<'_>) -> String {
    let protocol_type = option(value.protocol_type);
    let state = if value.members.is_empty() { "Empty" } else { "Stable" };
    let members: Vec<String> = value.members.iter().map(|one| member(one, value.protocol)).collect();
    format!(
        "GroupMetadata(groupId={name}, generation={}, protocolType={protocol_type}, currentState={state}, members=Map({}))",
        value.generation.0,
        members.join(", ")
    )
}

fn member(member: &GroupMetadataMember<'_>, protocol: Option<&str>) -> String {
    let instance = option(member.group_instance_id);
    let rebalance_timeout_ms = member.rebalance_timeout_ms.unwrap_or(member.session_timeout_ms);
    format!(
        "{id} -> MemberMetadata(memberId={id}, groupInstanceId={instance}, clientId={}, clientHost={}, sessionTimeoutMs={}, \
         rebalanceTimeoutMs={rebalance_timeout_ms}, supportedProtocols=List({}), )",
        member.client_id,
        member.client_host,
        member.session_timeout_ms,
        protocol.unwrap_or_default(),
        id = member.member_id,
    )
}

fn option(text: Option<&str>) -> String {
    text.map_or_else(|| "None".to_owned(), |text| format!("Some({text})"))
}
