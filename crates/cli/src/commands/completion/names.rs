//! Names that a word may become. Whatever goes wrong, there are none: a shell that completes has nowhere to say why.

use std::ffi::OsStr;

use clap_complete::CompletionCandidate;
use milepost_client::{Cluster, groups as client_groups, topics as client_topics};

use super::line;
use crate::settings;

/// How many names are handed to a shell.
const NAMES_MAX: usize = 10_000;
/// Places that have no name in them; see `group reset --help`.
const PLACES: [&str; 2] = ["earliest", "latest"];

/// Groups of the cluster.
pub(super) fn groups(current: &OsStr) -> Vec<CompletionCandidate> {
    offered(current, group_names())
}

/// Topics of the cluster; its own only once an underscore is typed.
pub(super) fn topics(current: &OsStr) -> Vec<CompletionCandidate> {
    let listed = connect().and_then(|mut cluster| client_topics::list(&mut cluster).ok()).unwrap_or_default();
    let internal = current.to_string_lossy().starts_with('_');
    let names = listed.into_iter().filter(|topic| internal || !topic.is_internal).map(|topic| topic.name);
    offered(current, names)
}

/// Snapshots that are kept.
pub(super) fn snapshots(current: &OsStr) -> Vec<CompletionCandidate> {
    offered(current, snapshot_names())
}

/// Profiles of the configuration file.
pub(super) fn profiles(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = settings::config_path().and_then(|path| settings::profiles(&path).ok());
    offered(current, names.unwrap_or_default())
}

/// Where a group may be put. Other groups and snapshots are asked for only once it is clear that one is meant.
pub(super) fn targets(current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let prefixed = |prefix: &str, names: Vec<String>| {
        offered(current, names.into_iter().map(|name| format!("{prefix}{name}")))
    };
    if typed.starts_with("group:") {
        return prefixed("group:", group_names());
    }
    if typed.starts_with("snapshot:") {
        return prefixed("snapshot:", snapshot_names());
    }
    let places = PLACES.into_iter().chain(["group:", "snapshot:", "file:"]);
    offered(current, places.map(str::to_owned))
}

fn group_names() -> Vec<String> {
    let filter = client_groups::ListFilter::default();
    let listed = connect().and_then(|mut cluster| client_groups::list(&mut cluster, &filter).ok());
    listed.map(|listed| listed.groups.into_keys().collect()).unwrap_or_default()
}

fn snapshot_names() -> Vec<String> {
    let kept = line::read().and_then(|line| line.store.store().ok()?.list().ok());
    kept.unwrap_or_default().into_iter().map(|(name, _)| name).collect()
}

fn connect() -> Option<Cluster> {
    line::read()?.cluster.connect().ok()
}

fn offered(current: &OsStr, names: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let fitting = names.into_iter().filter(|name| name.starts_with(&*typed));
    fitting.take(NAMES_MAX).map(CompletionCandidate::new).collect()
}
