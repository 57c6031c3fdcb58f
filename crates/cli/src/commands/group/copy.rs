//! `milepost group copy`.

use std::collections::BTreeMap;

use clap::Args;
use milepost_admin::gather::{self, Origin, Places};
use milepost_admin::plan::copy::{self, TopicMap};
use milepost_admin::plan::{OffsetPlan, Presence};
use milepost_admin::{GroupFacts, TopicFilter};
use milepost_client::Cluster;

use super::change::{Change, ChangeFlags};
use super::plan_view;
use crate::cluster_flags::ClusterFlags;
use crate::failure::{Failure, say};
use crate::report::ReportFlags;

/// The flags of `group copy`.
#[derive(Debug, Args)]
#[command(after_help = plan_view::FIELDS)]
pub(crate) struct Copy {
    /// The group whose offsets are copied. It may have members.
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    from: String,
    /// The group they are copied to. It is made if it is not there.
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    to: String,
    /// Only this topic, or TOPIC:0,1 for some of its partitions; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC[:P,P]")]
    topics: Vec<TopicFilter>,
    #[command(flatten)]
    places: PlaceFlags,
    #[command(flatten)]
    change: ChangeFlags,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// Where copied offsets go.
#[derive(Debug, Args)]
pub(super) struct PlaceFlags {
    /// Writes the offsets of topic OLD under the name NEW; may be repeated.
    #[arg(long = "map-topic", value_name = "OLD=NEW", value_parser = pair)]
    maps: Vec<(String, String)>,
    /// Finds each place by the time of its record, where that is known, instead of by its offset.
    #[arg(long)]
    by_time: bool,
    /// Leaves groups alone that have members, instead of refusing everything.
    #[arg(long)]
    pub(super) skip_non_empty: bool,
}

impl PlaceFlags {
    pub(super) fn map(&self) -> TopicMap {
        TopicMap(self.maps.iter().cloned().collect())
    }

    pub(super) fn places(&self) -> Places {
        if self.by_time { Places::ByTime } else { Places::ByOffset }
    }
}

/// `OLD=NEW`.
pub(super) fn pair(said: &str) -> Result<(String, String), String> {
    let (old, new) = said.split_once('=').ok_or("not OLD=NEW")?;
    if old.is_empty() || new.is_empty() {
        return Err("not OLD=NEW".to_owned());
    }
    Ok((old.to_owned(), new.to_owned()))
}

pub(super) fn run(copy: &Copy) -> Result<(), Failure> {
    let mut cluster = copy.cluster.connect()?;
    let from = gather::group(&mut cluster, &copy.from)?;
    if let Some(reason) = &from.unknown {
        return Err(reason.clone().into());
    }
    let mut committed = gather::committed(&from);
    if !copy.topics.is_empty() {
        committed.retain(|one, _| copy.topics.iter().any(|topic| topic.takes(one)));
    }
    if committed.is_empty() {
        return Err(Failure::Failed(format!("{}: the group has committed nothing that is meant", copy.from)));
    }
    let sources = match copy.places.places() {
        Places::ByTime => gather::sources(&mut cluster, committed)?,
        Places::ByOffset => without_times(committed),
    };
    let to = gather::group_to_write(&mut cluster, &copy.to)?.map_err(Failure::from)?;
    let plan = planned(&mut cluster, &to, &sources, &copy.places, Origin::SameCluster)?;
    let change = Change { verb: "copy", flags: &copy.change, report: &copy.report, cluster: &copy.cluster };
    change.carry_out(&mut cluster, plan.into_iter().collect())
}

/// Offsets whose records nobody has looked at.
pub(super) fn without_times(
    committed: BTreeMap<milepost_client::TopicPartition, milepost_client::groups::Committed>,
) -> BTreeMap<milepost_client::TopicPartition, gather::Source> {
    committed.into_iter().map(|(one, committed)| (one, gather::Source { committed, time: None })).collect()
}

/// The plan for one group, unless it is left alone.
pub(super) fn planned(
    cluster: &mut Cluster,
    to: &GroupFacts,
    sources: &BTreeMap<milepost_client::TopicPartition, gather::Source>,
    flags: &PlaceFlags,
    origin: Origin,
) -> Result<Option<OffsetPlan>, Failure> {
    let facts = gather::copy(cluster, to, sources, &flags.map(), (flags.places(), origin))?;
    if flags.skip_non_empty
        && let Presence::Members { count, state } = &facts.presence
    {
        say(&format!("{}: left alone, since it has {count} members and is {state}", to.group));
        return Ok(None);
    }
    Ok(Some(copy::plan(&facts)))
}
