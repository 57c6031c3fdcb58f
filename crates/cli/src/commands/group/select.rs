//! Which groups a verb is about.

use clap::Args;
use milepost_admin::Reason;
use milepost_admin::collect::GROUPS_AT_ONCE;
use milepost_client::groups::{self, GroupDescription, GroupKind, GroupListing, ListFilter, Listed};
use milepost_client::{ClientError, Cluster};
use milepost_records::connect_protocol::PROTOCOL_TYPE;
use regex::Regex;

use super::unused::Unused;
use super::words;
use crate::failure::Failure;

/// What groups must be like.
#[derive(Clone, Debug, Args)]
pub(crate) struct Filter {
    /// Only groups in whose names this regular expression is found.
    #[arg(long = "match", short = 'm', value_name = "REGEX", value_parser = pattern)]
    pattern: Option<Regex>,
    /// Only groups in these states, by Kafka's names: Stable, Empty, Dead, PreparingRebalance, …
    #[arg(long, value_name = "STATE,STATE", value_delimiter = ',', value_parser = |said: &str| known(said, &STATES))]
    state: Vec<String>,
    /// Only groups of these types: classic, consumer, share, streams; or connect, the classic groups of Kafka Connect's workers.
    #[arg(long = "type", value_name = "TYPE,TYPE", value_delimiter = ',', value_parser = |said: &str| known(said, &KINDS))]
    kind: Vec<String>,
    /// Only groups without members.
    #[arg(long)]
    idle: bool,
}

/// The states of groups of all kinds.
const STATES: [&str; 8] = [
    "Stable",
    "Empty",
    "Dead",
    "PreparingRebalance",
    "CompletingRebalance",
    "Assigning",
    "Reconciling",
    "NotReady",
];
const KINDS: [&str; 5] = ["classic", "consumer", "share", "streams", PROTOCOL_TYPE];
/// States in which a group has no members.
const IDLE: [&str; 2] = ["Empty", "Dead"];

impl Filter {
    /// The groups that are like this.
    pub(crate) fn list(&self, cluster: &mut Cluster) -> Result<Listed, ClientError> {
        let trimmed = |names: &[String]| names.iter().map(|name| name.trim().to_owned()).collect();
        let filter = ListFilter { states: trimmed(&self.state), kinds: self.kinds_asked() };
        let mut listed = groups::list(cluster, &filter)?;
        listed.groups.retain(|_, group| self.takes(group));
        Ok(listed)
    }

    /// The types as a broker knows them: to it Connect's groups are classic ones.
    fn kinds_asked(&self) -> Vec<String> {
        let kinds = self.kind.iter().map(|kind| kind.trim());
        kinds.map(|kind| if is_connect(kind) { GroupKind::Classic.name() } else { kind }.to_owned()).collect()
    }

    fn takes(&self, group: &GroupListing) -> bool {
        let is_kind = |kind: &String| {
            let kind = kind.trim();
            let asked = if is_connect(kind) { GroupKind::Classic } else { GroupKind::from_name(kind) };
            group.kind.as_ref() == Some(&asked) && (!is_connect(kind) || group.protocol_type == PROTOCOL_TYPE)
        };
        (self.kind.is_empty() || self.kind.iter().any(is_kind))
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&group.group))
            && (!self.idle || has_no_members(group))
    }

    fn is_said(&self) -> bool {
        self.pattern.is_some() || !self.state.is_empty() || !self.kind.is_empty() || self.idle
    }
}

/// As far as its state says.
pub(super) fn has_no_members(group: &GroupListing) -> bool {
    group.state.as_deref().is_some_and(|state| IDLE.contains(&state))
}

/// One of these, however it is written: a mistyped name would choose nothing, which looks like a good answer.
fn known(said: &str, names: &[&'static str]) -> Result<String, String> {
    let found = names.iter().find(|name| name.eq_ignore_ascii_case(said.trim()));
    found.map(|name| (*name).to_owned()).ok_or_else(|| format!("none of {}", names.join(", ")))
}

/// An empty expression is found in every name. A variable of a shell that is not set must not choose all groups.
fn pattern(said: &str) -> Result<Regex, String> {
    if said.is_empty() {
        return Err("an empty expression is found in every name; --all is for all groups".to_owned());
    }
    Regex::new(said).map_err(|error| error.to_string())
}

fn is_connect(kind: &str) -> bool {
    kind.eq_ignore_ascii_case(PROTOCOL_TYPE)
}

/// Groups by name, or all that are like something.
#[derive(Clone, Debug, Args)]
pub(crate) struct Selection {
    /// The groups.
    #[arg(value_name = "GROUP", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    names: Vec<String>,
    /// All groups.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    unused: Unused,
}

impl Selection {
    /// The names of the groups, in order, and what kept some brokers from saying theirs.
    pub(crate) fn names(&self, cluster: &mut Cluster) -> Result<(Vec<String>, Vec<ClientError>), Failure> {
        self.check()?;
        if !self.is_by_name() && !self.all && !self.filter.is_said() && !self.unused.is_said() {
            return Err(Failure::Usage("no group is named; say --all for all of them".to_owned()));
        }
        if self.unused.is_said() {
            let mut listed = self.filter.list(cluster)?;
            self.unused.keep(cluster, &mut listed)?;
            return Ok((listed.groups.into_keys().collect(), listed.refused));
        }
        Ok(self.names_or_all(cluster)?)
    }

    /// Refuses what takes too long for whoever looks again and again.
    pub(super) fn check_quick(&self) -> Result<(), Failure> {
        if self.unused.is_said() {
            return Err(Failure::Usage("--unused-for is for one look; group list has it".to_owned()));
        }
        self.check()
    }

    /// As [`Selection::names`] once it was checked, where all groups are meant if nothing is said.
    pub(super) fn names_or_all(
        &self,
        cluster: &mut Cluster,
    ) -> Result<(Vec<String>, Vec<ClientError>), ClientError> {
        if self.is_by_name() {
            let mut names = self.names.clone();
            names.sort();
            names.dedup();
            return Ok((names, Vec::new()));
        }
        let listed = self.filter.list(cluster)?;
        Ok((listed.groups.into_keys().collect(), listed.refused))
    }

    /// Whether groups are chosen in one way only.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.is_by_name() && (self.filter.is_said() || self.unused.is_said()) {
            return Err(Failure::Usage(
                "groups are named, or chosen by what they are like, but not both".to_owned(),
            ));
        }
        Ok(())
    }

    /// Describes the groups in order, so many at once as one round of requests takes. Says of which it could not, and which
    /// were named and are not there; these are described too, as what the cluster says of them.
    pub(super) fn describe(
        &self,
        cluster: &mut Cluster,
        mut each: impl FnMut(&mut Cluster, &str, &GroupDescription),
    ) -> Result<Vec<Reason>, Failure> {
        let (names, refused) = self.names(cluster)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut errors: Vec<Reason> = refused.iter().map(Reason::from).collect();
        for part in names.chunks(GROUPS_AT_ONCE) {
            for (name, description) in groups::describe(cluster, part)? {
                match description {
                    Ok(known) => {
                        if !known.exists() && self.is_by_name() {
                            errors.push(words::absent(&name));
                        }
                        each(cluster, &name, &known);
                    }
                    Err(error) => errors.push(Reason::from(error).of(&name)),
                }
            }
        }
        Ok(errors)
    }

    /// Whether a group that is not there is an error: only one that was named can be missed.
    pub(crate) fn is_by_name(&self) -> bool {
        !self.names.is_empty()
    }
}
