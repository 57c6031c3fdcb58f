//! `cargo xtask kafka`: a real Kafka broker on loopback, fetched by Maven, formatted, and started in the foreground.
//!
//! It takes the same flags as `milepost serve`, so that whatever drives one can drive the other. It is for comparing
//! with; nothing of it is part of the product.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::java;
use crate::process::{self, ChoreError};
use crate::workspace::Workspace;

/// What the person asked for.
#[derive(Args)]
pub(crate) struct Options {
    /// The folder of its log; formatted if it is empty.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Where clients connect.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9092")]
    listen: SocketAddr,
    /// Any setting of the broker.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

/// One node: every internal topic must be content with one replica.
const SETTINGS: &str = "\
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
";

/// Any UUID does; a fixed one makes the folder's format repeatable.
const CLUSTER_ID: &str = "bWlsZXBvc3Qtc3Rvcmllcw";

/// Becomes the broker: on success this never returns, and the process keeps its id, so that a signal reaches it.
pub(crate) fn run(options: &Options) -> Result<(), ChoreError> {
    let workspace = Workspace::find()?;
    let cache = workspace.interop_cache().join("kafka");
    fs::create_dir_all(&cache).map_err(ChoreError::file(&cache))?;
    let jars = java::fetch(&workspace.root.join(java::KAFKA_POM), &cache)?;
    let data = options.data_dir.clone().unwrap_or_else(|| cache.join("data"));
    fs::create_dir_all(&data).map_err(ChoreError::file(&data))?;
    let settings = write_settings(options, &data)?;
    if !data.join("meta.properties").exists() {
        process::run(
            java(&jars)
                .args(["kafka.tools.StorageTool", "format", "--cluster-id", CLUSTER_ID])
                .arg("--config")
                .arg(&settings),
        )?;
    }
    println!("Kafka on {} with data in {}", options.listen, data.display());
    let source = java(&jars).arg("kafka.Kafka").arg(&settings).exec();
    Err(ChoreError::Start { program: "java".to_owned(), source })
}

fn java(jars: &Path) -> Command {
    let mut command = Command::new("java");
    // Small and quick to start: it lives for a story.
    command.args(["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
    command.args(["-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp"]);
    command.arg(format!("{}/*", jars.display()));
    command
}

fn write_settings(options: &Options, data: &Path) -> Result<PathBuf, ChoreError> {
    let path = data.with_extension("properties");
    // The controller's port is of no interest to anyone: a free one, kept for the life of the folder.
    let controller = match fs::read_to_string(&path).ok().as_deref().and_then(controller_of) {
        Some(address) => address,
        None => free_address().map_err(ChoreError::file(&path))?.to_string(),
    };
    let mut text = SETTINGS.to_owned();
    text.push_str(&format!("controller.quorum.voters=1@{controller}\n"));
    text.push_str(&format!("listeners=PLAINTEXT://{},CONTROLLER://{controller}\n", options.listen));
    text.push_str(&format!("log.dirs={}\n", data.display()));
    for setting in &options.settings {
        text.push_str(setting);
        text.push('\n');
    }
    fs::write(&path, text).map_err(ChoreError::file(&path))?;
    Ok(path)
}

fn controller_of(settings: &str) -> Option<String> {
    let voters = settings.lines().find_map(|line| line.strip_prefix("controller.quorum.voters=1@"))?;
    Some(voters.to_owned())
}

fn free_address() -> std::io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}
