//! Streams groups (KIP-1071).

use std::collections::BTreeSet;

use milepost_model::PartitionIndex;
use milepost_wire::ApiKey;
use milepost_wire::messages::streams_group_describe::{
    DescribedStreamsGroup, DescribedStreamsGroupMember, StreamsAssignment, StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse, StreamsSubtopology, StreamsTaskIds,
};

use super::{
    Assigned, GROUPS_A_REQUEST, GroupDescription, GroupEpochs, MemberDescription, StreamsMember,
    StreamsTasks, Tasks, Work, note, sorted,
};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::groups::GroupKind;
use crate::groups::each::PerGroup;
use crate::topic_partition::TopicPartition;

/// What a listing says that its members speak.
const STREAMS: &str = "streams";

/// What a streams group works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamsTopology {
    /// Changes with the application.
    pub epoch: i32,
    /// Its parts. `None` while topics that it reads are not there or do not fit together.
    pub subtopologies: Option<Vec<Subtopology>>,
}

/// A part that is worked on by itself: one task for each of its partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtopology {
    /// Its name.
    pub id: String,
    /// The topics it reads that are not its own.
    pub sources: Vec<String>,
    /// The topics it reads that other parts write.
    pub repartition_sources: Vec<String>,
    /// The topics it writes for other parts.
    pub repartition_sinks: Vec<String>,
    /// The topics that its state can be made of again.
    pub changelogs: Vec<String>,
}

impl Subtopology {
    /// All that it reads.
    fn reads(&self) -> impl Iterator<Item = &String> {
        self.sources.iter().chain(&self.repartition_sources)
    }
}

pub(super) fn ask(
    connection: &mut Connection,
    groups: &[&str],
    deadline: Deadline,
    found: &mut PerGroup<GroupDescription>,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::StreamsGroupDescribe)?;
    let requests = groups.chunks(GROUPS_A_REQUEST).map(|part| StreamsGroupDescribeRequest {
        group_ids: part.to_vec(),
        ..StreamsGroupDescribeRequest::default()
    });
    connection.pipeline(requests, version, deadline, |answer| {
        let answer: StreamsGroupDescribeResponse<'_> = answer.decode()?;
        for one in &answer.groups {
            note(found, one.group_id, (one.error_code, one.error_message), || streams(one));
        }
        Ok(())
    })
}

fn streams(one: &DescribedStreamsGroup<'_>) -> GroupDescription {
    let topology = one.topology.as_ref().map(|topology| StreamsTopology {
        epoch: topology.epoch,
        subtopologies: topology.subtopologies.as_ref().map(|all| all.iter().map(subtopology).collect()),
    });
    let parts = topology.as_ref().and_then(|topology| topology.subtopologies.as_deref());
    GroupDescription {
        kind: GroupKind::Streams,
        state: one.group_state.to_owned(),
        protocol_type: STREAMS.to_owned(),
        assignor: one.assignor_name.unwrap_or_default().to_owned(),
        epochs: Some(GroupEpochs { group: one.group_epoch, assignment: one.assignment_epoch }),
        members: sorted(one.members.iter().map(|one| member(one, parts))),
        topology,
    }
}

fn subtopology(one: &StreamsSubtopology<'_>) -> Subtopology {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Subtopology {
        id: one.subtopology_id.to_owned(),
        sources: names(&one.source_topics),
        repartition_sources: one
            .repartition_source_topics
            .iter()
            .map(|topic| topic.name.to_owned())
            .collect(),
        repartition_sinks: names(&one.repartition_sink_topics),
        changelogs: one.state_changelog_topics.iter().map(|topic| topic.name.to_owned()).collect(),
    }
}

fn member(one: &DescribedStreamsGroupMember<'_>, parts: Option<&[Subtopology]>) -> MemberDescription {
    let (tasks, target) = (tasks(&one.assignment), tasks(&one.target_assignment));
    let subscribed: Option<BTreeSet<String>> =
        parts.map(|parts| parts.iter().flat_map(Subtopology::reads).cloned().collect());
    MemberDescription {
        member_id: one.member_id.to_owned(),
        instance_id: one.instance_id.map(str::to_owned),
        client_id: one.client_id.to_owned(),
        host: one.client_host.to_owned(),
        epoch: Some(one.member_epoch),
        subscribed,
        assigned: read_for(&tasks.active, parts.unwrap_or_default()),
        target: parts.map(|parts| read_for(&target.active, parts)),
        work: Some(Work::Streams(StreamsMember {
            topology_epoch: one.topology_epoch,
            process_id: one.process_id.to_owned(),
            tasks,
            target,
        })),
    }
}

fn tasks(assignment: &StreamsAssignment<'_>) -> StreamsTasks {
    let of = |tasks: &[StreamsTaskIds<'_>]| -> Tasks {
        tasks.iter().map(|one| (one.subtopology_id.to_owned(), one.partitions.clone())).collect()
    };
    StreamsTasks {
        active: of(&assignment.active_tasks),
        standby: of(&assignment.standby_tasks),
        warmup: of(&assignment.warmup_tasks),
    }
}

/// What is read for these tasks: the partition of the same number of every topic that the subtopology reads. A topic with
/// fewer partitions than others of its subtopology has no such partition, which is not known here.
fn read_for(tasks: &Tasks, parts: &[Subtopology]) -> Assigned {
    let of_task = tasks.iter().flat_map(|(id, partitions)| {
        let topics = parts.iter().filter(move |part| part.id == *id).flat_map(Subtopology::reads);
        topics.flat_map(move |topic| {
            partitions.iter().map(move |number| TopicPartition::new(topic.as_str(), PartitionIndex(*number)))
        })
    });
    of_task.collect()
}
