//! `milepost group list`.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use milepost_admin::collect::{self, Detail, GROUPS_AT_ONCE};
use milepost_admin::{Reason, Totals};
use milepost_client::Cluster;
use milepost_client::groups::GroupListing;
use serde_json::{Map, Value, json};

use super::select::Filter;
use super::silent::Silent;
use super::unused::Unused;
use super::words;
use crate::cluster_flags::ClusterFlags;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::{DOCUMENT_VERSION, Report, ReportFlags, Shown};
use crate::table::Cell;

const HELP: &str = "\
The lag of a group is the sum over those of its partitions of which it is known, a dash where it is known of none; how many others there are stands beside it:
those for which it never committed, those whose commit lies beyond the end of the log, and those of which it cannot be said.
JSON: {\"version\", \"groups\": [{\"group\", \"type\", \"state\", \"protocol_type\", \"coordinator\", \"totals\"}], \"errors\"}.";

/// The flags of `group list`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct List {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    unused: Unused,
    /// Also looks up how far behind each group is.
    #[arg(long, short)]
    lag: bool,
    /// Only groups that are behind somewhere, or of which that is not known.
    #[arg(long)]
    only_with_lag: bool,
    /// What the list is sorted by; lags descend.
    #[arg(long, value_enum, default_value_t = Sort::Group)]
    sort: Sort,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    Group,
    State,
    Type,
    Lag,
}

struct Line {
    listing: GroupListing,
    totals: Option<Result<Totals, Reason>>,
}

impl Line {
    fn lag(&self) -> Option<i64> {
        self.totals.as_ref().and_then(|totals| totals.as_ref().ok()).and_then(|totals| totals.lag)
    }

    /// Whether there is something to look at.
    fn is_behind(&self) -> bool {
        match &self.totals {
            Some(Ok(totals)) => totals.is_behind(),
            Some(Err(_)) => true,
            None => false,
        }
    }
}

pub(super) fn run(list: &List) -> Result<(), Failure> {
    let mut cluster = list.cluster.connect()?;
    let mut listed = list.filter.list(&mut cluster)?;
    list.unused.keep(&mut cluster, &mut listed)?;
    let with_lag = list.lag || list.only_with_lag || list.sort == Sort::Lag;
    let mut errors: Vec<Reason> = listed.refused.iter().map(Reason::from).collect();
    let mut totals =
        if with_lag { totals(&mut cluster, &listed.groups, &mut errors)? } else { BTreeMap::new() };
    let mut lines: Vec<Line> = listed
        .groups
        .into_values()
        .map(|listing| Line { totals: totals.remove(&listing.group), listing })
        .collect();
    if list.only_with_lag {
        lines.retain(Line::is_behind);
    }
    match list.sort {
        Sort::Group => {}
        Sort::State => lines.sort_by(|left, right| left.listing.state.cmp(&right.listing.state)),
        Sort::Type => lines.sort_by(|left, right| left.listing.kind.cmp(&right.listing.kind)),
        Sort::Lag => lines.sort_by_key(|line| std::cmp::Reverse(line.lag())),
    }
    let document = json!({
        "version": DOCUMENT_VERSION,
        "groups": lines.iter().map(object).collect::<Vec<_>>(),
        "errors": errors.iter().map(words::reason).collect::<Vec<_>>(),
    });
    let mut columns = vec![("GROUP", Shown::Always), ("TYPE", Shown::Always), ("STATE", Shown::Always)];
    columns.extend([("PROTOCOL", Shown::Wide), ("COORDINATOR", Shown::Wide)]);
    if with_lag {
        columns.extend(
            ["PARTITIONS", "LAG", "NEVER", "BEYOND-END", "UNKNOWN"].map(|name| (name, Shown::Always)),
        );
        columns.push(("STABLE-LAG", Shown::Wide));
    }
    let rows = lines.iter().map(row).collect();
    list.report.print(&Report { columns, rows, document })?;
    Failure::of_reasons(errors)
}

/// Looked up some hundred groups at a time; of each only the sums are kept. Members are asked for too: what they have to read
/// counts before they have committed anything.
fn totals(
    cluster: &mut Cluster,
    groups: &BTreeMap<String, GroupListing>,
    errors: &mut Vec<Reason>,
) -> Result<BTreeMap<String, Result<Totals, Reason>>, Failure> {
    let names: Vec<&str> = groups.keys().map(String::as_str).collect();
    let progress = Progress::new("groups", names.len());
    let mut totals = BTreeMap::new();
    let mut silent = Silent::default();
    for part in names.chunks(GROUPS_AT_ONCE) {
        for group in collect::groups(cluster, part, Detail::Members)? {
            silent.note_whole(&group);
            let sums = match &group.unknown {
                Some(reason) => Err(reason.clone()),
                None => Ok(group.totals()),
            };
            totals.insert(group.group, sums);
        }
        progress.advance(part.len());
    }
    errors.extend(silent.reasons());
    Ok(totals)
}

fn row(line: &Line) -> Vec<Cell> {
    let listing = &line.listing;
    let mut row = vec![
        listing.group.as_str().into(),
        Cell::or_dash(listing.kind.as_ref()),
        words::state(listing.state.as_deref()),
        if listing.protocol_type.is_empty() { "-".into() } else { listing.protocol_type.as_str().into() },
        listing.coordinator.to_string().into(),
    ];
    match &line.totals {
        None => {}
        Some(Err(_)) => row.extend(["-", "-", "-", "-", "all", "-"].map(Cell::from)),
        Some(Ok(totals)) => {
            row.extend([
                totals.partitions.to_string().into(),
                words::sum(totals.lag),
                totals.never.to_string().into(),
                totals.beyond_end.to_string().into(),
                totals.unknown.to_string().into(),
                words::sum(totals.stable_lag),
            ]);
        }
    }
    row
}

fn object(line: &Line) -> Value {
    let listing = &line.listing;
    let mut object = Map::new();
    object.insert("group".to_owned(), listing.group.as_str().into());
    object.insert("type".to_owned(), listing.kind.as_ref().map(|kind| kind.name().to_owned()).into());
    object.insert("state".to_owned(), listing.state.clone().into());
    object.insert("protocol_type".to_owned(), listing.protocol_type.as_str().into());
    object.insert("coordinator".to_owned(), listing.coordinator.to_string().into());
    match &line.totals {
        None => {}
        Some(Ok(totals)) => drop(object.insert("totals".to_owned(), words::totals(totals))),
        Some(Err(reason)) => drop(object.insert("unknown".to_owned(), words::reason(reason))),
    }
    Value::Object(object)
}
