//! The flags by which every command finds its cluster.

use std::time::Duration;

use clap::{Args, ValueEnum};
use milepost_client::{Address, Cluster, Options};

use crate::failure::Failure;
use crate::interrupt;

/// The environment variable that says where the cluster is. `serve` must not take it for a setting.
pub(crate) const BOOTSTRAP_VARIABLE: &str = "MILEPOST_BOOTSTRAP";

/// Where the cluster is and how long to wait for it.
#[derive(Debug, Args)]
pub(crate) struct ClusterFlags {
    /// One or more brokers of the cluster, with commas between them.
    #[arg(
        long,
        short,
        value_name = "HOST:PORT",
        env = BOOTSTRAP_VARIABLE,
        default_value = "127.0.0.1:9092"
    )]
    bootstrap: String,
    /// How long one step may take before the command gives up: attempts, waits for a leader, and all.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    timeout: Duration,
}

/// What the output looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people; it may change.
    Text,
    /// For programs; fields are only ever added.
    Json,
}

impl ClusterFlags {
    /// Connects. From here on Ctrl-C ends what waits.
    pub(crate) fn connect(&self) -> Result<Cluster, Failure> {
        let bootstrap = Address::parse_list(&self.bootstrap)?;
        let stop = interrupt::catch()?;
        let connect_timeout = self.timeout.min(Options::default().connect_timeout);
        let options = Options { timeout: self.timeout, connect_timeout, stop, ..Options::default() };
        Ok(Cluster::connect(bootstrap, options)?)
    }
}

fn parse_seconds(said: &str) -> Result<Duration, String> {
    const LONGEST_SECONDS: f64 = 86_400.0;
    match said.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= LONGEST_SECONDS => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("not a number of seconds above 0 and up to {LONGEST_SECONDS}")),
    }
}
