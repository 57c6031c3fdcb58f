//! Records and replies as the lines of a scenario file.

use milepost_groups::{
    ClassicGroup, CommittedOffset, DescribedGroup, EmbeddedRefusal, FetchedPartition, GroupError, Joined,
    Record, Reply,
};

use super::{START, Step};

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
        Record::Group(group) => match &group.classic {
            None => format!("- group {}", name(&group.group)),
            Some(classic) => format!("+ group {} {}", name(&group.group), self::classic(classic)),
        },
    }
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
        let assignment = String::from_utf8_lossy(&member.assignment);
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
            one(format!("assignment '{}'", String::from_utf8_lossy(&synced.assignment)))
        }
        Reply::SyncGroup(Err(error)) | Reply::LeaveGroup(Err(error)) | Reply::OffsetDelete(Err(error)) => {
            one(format!("{error:?}"))
        }
        Reply::Heartbeat(result) => one(self::result(*result)),
        Reply::LeaveGroup(Ok(results)) | Reply::DeleteGroups(results) | Reply::OffsetDelete(Ok(results)) => {
            one(results.iter().map(|result| self::result(*result)).collect::<Vec<_>>().join(", "))
        }
        Reply::OffsetCommit(Ok(refused)) if refused.is_empty() => one("ok".to_owned()),
        Reply::OffsetCommit(Ok(refused)) => {
            let each = refused.iter().map(|refused| format!("offset {}: {:?}", refused.index, refused.error));
            one(format!("ok but {}", each.collect::<Vec<_>>().join(", ")))
        }
        Reply::OffsetCommit(Err(error)) => one(format!("{error:?}")),
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
        Reply::Embedded(Ok(generation)) => {
            one(generation.map_or_else(|| "no generation".to_owned(), |now| format!("generation={}", now.0)))
        }
        Reply::Embedded(Err(EmbeddedRefusal::StaleGeneration { current })) => {
            one(format!("StaleGeneration, it is {}", current.0))
        }
        Reply::Embedded(Err(EmbeddedRefusal::UnknownGeneration { current: Some(current) })) => {
            one(format!("UnknownGeneration, it is {}", current.0))
        }
        Reply::Embedded(Err(EmbeddedRefusal::UnknownGeneration { current: None })) => {
            one("UnknownGeneration, there is none".to_owned())
        }
        Reply::Embedded(Err(EmbeddedRefusal::Offset(refused))) => {
            one(format!("offset {}: {:?}", refused.index, refused.error))
        }
        Reply::Embedded(Err(refusal)) => one(format!("{refusal:?}")),
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
        let assignment = String::from_utf8_lossy(&member.assignment);
        format!(
            "  {}{instance} {} {} has '{assignment}'{metadata}",
            member.member_id, member.client_id, member.client_host
        )
    });
    std::iter::once(head).chain(members).collect()
}
