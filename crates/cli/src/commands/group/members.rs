//! `milepost group members`.

use clap::Args;
use milepost_client::groups::{
    Assigned, ConnectWorker, GroupDescription, MemberDescription, StreamsMember, StreamsTasks, Work,
};
use serde_json::{Map, Value, json};

use super::select::Selection;
use super::words;
use crate::cluster_flags::ClusterFlags;
use crate::failure::Failure;
use crate::report::{DOCUMENT_VERSION, Report, ReportFlags, Shown};
use crate::table::Cell;

const HELP: &str = "\
JSON: {\"version\", \"groups\": [{\"group\", \"state\", \"members\": [{\"member_id\", \"instance_id\", \"client_id\", \"host\", \"epoch\",
\"subscribed\", \"assigned\": {topic: [partition]}, \"target\"}]}], \"errors\"}; \"subscribed\" is null where it is not known.
Members of a streams group also have \"streams\": {\"process_id\", \"topology_epoch\", \"tasks\": {\"active\", \"standby\", \"warmup\":
{subtopology: [partition]}}, \"target_tasks\"}; workers of Kafka Connect have \"connect\": {\"url\", \"protocol_version\",
\"config_offset\", \"is_leader\", \"assigned\": [{\"connector\", \"runs_connector\", \"tasks\": [number]}]}.";

/// The flags of `group members`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Members {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(members: &Members) -> Result<(), Failure> {
    let mut cluster = members.cluster.connect()?;
    let (mut rows, mut objects) = (Vec::new(), Vec::new());
    let mut has_work = false;
    let errors = members.selection.describe(&mut cluster, |_, name, known| {
        has_work |= known.members.iter().any(|member| member.work.is_some());
        rows.extend(known.members.iter().map(|member| row(name, member)));
        objects.push(object(name, known));
    })?;
    let columns = vec![
        ("GROUP", Shown::Always),
        ("MEMBER", Shown::Always),
        ("INSTANCE", Shown::Wide),
        ("HOST", Shown::Always),
        ("CLIENT-ID", Shown::Always),
        ("PARTITIONS", Shown::Always),
        ("EPOCH", Shown::Wide),
        ("ASSIGNED", Shown::Wide),
        ("TARGET", Shown::Wide),
        ("SUBSCRIBED", Shown::Wide),
        ("WORK", if has_work { Shown::Always } else { Shown::Wide }),
    ];
    let document = json!({
        "version": DOCUMENT_VERSION,
        "groups": objects,
        "errors": errors.iter().map(words::reason).collect::<Vec<_>>(),
    });
    members.report.print(&Report { columns, rows, document })?;
    Failure::of_reasons(errors)
}

fn row(group: &str, member: &MemberDescription) -> Vec<Cell> {
    let subscribed =
        member.subscribed.as_ref().map(|topics| topics.iter().cloned().collect::<Vec<_>>().join(","));
    vec![
        group.into(),
        member.member_id.as_str().into(),
        Cell::or_dash(member.instance_id.as_ref()),
        member.host.as_str().into(),
        member.client_id.as_str().into(),
        member.assigned.len().to_string().into(),
        Cell::or_dash(member.epoch),
        text(&member.assigned).into(),
        Cell::or_dash(member.target.as_ref().map(text)),
        Cell::or_dash(subscribed),
        Cell::or_dash(member.work.as_ref().map(work)),
    ]
}

/// `active 0:0,1 1:0; standby 1:1` of Streams, `files:connector,0 sink:1` of Connect.
fn work(work: &Work) -> String {
    match work {
        Work::Streams(member) => {
            let tasks = &member.tasks;
            let kinds = [("active", &tasks.active), ("standby", &tasks.standby), ("warmup", &tasks.warmup)];
            let some = kinds.into_iter().filter(|(_, tasks)| !tasks.is_empty());
            let said = some.map(|(kind, tasks)| {
                let of = tasks
                    .iter()
                    .map(|(subtopology, partitions)| format!(" {subtopology}:{}", numbers(partitions)));
                format!("{kind}{}", of.collect::<String>())
            });
            said.collect::<Vec<_>>().join("; ")
        }
        Work::Connect(worker) => {
            let said = worker.assigned.iter().map(|one| {
                let connector = if one.runs_connector { Some("connector".to_owned()) } else { None };
                let tasks = one.tasks.iter().map(ToString::to_string);
                let parts: Vec<String> = connector.into_iter().chain(tasks).collect();
                format!("{}:{}", one.connector, parts.join(","))
            });
            said.collect::<Vec<_>>().join(" ")
        }
    }
}

fn numbers(numbers: &[i32]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// `orders:0,1;payments:0`, as Kafka's own tool writes it.
fn text(assigned: &Assigned) -> String {
    let topics =
        by_topic(assigned).into_iter().map(|(topic, partitions)| format!("{topic}:{}", numbers(&partitions)));
    topics.collect::<Vec<_>>().join(";")
}

fn by_topic(assigned: &Assigned) -> std::collections::BTreeMap<&str, Vec<i32>> {
    let mut topics = std::collections::BTreeMap::<&str, Vec<i32>>::new();
    for one in assigned {
        topics.entry(&one.topic).or_default().push(one.partition.0);
    }
    topics
}

fn object(group: &str, known: &GroupDescription) -> Value {
    let members = known.members.iter().map(|member| {
        let mut object = Map::new();
        object.insert("member_id".to_owned(), member.member_id.as_str().into());
        object.insert("instance_id".to_owned(), member.instance_id.clone().into());
        object.insert("client_id".to_owned(), member.client_id.as_str().into());
        object.insert("host".to_owned(), member.host.as_str().into());
        object.insert("epoch".to_owned(), member.epoch.into());
        object.insert("subscribed".to_owned(), json!(member.subscribed));
        object.insert("assigned".to_owned(), json!(by_topic(&member.assigned)));
        object.insert("target".to_owned(), json!(member.target.as_ref().map(by_topic)));
        match &member.work {
            Some(Work::Streams(streams)) => {
                object.insert("streams".to_owned(), streams_object(streams));
            }
            Some(Work::Connect(worker)) => {
                let is_leader = worker.leader.as_ref().map(|leader| *leader == member.member_id);
                object.insert("connect".to_owned(), connect_object(worker, is_leader));
            }
            None => {}
        }
        Value::Object(object)
    });
    json!({ "group": group, "state": known.state, "members": members.collect::<Vec<_>>() })
}

fn streams_object(member: &StreamsMember) -> Value {
    let tasks = |tasks: &StreamsTasks| json!({ "active": tasks.active, "standby": tasks.standby, "warmup": tasks.warmup });
    json!({
        "process_id": member.process_id,
        "topology_epoch": member.topology_epoch,
        "tasks": tasks(&member.tasks),
        "target_tasks": tasks(&member.target),
    })
}

fn connect_object(worker: &ConnectWorker, is_leader: Option<bool>) -> Value {
    let assigned = worker.assigned.iter().map(
        |one| json!({ "connector": one.connector, "runs_connector": one.runs_connector, "tasks": one.tasks }),
    );
    json!({
        "url": worker.url,
        "protocol_version": worker.version,
        "config_offset": worker.config_offset,
        "is_leader": is_leader,
        "assigned": assigned.collect::<Vec<_>>(),
    })
}
