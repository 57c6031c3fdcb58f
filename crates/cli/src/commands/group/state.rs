//! `milepost group state`.

use clap::Args;
use milepost_client::groups::{StreamsTopology, Subtopology};
use serde_json::{Value, json};

use super::select::Selection;
use super::words;
use crate::cluster_flags::ClusterFlags;
use crate::failure::Failure;
use crate::report::{DOCUMENT_VERSION, Report, ReportFlags, Shown};
use crate::table::Cell;

const HELP: &str = "\
JSON: {\"version\", \"groups\": [{\"group\", \"type\", \"state\", \"protocol_type\", \"assignor\", \"coordinator\", \"members\",
\"group_epoch\", \"assignment_epoch\", \"topology\": {\"epoch\", \"subtopologies\": [{\"subtopology\", \"source_topics\",
\"repartition_source_topics\", \"repartition_sink_topics\", \"changelog_topics\"}]}}], \"errors\"}; the epochs are null for a classic group,
\"topology\" for any but a streams group, and \"subtopologies\" while topics that it reads are missing or do not fit together.";

/// The flags of `group state`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct State {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(state: &State) -> Result<(), Failure> {
    let mut cluster = state.cluster.connect()?;
    let (mut rows, mut objects) = (Vec::new(), Vec::new());
    let errors = state.selection.describe(&mut cluster, |cluster, name, known| {
        let deadline = cluster.deadline();
        let coordinator = cluster.coordinator(name, deadline).ok().map(|address| address.to_string());
        let epochs = known.epochs;
        let assignor = Some(known.assignor.clone()).filter(|assignor| !assignor.is_empty());
        rows.push(vec![
            name.into(),
            Cell::or_dash(coordinator.as_ref()),
            known.kind.to_string().into(),
            words::state(Some(&known.state)),
            Cell::or_dash(assignor.as_ref()),
            known.members.len().to_string().into(),
            Cell::or_dash(epochs.map(|epochs| epochs.group)),
            Cell::or_dash(epochs.map(|epochs| epochs.assignment)),
            Cell::or_dash(known.topology.as_ref().map(|topology| topology.epoch)),
            Cell::or_dash(known.topology.as_ref().map(subtopologies)),
        ]);
        objects.push(json!({
            "group": name,
            "type": known.kind.name(),
            "state": known.state,
            "protocol_type": known.protocol_type,
            "assignor": assignor,
            "coordinator": coordinator,
            "members": known.members.len(),
            "group_epoch": epochs.map(|epochs| epochs.group),
            "assignment_epoch": epochs.map(|epochs| epochs.assignment),
            "topology": known.topology.as_ref().map(topology),
        }));
    })?;
    let columns = [
        ("GROUP", Shown::Always),
        ("COORDINATOR", Shown::Always),
        ("TYPE", Shown::Always),
        ("STATE", Shown::Always),
        ("ASSIGNOR", Shown::Always),
        ("MEMBERS", Shown::Always),
        ("GROUP-EPOCH", Shown::Wide),
        ("ASSIGNMENT-EPOCH", Shown::Wide),
        ("TOPOLOGY-EPOCH", Shown::Wide),
        ("SUBTOPOLOGIES", Shown::Wide),
    ];
    let document = json!({
        "version": DOCUMENT_VERSION,
        "groups": objects,
        "errors": errors.iter().map(words::reason).collect::<Vec<_>>(),
    });
    state.report.print(&Report { columns: columns.to_vec(), rows, document })?;
    Failure::of_reasons(errors)
}

/// `0: orders -> words; 1: words`: what each reads, and what it writes for the others.
fn subtopologies(topology: &StreamsTopology) -> String {
    let Some(parts) = &topology.subtopologies else { return "not initialized".to_owned() };
    let said = parts.iter().map(|part| {
        let reads: Vec<&str> =
            part.sources.iter().chain(&part.repartition_sources).map(String::as_str).collect();
        let writes = if part.repartition_sinks.is_empty() {
            String::new()
        } else {
            format!(" -> {}", part.repartition_sinks.join(","))
        };
        format!("{}: {}{writes}", part.id, reads.join(","))
    });
    said.collect::<Vec<_>>().join("; ")
}

fn topology(topology: &StreamsTopology) -> Value {
    let part = |part: &Subtopology| {
        json!({
            "subtopology": part.id,
            "source_topics": part.sources,
            "repartition_source_topics": part.repartition_sources,
            "repartition_sink_topics": part.repartition_sinks,
            "changelog_topics": part.changelogs,
        })
    };
    let parts = topology.subtopologies.as_ref().map(|parts| parts.iter().map(part).collect::<Vec<_>>());
    json!({ "epoch": topology.epoch, "subtopologies": parts })
}
