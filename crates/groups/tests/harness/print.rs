//! Records and replies as the lines of a scenario file.

use milepost_groups::{
    Assignment, ClassicGroup, CommittedOffset, ConsumerChange, ConsumerMember, ConsumerRecord,
    CurrentAssignment, DescribedConsumerGroup, DescribedGroup, EmbeddedRefusal, Epoch, FetchedPartition,
    GroupEpoch, GroupError, Joined, OwnedPartitions, Record, Reply, TargetEpoch,
};

use milepost_model::Generation;

use super::{START, Step, embedded};

pub(crate) fn lines(step: &Step) -> Vec<String> {
    let records = step.records.iter().map(record);
    let replies = step.replies.iter().flat_map(|(label, answer)| reply(label, answer));
    let refused = step.refused.iter().map(|label| format!("{label}: refused, nothing could be written"));
    records.chain(replies).chain(refused).collect()
}

fn record(record: &Record) -> String {
    match record {
        Record::Offset(offset) => {
            let place = format!("offset {} {}:{}", name(&offset.group), offset.topic, offset.partition);
            match &offset.committed {
                None => format!("- {place}"),
                Some(committed) => format!("+ {place} = {}", self::committed(committed)),
            }
        }
        Record::Consumer(record) => consumer_record(record),
        Record::Group(group) => match &group.classic {
            None => format!("- group {}", name(&group.group)),
            Some(classic) => format!("+ group {} {}", name(&group.group), self::classic(classic)),
        },
    }
}

fn consumer_record(record: &ConsumerRecord) -> String {
    let line = |what: String, value: Option<String>| {
        let place = format!("consumer {} {what}", name(&record.group));
        value.map_or_else(|| format!("- {place}"), |value| format!("+ {place} {value}"))
    };
    match &record.change {
        ConsumerChange::Group(value) => {
            let hashed = |value: &GroupEpoch| if value.metadata_hash == 0 { " without topics" } else { "" };
            line("group".to_owned(), value.map(|value| format!("epoch={}{}", value.epoch.0, hashed(&value))))
        }
        ConsumerChange::OldTopics(value) => {
            line("topics".to_owned(), value.as_ref().map(|bytes| format!("{} bytes", bytes.len())))
        }
        ConsumerChange::Member(id, value) => {
            line(format!("member {id}"), value.as_deref().map(consumer_member))
        }
        ConsumerChange::TargetEpoch(value) => {
            let made = |value: &TargetEpoch| if value.made_at.is_none() { " of nobody" } else { "" };
            line("target".to_owned(), value.map(|value| format!("epoch={}{}", value.epoch.0, made(&value))))
        }
        ConsumerChange::Target(id, value) => {
            line(format!("target {id}"), value.as_deref().map(|value| format!("= {}", assignment(value))))
        }
        ConsumerChange::Current(id, value) => {
            line(format!("current {id}"), value.as_deref().map(current_assignment))
        }
        ConsumerChange::Regex(regex, value) => line(
            format!("regex {regex}"),
            value.as_ref().map(|value| format!("= {:?} at version {}", value.topics, value.version)),
        ),
    }
}

fn consumer_member(member: &ConsumerMember) -> String {
    let mut text = format!("topics={:?}", member.subscribed_topics);
    let fields = [
        ("regex", &member.subscribed_regex),
        ("instance", &member.instance_id),
        ("rack", &member.rack_id),
        ("assignor", &member.server_assignor),
    ];
    for (field, value) in fields {
        if let Some(value) = value {
            text += &format!(" {field}={value}");
        }
    }
    if let Some(classic) = &member.classic {
        let names: Vec<_> = classic.protocols.iter().map(|(name, _)| &**name).collect();
        text += &format!(" classic={} session={}ms", names.join(","), classic.session_timeout_ms);
    }
    text
}

/// What a member of the classic protocol is assigned, or the text that stands for it.
fn embedded_assignment(bytes: &[u8]) -> String {
    embedded::describe(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned())
}

/// `1:0,1 2:0`: topics by number.
fn assignment(assignment: &Assignment) -> String {
    let topics = assignment.0.iter().map(|(topic, partitions)| {
        let partitions: Vec<_> = partitions.iter().map(ToString::to_string).collect();
        format!("{}:{}", topic.0[15], partitions.join(","))
    });
    let all = topics.collect::<Vec<_>>().join(" ");
    if all.is_empty() { "nothing".to_owned() } else { all }
}

/// `1:0@2,1@3`: topics by number, and since which epoch each partition is the member's.
fn owned(owned: &OwnedPartitions) -> String {
    let topics = owned.0.iter().map(|(topic, partitions)| {
        let one = |(partition, epoch): (&_, &Epoch)| format!("{partition}@{}", epoch.0);
        format!("{}:{}", topic.0[15], partitions.iter().map(one).collect::<Vec<_>>().join(","))
    });
    let all = topics.collect::<Vec<_>>().join(" ");
    if all.is_empty() { "nothing".to_owned() } else { all }
}

fn current_assignment(current: &CurrentAssignment) -> String {
    let mut text = format!(
        "epoch={} before={} {:?} has {}",
        current.epoch.0,
        current.previous_epoch.0,
        current.state,
        owned(&current.assigned)
    );
    if !current.pending_revocation.is_empty() {
        text += &format!(" gives up {}", owned(&current.pending_revocation));
    }
    text
}

/// A name, visible also when it is empty.
fn name(name: &str) -> &str {
    if name.is_empty() { "''" } else { name }
}

fn committed(committed: &CommittedOffset) -> String {
    let mut text = committed.offset().to_string();
    if let Some(epoch) = committed.leader_epoch() {
        text += &format!(" epoch={}", epoch.0);
    }
    if !committed.metadata().is_empty() {
        let metadata = committed.metadata();
        text += &match metadata.chars().count() {
            ..=40 => format!(" metadata={metadata}"),
            length => format!(" metadata=({length} characters)"),
        };
    }
    if let Some(time) = committed.expire_timestamp() {
        text += &format!(" expires={}s", (time.0 - START.wall.0) / 1000);
    }
    if let Some(id) = committed.topic_id() {
        text += &format!(" topic-id={}", id.0[15]);
    }
    text
}

fn classic(classic: &ClassicGroup) -> String {
    let mut text = format!("generation={}", classic.generation.0);
    let fields =
        [("type", &classic.protocol_type), ("protocol", &classic.protocol), ("leader", &classic.leader)];
    for (field, value) in fields {
        if let Some(value) = value {
            text += &format!(" {field}={value}");
        }
    }
    for member in classic.members.iter() {
        let assignment = embedded_assignment(&member.assignment);
        let instance = member.group_instance_id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        text += &format!(" | {}{instance} gets '{assignment}'", member.member_id);
    }
    text
}

fn reply(label: &str, reply: &Reply) -> Vec<String> {
    let one = |text: String| vec![format!("{label}: {text}")];
    match reply {
        Reply::JoinGroup(Ok(joined)) => one(self::joined(joined)),
        Reply::JoinGroup(Err(refused)) => {
            let member = refused.member_id.as_ref().map(|id| format!(" member={id}")).unwrap_or_default();
            one(format!("{:?}{member}", refused.error))
        }
        Reply::SyncGroup(Ok(synced)) => {
            one(format!("assignment '{}'", embedded_assignment(&synced.assignment)))
        }
        Reply::SyncGroup(Err(error)) | Reply::LeaveGroup(Err(error)) | Reply::OffsetDelete(Err(error)) => {
            one(format!("{error:?}"))
        }
        Reply::ConsumerGroupHeartbeat(_) | Reply::DescribeConsumerGroup(_) | Reply::OffsetFetchRefused(_) => {
            consumer_reply(label, reply)
        }
        Reply::Heartbeat(result) => one(self::result(*result)),
        Reply::LeaveGroup(Ok(results)) | Reply::DeleteGroups(results) | Reply::OffsetDelete(Ok(results)) => {
            one(results.iter().map(|result| self::result(*result)).collect::<Vec<_>>().join(", "))
        }
        Reply::OffsetCommit(Ok(refused)) | Reply::TxnOffsetCommit(Ok(refused)) if refused.is_empty() => {
            one("ok".to_owned())
        }
        Reply::OffsetCommit(Ok(refused)) | Reply::TxnOffsetCommit(Ok(refused)) => {
            let each = refused.iter().map(|refused| format!("offset {}: {:?}", refused.index, refused.error));
            one(format!("ok but {}", each.collect::<Vec<_>>().join(", ")))
        }
        Reply::OffsetCommit(Err(error)) | Reply::TxnOffsetCommit(Err(error)) => one(format!("{error:?}")),
        Reply::OffsetFetch(results) => {
            let each = results.iter().map(|result| match result {
                Ok(None) => "none".to_owned(),
                Ok(Some(offset)) => committed(offset),
                Err(error) => format!("{error:?}"),
            });
            one(each.collect::<Vec<_>>().join(" | "))
        }
        Reply::OffsetFetchAll(topics) => {
            let partitions = topics.iter().flat_map(|topic| {
                topic.partitions.iter().map(|partition| format!("{}:{}", topic.topic, fetched(partition)))
            });
            let all = partitions.collect::<Vec<_>>();
            one(if all.is_empty() { "nothing".to_owned() } else { all.join(" | ") })
        }
        Reply::ListGroups(groups) => {
            let each = groups.iter().map(|group| {
                format!(
                    "{} {} {}",
                    name(&group.group_id),
                    group.state,
                    group.protocol_type.as_deref().unwrap_or("''")
                )
            });
            one(each.collect::<Vec<_>>().join(" | "))
        }
        Reply::DescribeGroup(Err(error)) => one(format!("{error:?}")),
        Reply::DescribeGroup(Ok(group)) => described(label, group),
        Reply::Embedded(result) => one(embedded(result)),
    }
}

fn result(result: Result<(), GroupError>) -> String {
    result.map_or_else(|error| format!("{error:?}"), |()| "ok".to_owned())
}

fn fetched(partition: &FetchedPartition) -> String {
    match &partition.offset {
        Ok(offset) => format!("{} = {}", partition.partition, committed(offset)),
        Err(error) => format!("{} = {error:?}", partition.partition),
    }
}

fn joined(joined: &Joined) -> String {
    let mut text =
        format!("generation={} member={} leader={}", joined.generation.0, joined.member_id, joined.leader);
    if let Some(protocol) = &joined.protocol {
        text += &format!(" protocol={protocol}");
    }
    if joined.skip_assignment {
        text += " skip-assignment";
    }
    if !joined.members.is_empty() {
        let members: Vec<_> = joined.members.iter().map(|member| &*member.member_id).collect();
        text += &format!(" members={}", members.join(","));
    }
    text
}

fn embedded(result: &Result<Option<Generation>, EmbeddedRefusal>) -> String {
    match result {
        Ok(Some(generation)) => format!("generation={}", generation.0),
        Ok(None) => "no generation".to_owned(),
        Err(EmbeddedRefusal::StaleGeneration { current }) => format!("StaleGeneration, it is {}", current.0),
        Err(EmbeddedRefusal::UnknownGeneration { current: Some(current) }) => {
            format!("UnknownGeneration, it is {}", current.0)
        }
        Err(EmbeddedRefusal::UnknownGeneration { current: None }) => {
            "UnknownGeneration, there is none".to_owned()
        }
        Err(EmbeddedRefusal::Offset(refused)) => format!("offset {}: {:?}", refused.index, refused.error),
        Err(refusal) => format!("{refusal:?}"),
    }
}

fn consumer_reply(label: &str, reply: &Reply) -> Vec<String> {
    match reply {
        Reply::ConsumerGroupHeartbeat(Ok(told)) => {
            let has = told.assignment.as_ref().map(|told| format!(" has {}", assignment(told)));
            vec![format!("{label}: epoch={}{}", told.epoch.0, has.unwrap_or_default())]
        }
        Reply::ConsumerGroupHeartbeat(Err(error))
        | Reply::DescribeConsumerGroup(Err(error))
        | Reply::OffsetFetchRefused(error) => vec![format!("{label}: {error:?}")],
        Reply::DescribeConsumerGroup(Ok(group)) => described_consumers(label, group),
        other => panic!("{other:?} is not about consumer groups"),
    }
}

fn described_consumers(label: &str, group: &DescribedConsumerGroup) -> Vec<String> {
    let head = format!(
        "{label}: {} epoch={} target={} assignor={}",
        group.state,
        group.epoch.0,
        group.target_epoch.0,
        group.assignor.name()
    );
    let members = group.members.iter().map(|member| {
        format!(
            "  {} epoch={} has {} shall have {}",
            member.member_id,
            member.epoch.0,
            assignment(&member.assignment),
            assignment(&member.target)
        )
    });
    std::iter::once(head).chain(members).collect()
}

fn described(label: &str, group: &DescribedGroup) -> Vec<String> {
    let mut head = format!("{label}: {}", group.state);
    for (field, value) in [("type", &group.protocol_type), ("protocol", &group.protocol)] {
        if let Some(value) = value {
            head += &format!(" {field}={value}");
        }
    }
    let members = group.members.iter().map(|member| {
        let instance = member.group_instance_id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        let metadata = if member.metadata.is_some() { " with metadata" } else { "" };
        let assignment = embedded_assignment(&member.assignment);
        format!(
            "  {}{instance} {} {} has '{assignment}'{metadata}",
            member.member_id, member.client_id, member.client_host
        )
    });
    std::iter::once(head).chain(members).collect()
}
