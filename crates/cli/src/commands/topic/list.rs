//! `milepost topic list`.

use clap::Args;
use milepost_client::{TopicMetadata, topics};
use serde_json::{Value, json};

use crate::cluster_flags::ClusterFlags;
use crate::failure::Failure;
use crate::report::{Report, ReportFlags, Shown};
use crate::table::Cell;

/// The flags of `topic list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Lists the topics that belong to the cluster itself too, such as __consumer_offsets.
    #[arg(long)]
    internal: bool,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(list: &List) -> Result<(), Failure> {
    let mut cluster = list.cluster.connect()?;
    let mut topics = topics::list(&mut cluster)?;
    topics.retain(|topic| list.internal || !topic.is_internal);
    let row = |topic: &TopicMetadata| {
        let id = Cell::or_dash(topic.id);
        vec![topic.name.as_str().into(), topic.partitions.len().to_string().into(), id]
    };
    let object = |topic: &TopicMetadata| {
        json!({
            "name": topic.name,
            "id": topic.id.map(|id| id.to_string()),
            "partitions": topic.partitions.len(),
            "internal": topic.is_internal,
        })
    };
    list.report.print(&Report {
        columns: vec![("TOPIC", Shown::Always), ("PARTITIONS", Shown::Always), ("ID", Shown::Wide)],
        rows: topics.iter().map(row).collect(),
        document: Value::Array(topics.iter().map(object).collect()),
    })
}
