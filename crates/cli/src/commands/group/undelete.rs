//! `milepost group undelete`: puts back what was deleted or has expired, as far as the log of committed offsets still shows it.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use milepost_admin::history::{self, History};
use milepost_admin::plan::reset::{self, Destination, Metadata};
use milepost_admin::plan::{EpochSource, LeftOut};
use milepost_admin::target::write_time;
use milepost_admin::{TopicFilter, gather};
use milepost_client::groups::Committed;
use milepost_client::{Cluster, TopicPartition};

use super::change::{Change, ChangeFlags};
use super::plan_view;
use crate::cluster_flags::ClusterFlags;
use crate::commands::offsets::of_cluster;
use crate::failure::{Failure, say};
use crate::report::ReportFlags;

const HELP: &str = "\
What is put back is the last commit before the deletion, with leader epoch and metadata, of every partition that has no commit
now. The log is compacted: how long it still shows a deleted commit is up to its cleaner, so be quick. Of a topic that was deleted
and made again under its name nothing is put back. See also: milepost offsets history.";

fn help() -> String {
    format!("{HELP}\n{}", plan_view::FIELDS)
}

/// The flags of `group undelete`.
#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct Undelete {
    /// The group.
    group: String,
    /// Only this topic, or TOPIC:0,1 for some of its partitions; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC[:P,P]")]
    topics: Vec<TopicFilter>,
    #[command(flatten)]
    change: ChangeFlags,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(undelete: &Undelete) -> Result<(), Failure> {
    let mut cluster = undelete.cluster.connect()?;
    let history = of_cluster(&mut cluster, &undelete.group, None)?;
    let (said, left_out) = lost(&mut cluster, undelete, &history)?;
    if said.is_empty() && left_out.is_empty() {
        return Err(Failure::Failed(format!(
            "{}: the log shows nothing that was deleted and is not there again",
            undelete.group
        )));
    }
    let group = gather::group_to_write(&mut cluster, &undelete.group)?.map_err(Failure::from)?;
    let scope: BTreeSet<TopicPartition> = said.keys().cloned().collect();
    let facts = gather::reset(&mut cluster, &group, scope)?;
    let mut plan = reset::plan(&facts, &Destination::Said(said, EpochSource::AsSaid), Metadata::Kept);
    plan.left_out.extend(left_out);
    let change = Change {
        verb: "undelete",
        flags: &undelete.change,
        report: &undelete.report,
        cluster: &undelete.cluster,
    };
    change.carry_out(&mut cluster, vec![plan])
}

/// What is to be put back, and what cannot be.
fn lost(
    cluster: &mut Cluster,
    undelete: &Undelete,
    history: &History,
) -> Result<(BTreeMap<TopicPartition, Committed>, Vec<LeftOut>), Failure> {
    let is_meant = |one: &TopicPartition| {
        undelete.topics.is_empty() || undelete.topics.iter().any(|topic| topic.takes(one))
    };
    let mut lost = history.lost();
    lost.retain(|one, _| is_meant(one));
    let names: BTreeSet<&str> = lost.keys().map(|one| &*one.topic).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let metadata = cluster.metadata(Some(&names))?;
    let (mut said, mut left_out) = (BTreeMap::new(), Vec::new());
    for (one, lost) in lost {
        let now = metadata.topic(&one.topic).and_then(|topic| topic.id);
        match history::put_back(one, &lost, now) {
            Ok(committed) => {
                say(&format!("{one}: removed {}", write_time(lost.removed)));
                said.insert(one.clone(), committed);
            }
            Err(why) => left_out.push(LeftOut { partition: one.clone(), why }),
        }
    }
    Ok((said, left_out))
}
