//! `milepost serve`: checks the configuration, opens the data folder, serves until it is told to stop.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use milepost_broker::config::{BROKER_SETTINGS, BrokerSettings, ConfigError, Endpoint, Loader};
use milepost_broker::import::is_brokers_folder;
use milepost_broker::node::Node;
use milepost_broker::server::{Bound, ServeError, SystemClock, SystemRandom};
use milepost_broker::storage::{self, DataFolder, Durability};

use crate::cluster_flags::CLIENT_VARIABLES;
use crate::exit_code;
use crate::quote;

/// The flags of `serve`.
#[derive(Debug, Args)]
#[command(after_long_help = settings_help())]
pub(crate) struct Serve {
    /// The folder that holds everything; made if it does not exist.
    #[arg(long, value_name = "DIR", default_value = "./milepost-data")]
    data_dir: PathBuf,
    /// Where to listen. Port 0 picks a free one, which the ready line names.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9092")]
    listen: String,
    /// A TOML file of settings under their Kafka names.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting under its Kafka name; may be repeated. Wins over the environment (MILEPOST_NUM_PARTITIONS=3), and
    /// that over the file.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// What an acknowledgement promises: `sync` survives a power cut, `os` only the death of this process.
    #[arg(long, value_enum, default_value_t = DurabilityFlag::Sync)]
    durability: DurabilityFlag,
    /// Cuts the journal where acknowledged data is damaged and nothing says whose it is. What follows there is lost.
    #[arg(long)]
    accept_loss: bool,
    /// How much is logged on standard error: error, warn, info, debug, trace, or a filter such as milepost_log=debug.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DurabilityFlag {
    Sync,
    Os,
}

impl From<DurabilityFlag> for Durability {
    fn from(flag: DurabilityFlag) -> Self {
        match flag {
            DurabilityFlag::Sync => Self::Sync,
            DurabilityFlag::Os => Self::Os,
        }
    }
}

/// Why `serve` ended.
#[derive(Debug)]
enum Failure {
    Configuration(String),
    Start(String),
    Storage(String),
}

/// Runs the server.
pub(crate) fn run(serve: &Serve) -> ExitCode {
    let result = start_log(&serve.log).and_then(|()| serve_until_stopped(serve));
    let (message, code) = match result {
        Ok(()) => return exit_code::SUCCESS,
        Err(Failure::Configuration(message)) => (message, exit_code::bad_configuration()),
        Err(Failure::Start(message)) => (message, exit_code::failure()),
        Err(Failure::Storage(message)) => (message, exit_code::storage_failed()),
    };
    // The last word of the process; if nobody can read it there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "milepost: {message}");
    code
}

fn start_log(filter: &str) -> Result<(), Failure> {
    let filter = tracing_subscriber::EnvFilter::try_new(filter)
        .map_err(|error| Failure::Configuration(format!("--log {filter}: {error}")))?;
    let colours =
        std::io::IsTerminal::is_terminal(&std::io::stderr()) && std::env::var_os("NO_COLOR").is_none();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr).init();
    Ok(())
}

fn serve_until_stopped(serve: &Serve) -> Result<(), Failure> {
    let settings = load_settings(serve).map_err(|error| Failure::Configuration(error.to_string()))?;
    let listen =
        Endpoint::parse(&serve.listen).map_err(|why| Failure::Configuration(format!("--listen: {why}")))?;
    check_reachable(&listen, &settings)?;
    settings.notices.iter().for_each(|notice| tracing::warn!("{notice}"));
    let folder = DataFolder {
        path: serve.data_dir.clone(),
        durability: serve.durability.into(),
        accept_loss: serve.accept_loss,
    };
    // The port first: a start that cannot serve must not leave a trace in the folder.
    let bound = Bound::listen(&listen).map_err(|error| Failure::Start(error.to_string()))?;
    let in_folder =
        |error: &dyn std::fmt::Display| Failure::Start(format!("{}: {error}", serve.data_dir.display()));
    let engine = storage::open(&folder).map_err(|error| {
        if is_brokers_folder(&folder.path) {
            let flags = quote::flag("--from", &folder.path.to_string_lossy()) + " --data-dir NEW-FOLDER";
            let import = quote::command("import", [], &flags);
            return in_folder(&format!("{error}. It is a Kafka broker's: {import}"));
        }
        in_folder(&error)
    })?;
    let endpoint = advertised(bound.endpoint(), &settings);
    let clock = SystemClock::default();
    let log_settings = storage::log_settings(&settings);
    let (node, report) =
        Node::start(engine, settings, log_settings, endpoint, Box::new(SystemRandom), clock.now())
            .map_err(|error| in_folder(&error))?;
    storage::report_recovery(&report);
    announce(&bound, serve)?;
    bound.serve(node, clock).map_err(|error| match error {
        ServeError::Poisoned(_) => Failure::Storage(error.to_string()),
        other => Failure::Start(other.to_string()),
    })?;
    tracing::info!("stopped");
    Ok(())
}

fn load_settings(serve: &Serve) -> Result<BrokerSettings, ConfigError> {
    let mut loader = Loader::default();
    if let Some(file) = &serve.config {
        loader.file(file)?;
    }
    loader.environment(environment())?;
    for pair in &serve.settings {
        loader.flag(pair)?;
    }
    loader.finish()
}

/// The environment, but for what is said to the commands that are clients. What is no text becomes text that no setting
/// accepts.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| !CLIENT_VARIABLES.contains(&name.as_str()))
}

/// Clients must be told an address that they can connect to.
fn check_reachable(listen: &Endpoint, settings: &BrokerSettings) -> Result<(), Failure> {
    match &settings.advertised {
        None if listen.is_unspecified() => Err(Failure::Configuration(format!(
            "--listen {listen} is every address of this machine, which clients cannot connect to by that name; say \
             which one they shall use: --set advertised.listeners=HOST:{}",
            listen.port
        ))),
        Some(advertised) if advertised.is_unspecified() => Err(Failure::Configuration(format!(
            "advertised.listeners={advertised} is no address that a client can connect to; name a host"
        ))),
        _ => {
            if !listen.is_loopback() {
                tracing::warn!(
                    "listening on {listen} without authentication: whoever reaches this port can read and write everything"
                );
            }
            Ok(())
        }
    }
}

fn advertised(bound: &Endpoint, settings: &BrokerSettings) -> Endpoint {
    match &settings.advertised {
        Some(said) if said.port == 0 => Endpoint { host: said.host.clone(), port: bound.port },
        Some(said) => said.clone(),
        None => bound.clone(),
    }
}

/// The first line on standard output, which scripts wait for.
fn announce(bound: &Bound, serve: &Serve) -> Result<(), Failure> {
    let durability = match serve.durability {
        DurabilityFlag::Sync => "sync",
        DurabilityFlag::Os => "os",
    };
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "milepost ready listen={} data={} durability={durability}",
        bound.endpoint(),
        serve.data_dir.display()
    )
    .and_then(|()| out.flush())
    .map_err(|error| Failure::Start(format!("cannot say that the server is ready: {error}")))
}

/// Every setting with its default and what it does.
fn settings_help() -> String {
    let mut help = String::from("Settings (--set KEY=VALUE, a TOML file, or MILEPOST_KEY with _ for .):\n");
    for setting in BROKER_SETTINGS {
        let default = if setting.default.is_empty() { "none" } else { setting.default };
        help.push_str(&format!("\n  {} [{default}]\n      {}\n", setting.name, setting.documentation));
    }
    help
}
