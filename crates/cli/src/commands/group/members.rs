//! `milepost group members`.

use clap::Args;
use milepost_client::groups::{Assigned, GroupDescription, MemberDescription};
use serde_json::{Map, Value, json};

use super::select::Selection;
use super::words;
use crate::cluster_flags::ClusterFlags;
use crate::failure::Failure;
use crate::report::{DOCUMENT_VERSION, Report, ReportFlags, Shown};
use crate::table::Cell;

const HELP: &str = "\
JSON: {\"version\", \"groups\": [{\"group\", \"state\", \"members\": [{\"member_id\", \"instance_id\", \"client_id\", \"host\", \"epoch\",
\"subscribed\", \"assigned\": {topic: [partition]}, \"target\"}]}], \"errors\"}; \"subscribed\" is null where it is not known.";

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
    let errors = members.selection.describe(&mut cluster, |_, name, known| {
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
    ]
}

/// `orders:0,1;payments:0`, as Kafka's own tool writes it.
fn text(assigned: &Assigned) -> String {
    let topics = by_topic(assigned).into_iter().map(|(topic, partitions)| {
        let numbers: Vec<String> = partitions.iter().map(ToString::to_string).collect();
        format!("{topic}:{}", numbers.join(","))
    });
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
        Value::Object(object)
    });
    json!({ "group": group, "state": known.state, "members": members.collect::<Vec<_>>() })
}
