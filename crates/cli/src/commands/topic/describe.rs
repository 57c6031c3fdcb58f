//! `milepost topic describe`.

use clap::Args;
use milepost_client::topics::{self, PartitionDescription, TopicDescription};
use serde_json::{Map, Value, json};

use crate::cluster_flags::{ClusterFlags, Format};
use crate::failure::Failure;
use crate::palette::Palette;
use crate::table::{Cell, Headings};
use crate::visible::visible;
use crate::{output, table};

/// The flags of `topic describe`.
#[derive(Debug, Args)]
pub(crate) struct Describe {
    /// The topics.
    #[arg(required = true, value_name = "TOPIC")]
    names: Vec<String>,
    /// What is printed: text, or an array of {"name", "id", "internal", "configs", "partitions": [{"partition", "leader",
    /// "start_offset", "end_offset", "replicas", "in_sync"}]}.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(describe: &Describe) -> Result<(), Failure> {
    let mut cluster = describe.cluster.connect()?;
    let names: Vec<&str> = describe.names.iter().map(String::as_str).collect();
    let topics::Described { topics, refused } = topics::describe(&mut cluster, &names)?;
    match describe.format {
        Format::Text => output::print(&topics.iter().map(text).collect::<Vec<_>>().join("\n"))?,
        Format::Json => output::print_json(&Value::Array(topics.iter().map(json).collect()))?,
    }
    Failure::of_some(refused)
}

fn text(topic: &TopicDescription) -> String {
    let mut text = format!("{}\n", visible(&topic.name));
    if let Some(id) = topic.id {
        text.push_str(&format!("  id {id}\n"));
    }
    for config in &topic.configs {
        let value = config.value.as_deref().unwrap_or("(hidden)");
        text.push_str(&format!("  {}={}\n", visible(&config.name), visible(value)));
    }
    let rows: Vec<Vec<Cell>> = topic.partitions.iter().map(row).collect();
    let headings = ["PARTITION", "LEADER", "START", "END", "REPLICAS", "IN-SYNC"];
    text.push_str(&table::render(2, &headings, Headings::Shown, &rows, Palette::of_stdout()));
    text
}

fn row(partition: &PartitionDescription) -> Vec<Cell> {
    vec![
        partition.index.to_string().into(),
        Cell::or_dash(partition.leader),
        Cell::or_dash(partition.offsets.map(|(start, _)| start)),
        Cell::or_dash(partition.offsets.map(|(_, end)| end)),
        table::numbers(&partition.replicas).into(),
        table::numbers(&partition.in_sync).into(),
    ]
}

fn json(topic: &TopicDescription) -> Value {
    let configs: Map<String, Value> =
        topic.configs.iter().map(|config| (config.name.clone(), config.value.clone().into())).collect();
    let partitions = topic.partitions.iter().map(|one| {
        json!({
            "partition": one.index.0,
            "leader": one.leader,
            "start_offset": one.offsets.map(|(start, _)| start.0),
            "end_offset": one.offsets.map(|(_, end)| end.0),
            "replicas": one.replicas,
            "in_sync": one.in_sync,
        })
    });
    json!({
        "name": topic.name,
        "id": topic.id.map(|id| id.to_string()),
        "internal": topic.is_internal,
        "configs": configs,
        "partitions": partitions.collect::<Vec<_>>(),
    })
}
