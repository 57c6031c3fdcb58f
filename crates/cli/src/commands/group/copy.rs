//! `milepost group copy`.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use milepost_admin::gather::{self, Origin, Places};
use milepost_admin::plan::{LeftOut, OffsetPlan, Presence, copy};
use milepost_admin::{GroupFacts, NameMap, TopicFilter};
use milepost_client::{Cluster, TopicPartition};

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
    /// The map of topics. What is written to each group is looked at before anything is planned.
    pub(super) fn map<'a>(
        &self,
        groups: impl Iterator<Item = &'a BTreeMap<TopicPartition, gather::Source>>,
    ) -> Result<NameMap, Failure> {
        let map = NameMap::new(&self.maps).map_err(Failure::Usage)?;
        let mut all = BTreeSet::new();
        for sources in groups {
            let topics: BTreeSet<&str> = sources.keys().map(|one| &*one.topic).collect();
            map.check_apart(&topics).map_err(Failure::Usage)?;
            all.extend(topics);
        }
        map.check_used(&all).map_err(Failure::Usage)?;
        Ok(map)
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
    let is_meant =
        |one: &TopicPartition| copy.topics.is_empty() || copy.topics.iter().any(|topic| topic.takes(one));
    let (mut committed, mut unknown) = (gather::committed(&from), gather::unknown(&from, []));
    TopicFilter::check_used(&copy.topics, &committed.keys().chain(unknown.keys()).collect())
        .map_err(Failure::Usage)?;
    committed.retain(|one, _| is_meant(one));
    unknown.retain(|one, _| is_meant(one));
    if committed.is_empty() && unknown.is_empty() {
        return Err(Failure::Failed(format!("{}: the group has committed nothing that is meant", copy.from)));
    }
    let sources = match copy.places.places() {
        Places::ByTime => gather::sources(&mut cluster, committed)?,
        Places::ByOffset => without_times(committed),
    };
    let to = gather::group_to_write(&mut cluster, &copy.to)?.map_err(Failure::from)?;
    let map = copy.places.map([&sources].into_iter())?;
    let mut plan = planned(&mut cluster, &to, (&sources, &map), &copy.places, Origin::SameCluster)?;
    if let Some(plan) = &mut plan {
        let unknown =
            unknown.iter().map(|(one, why)| LeftOut { partition: map.apply(one), why: why.clone() });
        plan.left_out.extend(unknown);
    }
    let change = Change { verb: "copy", flags: &copy.change, report: &copy.report, cluster: &copy.cluster };
    change.carry_out(&mut cluster, plan.into_iter().collect())
}

/// Offsets whose records nobody has looked at.
pub(super) fn without_times(
    committed: BTreeMap<TopicPartition, milepost_client::groups::Committed>,
) -> BTreeMap<TopicPartition, gather::Source> {
    let without = |committed| gather::Source { committed, time: None, topic_id: None };
    committed.into_iter().map(|(one, committed)| (one, without(committed))).collect()
}

/// The plan for one group, unless it is left alone.
pub(super) fn planned(
    cluster: &mut Cluster,
    to: &GroupFacts,
    (sources, map): (&BTreeMap<TopicPartition, gather::Source>, &NameMap),
    flags: &PlaceFlags,
    origin: Origin,
) -> Result<Option<OffsetPlan>, Failure> {
    let facts = gather::copy(cluster, to, sources, map, (flags.places(), origin))?;
    if flags.skip_non_empty
        && let Presence::Members { count, state } = &facts.presence
    {
        say(&format!("{}: left alone, since it has {count} members and is {state}", to.group));
        return Ok(None);
    }
    Ok(Some(copy::plan(&facts)))
}
