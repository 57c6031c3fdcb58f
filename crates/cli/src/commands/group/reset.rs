//! `milepost group reset`, and `milepost group create`, which is the same for a group that is not there.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use milepost_admin::formats::any::{self, OffsetFile};
use milepost_admin::plan::reset::{Destination, Facts, Metadata};
use milepost_admin::plan::{EpochSource, create, reset};
use milepost_admin::snapshot::Snapshot;
use milepost_admin::{GroupFacts, Reason, Target, TopicFilter, gather, same_topic, target};
use milepost_client::groups::Committed;
use milepost_client::offsets::Found;
use milepost_client::{Cluster, TopicPartition};

use super::change::{Change, ChangeFlags, StoreFlags};
use super::plan_view;
use super::snapshot::refuse_other_cluster;
use crate::clock;
use crate::cluster_flags::ClusterFlags;
use crate::failure::{Failure, say};
use crate::report::ReportFlags;

const HELP: &str = "\
Targets:
  earliest, latest        the first record that is still there; behind the last
  N, +N, -N               this offset; so many on from where the group is; so many back
  @TIME                   the first record that is not older: milliseconds, 2026-01-31T12:00Z, 2026-01-31T12:00+01:00,
                          or -1h30m before now
  group:NAME              where that group is, with epoch and metadata
  file:PATH               what a file says: our own lines, Kafka's CSV, or rpk's text
  snapshot:NAME           what a snapshot says
CHANGE says what that means: so many records read again (replays) or not read (skips); the place stays, and at most epoch or
metadata change; none changes nothing; first has no place yet; deletes takes it away.
What lies outside of the log is moved to its nearest end, and said. The leader epoch is that of the log at the new place, or
none is written. The group must have no members: the cluster refuses otherwise. Before anything is written what is there is
kept as a snapshot, and the command that puts it back is printed.";

fn help() -> String {
    format!("{HELP}\n{}", plan_view::FIELDS)
}

/// The flags of `group reset`.
#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct Reset {
    /// The group.
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    group: String,
    /// Where it is to go on; see below.
    #[arg(allow_negative_numbers = true)]
    target: String,
    /// Only this topic, or TOPIC:0,1 for some of its partitions; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC[:P,P]")]
    topics: Vec<TopicFilter>,
    /// Every partition that the group has committed for, or that the target speaks of.
    #[arg(long, conflicts_with = "topics")]
    all: bool,
    /// Keeps the metadata beside the offsets instead of clearing it. State that a parallel consumer or Kafka Streams keeps
    /// there belongs to the old place.
    #[arg(long)]
    keep_metadata: bool,
    #[command(flatten)]
    change: ChangeFlags,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// The flags of `group create`.
#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct Create {
    /// The group. It must not be there yet.
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    group: String,
    /// Where it is to begin; see below.
    #[arg(allow_negative_numbers = true)]
    target: String,
    /// This topic, or TOPIC:0,1 for some of its partitions; may be repeated. Not needed for group:, file: and snapshot:.
    #[arg(long = "topic", short, value_name = "TOPIC[:P,P]")]
    topics: Vec<TopicFilter>,
    #[command(flatten)]
    change: ChangeFlags,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(reset: &Reset) -> Result<(), Failure> {
    let target = Target::parse(&reset.target, clock::now()).map_err(Failure::Usage)?;
    // A file names every partition itself.
    if reset.topics.is_empty() && !reset.all && !matches!(target, Target::File(_)) {
        return Err(Failure::Usage(
            "that would move every partition of the group; say --all, or name topics with --topic".to_owned(),
        ));
    }
    let mut cluster = reset.cluster.connect()?;
    let group = gather::group_to_write(&mut cluster, &reset.group)?.map_err(Failure::from)?;
    let (facts, destination) = gathered(&mut cluster, &group, &target, &reset.topics, &reset.change)?;
    let metadata = if reset.keep_metadata { Metadata::Kept } else { Metadata::Cleared };
    let plan = reset::plan(&facts, &destination, metadata);
    if plan.moves.is_empty() && plan.left_out.is_empty() {
        return Err(Failure::Failed(format!(
            "{}: the group has committed nothing; name topics with --topic",
            reset.group
        )));
    }
    let change =
        Change { verb: "reset", flags: &reset.change, report: &reset.report, cluster: &reset.cluster };
    change.carry_out(&mut cluster, vec![plan])
}

pub(super) fn run_create(create: &Create) -> Result<(), Failure> {
    let target = Target::parse(&create.target, clock::now()).map_err(Failure::Usage)?;
    let is_said = matches!(target, Target::Group(_) | Target::File(_) | Target::Snapshot(_));
    if create.topics.is_empty() && !is_said {
        return Err(Failure::Usage("name the topics with --topic".to_owned()));
    }
    let mut cluster = create.cluster.connect()?;
    let group = gather::group_to_write(&mut cluster, &create.group)?.map_err(Failure::from)?;
    let (facts, destination) = gathered(&mut cluster, &group, &target, &create.topics, &create.change)?;
    let plan = create::plan(&facts, &destination).map_err(Failure::from)?;
    let change =
        Change { verb: "create", flags: &create.change, report: &create.report, cluster: &create.cluster };
    change.carry_out(&mut cluster, vec![plan])
}

/// What the target means here, and what is known of the partitions that are meant.
fn gathered(
    cluster: &mut Cluster,
    group: &GroupFacts,
    target: &Target,
    topics: &[TopicFilter],
    change: &ChangeFlags,
) -> Result<(Facts, Destination), Failure> {
    if let Some(reason) = &group.unknown {
        return Err(reason.clone().into());
    }
    let said = said(cluster, target, &group.group, change.store())?;
    let of_said: Vec<TopicPartition> = said.iter().flat_map(Said::partitions).cloned().collect();
    let scope: BTreeSet<TopicPartition> = match (&said, topics) {
        (None, []) => group.partitions.iter().map(|one| one.partition.clone()).collect(),
        (Some(_), []) => of_said.into_iter().collect(),
        // Also what nothing is said of: it is left out, and that is told.
        (_, topics) => {
            let named = gather::scope(cluster, topics)?.map_err(Failure::from)?;
            let meant = of_said.into_iter().filter(|one| topics.iter().any(|topic| topic.takes(one)));
            named.into_iter().chain(meant).collect()
        }
    };
    let mut left_out = BTreeMap::new();
    let destination = match (said, target) {
        (Some(said), _) => {
            left_out = said.left_out;
            Destination::Said(said.committed, said.epochs)
        }
        (None, Target::Earliest) => Destination::Start,
        (None, Target::Latest) => Destination::End,
        (None, Target::At(offset)) => Destination::At(*offset),
        (None, Target::Shift(count)) => Destination::Shift(*count),
        (None, Target::Since(time)) => gather::since(cluster, &scope, *time)?,
        (None, Target::Group(_) | Target::File(_) | Target::Snapshot(_)) => {
            return Err(Failure::Usage(format!("the target is none of {}", target::GRAMMAR)));
        }
    };
    if let Destination::Found(found) = &destination {
        say_too_late(&group.group, found);
    }
    let mut facts = gather::reset(cluster, group, scope)?;
    facts.left_out.extend(left_out);
    Ok((facts, destination))
}

/// A time behind the last record means the end, which somebody may not have meant.
fn say_too_late(group: &str, found: &BTreeMap<TopicPartition, Result<Option<Found>, Reason>>) {
    let mut late =
        found.iter().filter(|(_, found)| matches!(found, Ok(None))).map(|(partition, _)| partition);
    if let Some(first) = late.next() {
        let others = match late.count() {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        say(&format!("{group} {first}{others}: no record is that late, so it is the end"));
    }
}

/// What a target says that names offsets itself.
struct Said {
    committed: BTreeMap<TopicPartition, Committed>,
    /// Where epochs come from that it does not say.
    epochs: EpochSource,
    /// Partitions that it speaks of and that are left alone.
    left_out: BTreeMap<TopicPartition, Reason>,
}

impl Said {
    fn partitions(&self) -> impl Iterator<Item = &TopicPartition> {
        self.committed.keys().chain(self.left_out.keys())
    }
}

fn said(
    cluster: &mut Cluster,
    target: &Target,
    group: &str,
    store: &StoreFlags,
) -> Result<Option<Said>, Failure> {
    Ok(Some(match target {
        Target::Group(other) => said_by_group(cluster, other)?,
        Target::File(path) => match any::read(path).map_err(Failure::Usage)? {
            OffsetFile::Snapshot(snapshot) => said_by_snapshot(cluster, &snapshot, group)?,
            OffsetFile::Rows(rows) => Said {
                committed: gather::said_by_rows(&rows, group),
                epochs: EpochSource::Log,
                left_out: BTreeMap::new(),
            },
        },
        Target::Snapshot(name) => {
            let loaded = store.store()?.load(name);
            let snapshot = loaded.map_err(|error| Failure::Failed(error.to_string()))?;
            refuse_other_cluster(cluster, &snapshot)?;
            said_by_snapshot(cluster, &snapshot, group)?
        }
        Target::Earliest | Target::Latest | Target::At(_) | Target::Shift(_) | Target::Since(_) => {
            return Ok(None);
        }
    }))
}

fn said_by_group(cluster: &mut Cluster, other: &str) -> Result<Said, Failure> {
    let other = gather::group(cluster, other)?;
    if let Some(reason) = &other.unknown {
        return Err(reason.clone().into());
    }
    let (committed, left_out) = (gather::committed(&other), gather::unknown(&other, []));
    if committed.is_empty() && left_out.is_empty() {
        return Err(Failure::Failed(format!("{}: the group has committed nothing", other.group)));
    }
    Ok(Said { committed, epochs: EpochSource::AsSaid, left_out })
}

/// A file of another cluster says where to, and neither its epochs nor its topics' identities count here.
fn said_by_snapshot(cluster: &mut Cluster, snapshot: &Snapshot, group: &str) -> Result<Said, Failure> {
    let cluster_id = cluster.metadata(Some(&[]))?.cluster_id;
    let committed = gather::said_by_snapshot(snapshot, group, cluster_id.as_deref())
        .ok_or_else(|| Failure::Failed(format!("the snapshot says nothing of the group {group}")))?;
    if snapshot.header.cluster_id != cluster_id {
        return Ok(Said { committed, epochs: EpochSource::Log, left_out: BTreeMap::new() });
    }
    let mut ids = snapshot.topic_ids().remove(group).unwrap_or_default();
    ids.retain(|one, _| committed.contains_key(one));
    let left_out = same_topic::made_again(cluster, &ids)?;
    Ok(Said { committed, epochs: EpochSource::AsSaid, left_out })
}
