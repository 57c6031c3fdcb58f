//! The flags by which every command finds its cluster.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use milepost_client::{Address, Cluster, Options};

use crate::failure::Failure;
use crate::interrupt;
use crate::quote;
use crate::settings::{self, ClientSettings, Said};

const BOOTSTRAP_VARIABLE: &str = "MILEPOST_BOOTSTRAP";
const PROFILE_VARIABLE: &str = "MILEPOST_PROFILE";
/// The folder of snapshots, see the flag of that name.
pub(crate) const SNAPSHOTS_VARIABLE: &str = "MILEPOST_SNAPSHOTS";
/// The environment variables of the client commands. `serve` must not take them for settings.
pub(crate) const CLIENT_VARIABLES: [&str; 3] = [BOOTSTRAP_VARIABLE, PROFILE_VARIABLE, SNAPSHOTS_VARIABLE];
const DEFAULT_BOOTSTRAP: &str = "127.0.0.1:9092";

/// Where the cluster is, how to be let in, and how long to wait for it.
#[derive(Debug, Args)]
pub(crate) struct ClusterFlags {
    /// One or more brokers of the cluster, with commas between them. If not said: what the files below say, else the
    /// environment variable MILEPOST_BOOTSTRAP, else 127.0.0.1:9092.
    #[arg(long, short, value_name = "HOST:PORT")]
    bootstrap: Option<String>,
    /// A profile of the file ~/.config/milepost/config.toml (or below XDG_CONFIG_HOME): [profiles.NAME] with
    /// bootstrap.servers, security.protocol, sasl.* and ssl.* as Kafka's clients know them. If not said: MILEPOST_PROFILE,
    /// unless that variable's cluster is named otherwise.
    #[arg(long, value_name = "PROFILE", conflicts_with = "client_config")]
    profile: Option<String>,
    /// A properties file of a Java or librdkafka client, for the same settings.
    #[arg(long, value_name = "FILE")]
    client_config: Option<PathBuf>,
    /// How long one step may take before the command gives up: attempts, waits for a leader, and all. If not said: 30, and 5
    /// for group watch, which tries again.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
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
        self.connect_for_steps_of(Options::default().timeout)
    }

    /// As [`ClusterFlags::connect`], for steps that may take this long if nothing else is said.
    pub(crate) fn connect_for_steps_of(&self, timeout: Duration) -> Result<Cluster, Failure> {
        let profile = self.named_profile();
        let settings = ClientSettings::of(self.said(profile.as_deref())?)?;
        // Whoever names a profile means its cluster and no other.
        if let (Some(name), None, None) = (&profile, &self.bootstrap, &settings.bootstrap) {
            return Err(Failure::Usage(format!(
                "[profiles.{name}] says no bootstrap.servers; say --bootstrap"
            )));
        }
        let variable = std::env::var(BOOTSTRAP_VARIABLE).ok().filter(|said| !said.is_empty());
        let bootstrap = self.bootstrap.clone().or(settings.bootstrap).or(variable);
        let bootstrap = Address::parse_list(bootstrap.as_deref().unwrap_or(DEFAULT_BOOTSTRAP))?;
        let stop = interrupt::catch()?;
        let defaults = Options::default();
        let timeout = self.timeout.unwrap_or(timeout);
        let options = Options {
            client_id: settings.client_id.unwrap_or(defaults.client_id),
            timeout,
            connect_timeout: timeout.min(defaults.connect_timeout),
            security: settings.security,
            stop,
        };
        Ok(Cluster::connect(bootstrap, options)?)
    }

    /// Those of these flags that say which cluster is meant, as they have to be said again.
    pub(crate) fn words(&self) -> String {
        let path = self.client_config.as_ref().map(|path| path.to_string_lossy().into_owned());
        let said = [
            ("--bootstrap", self.bootstrap.as_ref()),
            ("--profile", self.profile.as_ref()),
            ("--client-config", path.as_ref()),
        ];
        said.iter().filter_map(|(flag, value)| Some(quote::flag(flag, (*value)?))).collect()
    }

    /// The profile that is meant, if one is. A password never goes where another variable points: the profile of
    /// the environment counts only if nothing else says where the cluster is.
    fn named_profile(&self) -> Option<String> {
        let alone = self.bootstrap.is_none()
            && self.client_config.is_none()
            && std::env::var_os(BOOTSTRAP_VARIABLE).is_none();
        let variable = || std::env::var(PROFILE_VARIABLE).ok().filter(|name| alone && !name.is_empty());
        self.profile.clone().or_else(variable)
    }

    /// What the file says that was named, if one was.
    fn said(&self, profile: Option<&str>) -> Result<Said, Failure> {
        if let Some(path) = &self.client_config {
            return settings::properties(path);
        }
        let Some(name) = profile else { return Ok(Said::new()) };
        let path = settings::config_path().ok_or_else(|| {
            Failure::Usage("neither XDG_CONFIG_HOME nor HOME says where profiles are".to_owned())
        })?;
        settings::profile(&path, name)
    }
}

/// The longest that anything may be told to take.
const LONGEST_SECONDS: f64 = 86_400.0;

/// As a timeout, or 0.
pub(crate) fn parse_seconds_or_none(said: &str) -> Result<Duration, String> {
    if said.strip_suffix('s').unwrap_or(said).parse() == Ok(0.0) {
        return Ok(Duration::ZERO);
    }
    parse_seconds(said).map_err(|_| format!("not a number of seconds from 0 to {LONGEST_SECONDS}"))
}

/// How long something may take, in seconds with or without their unit.
pub(crate) fn parse_seconds(said: &str) -> Result<Duration, String> {
    match said.strip_suffix('s').unwrap_or(said).parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= LONGEST_SECONDS => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("not a number of seconds above 0 and up to {LONGEST_SECONDS}")),
    }
}
