//! `milepost topic create`.

use clap::Args;
use milepost_client::topics::{self, NewTopic};
use serde_json::json;

use crate::cluster_flags::{ClusterFlags, Format};
use crate::failure::Failure;
use crate::output;

/// The flags of `topic create`.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The name of the topic.
    name: String,
    /// How many partitions; the cluster's default if not said.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    partitions: Option<i32>,
    /// How many brokers hold a copy; the cluster's default if not said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i16).range(1..))]
    replicas: Option<i16>,
    /// A setting of the topic, under its Kafka name; may be repeated.
    #[arg(long = "config", short, value_name = "KEY=VALUE", value_parser = parse_config)]
    configs: Vec<(String, String)>,
    /// What is printed: a line, or {"name", "id"}.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    cluster: ClusterFlags,
}

fn parse_config(said: &str) -> Result<(String, String), String> {
    let (key, value) = said.split_once('=').ok_or("not KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

pub(super) fn run(create: &Create) -> Result<(), Failure> {
    let mut cluster = create.cluster.connect()?;
    let topic = NewTopic {
        name: create.name.clone(),
        partitions: create.partitions,
        replicas: create.replicas,
        configs: create.configs.clone(),
    };
    let id = topics::create(&mut cluster, &topic)?.map(|id| id.to_string());
    match create.format {
        Format::Text => output::print(&format!("created {}\n", topic.name)),
        Format::Json => output::print_json(&json!({ "name": topic.name, "id": id })),
    }
}
