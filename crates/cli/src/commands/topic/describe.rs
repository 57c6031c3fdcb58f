//! `milepost topic describe`.

use clap::Args;
use milepost_client::topics::{self, PartitionDescription, TopicConfig, TopicDescription};
use serde_json::{Map, Value, json};

use crate::cluster_flags::ClusterFlags;
use crate::failure::Failure;
use crate::palette::Palette;
use crate::report::{Report, ReportFlags, Shown};
use crate::table::{Cell, Headings};
use crate::visible::visible;
use crate::{output, table};

const HELP: &str = "\
A table has each topic by itself, with its settings; wide and csv have a row for each partition.
JSON: an array of {\"name\", \"id\", \"internal\", \"configs\", \"partitions\": [{\"partition\", \"leader\", \"start_offset\", \"end_offset\", \"replicas\",
\"in_sync\"}]}.";

/// The flags of `topic describe`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Describe {
    /// The topics.
    #[arg(required = true, value_name = "TOPIC")]
    names: Vec<String>,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(describe: &Describe) -> Result<(), Failure> {
    describe.report.check(&report(&[]))?;
    let mut cluster = describe.cluster.connect()?;
    let names: Vec<&str> = describe.names.iter().map(String::as_str).collect();
    let topics::Described { topics, refused } = topics::describe(&mut cluster, &names)?;
    if describe.report.is_for_any_words() {
        let texts = topics.iter().map(|topic| text(topic, describe.report.headings()));
        output::print(&texts.collect::<Vec<_>>().join("\n"))?;
    } else {
        describe.report.print(&report(&topics))?;
    }
    Failure::of_some(refused)
}

fn report(topics: &[TopicDescription]) -> Report {
    let mut columns: Vec<_> =
        ["TOPIC"].into_iter().chain(COLUMNS).map(|name| (name, Shown::Always)).collect();
    columns.extend(["ID", "CONFIGS"].map(|name| (name, Shown::Wide)));
    let of_topic = |topic: &TopicDescription| {
        let configs = topic.configs.iter().map(setting).collect::<Vec<_>>().join(",");
        let (name, id) = (Cell::from(topic.name.as_str()), Cell::or_dash(topic.id));
        let of_partition = |partition: &PartitionDescription| {
            let mut cells = vec![name.clone()];
            cells.extend(row(partition));
            cells.extend([id.clone(), configs.as_str().into()]);
            cells
        };
        topic.partitions.iter().map(of_partition).collect::<Vec<_>>()
    };
    Report {
        columns,
        rows: topics.iter().flat_map(of_topic).collect(),
        document: Value::Array(topics.iter().map(json).collect()),
    }
}

fn setting(config: &TopicConfig) -> String {
    format!("{}={}", config.name, config.value.as_deref().unwrap_or("(hidden)"))
}

fn text(topic: &TopicDescription, headings: Headings) -> String {
    let mut text = format!("{}\n", visible(&topic.name));
    if let Some(id) = topic.id {
        text.push_str(&format!("  id {id}\n"));
    }
    for config in &topic.configs {
        text.push_str(&format!("  {}\n", visible(&setting(config))));
    }
    let rows: Vec<Vec<Cell>> = topic.partitions.iter().map(row).collect();
    text.push_str(&table::render(2, &COLUMNS, headings, &rows, Palette::of_stdout()));
    text
}

/// What there is to say of a partition.
const COLUMNS: [&str; 6] = ["PARTITION", "LEADER", "START", "END", "REPLICAS", "IN-SYNC"];

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
