//! `milepost topic list`.

use clap::Args;
use milepost_client::topics;
use serde_json::{Value, json};

use crate::cluster_flags::{ClusterFlags, Format};
use crate::failure::Failure;
use crate::{output, table};

/// The flags of `topic list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Lists the topics that belong to the cluster itself too, such as __consumer_offsets.
    #[arg(long)]
    internal: bool,
    /// What is printed: a table, or an array of {"name", "id", "partitions", "internal"}.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(list: &List) -> Result<(), Failure> {
    let mut cluster = list.cluster.connect()?;
    let mut topics = topics::list(&mut cluster)?;
    topics.retain(|topic| list.internal || !topic.is_internal);
    match list.format {
        Format::Text => {
            let rows: Vec<[String; 2]> =
                topics.into_iter().map(|topic| [topic.name, topic.partitions.len().to_string()]).collect();
            output::print(&table::render(0, ["TOPIC", "PARTITIONS"], &rows))
        }
        Format::Json => {
            let topics = topics.into_iter().map(|topic| {
                json!({
                    "name": topic.name,
                    "id": topic.id.map(|id| id.to_string()),
                    "partitions": topic.partitions.len(),
                    "internal": topic.is_internal,
                })
            });
            output::print_json(&Value::Array(topics.collect()))
        }
    }
}
