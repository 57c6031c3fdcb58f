//! `milepost group delete-offsets`.

use clap::Args;
use milepost_admin::plan::Deletion;
use milepost_admin::plan::delete_offsets::{self, Choice, Gone, Unsubscribed};
use milepost_admin::{GroupFacts, Reason, TopicFilter, gather};
use milepost_client::TopicPartition;

use super::change::{Change, ChangeFlags};
use super::plan_view;
use crate::cluster_flags::ClusterFlags;
use crate::failure::{Failure, say};
use crate::report::ReportFlags;

/// The flags of `group delete-offsets`.
#[derive(Debug, Args)]
#[command(after_help = plan_view::FIELDS)]
pub(crate) struct DeleteOffsets {
    /// The group. It may have members, as long as none of them wants the topics.
    group: String,
    /// Of this topic, or TOPIC:0,1 for some of its partitions; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC[:P,P]")]
    topics: Vec<TopicFilter>,
    /// Of all topics that no member of the group reads any more.
    #[arg(long)]
    unsubscribed: bool,
    /// Of all topics and partitions that no longer exist. Brokers refuse to delete these one by one; see --rebuild.
    #[arg(long)]
    gone: bool,
    /// Deletes the group and commits again what is kept, in place of deleting offsets one by one. It also rids the group of
    /// topics that do not exist. The group must have no members, and keeps nothing but its offsets.
    #[arg(long)]
    rebuild: bool,
    #[command(flatten)]
    change: ChangeFlags,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(delete: &DeleteOffsets) -> Result<(), Failure> {
    if delete.topics.is_empty() && !delete.unsubscribed && !delete.gone {
        return Err(Failure::Usage("say which: --topic, --unsubscribed or --gone".to_owned()));
    }
    let mut cluster = delete.cluster.connect()?;
    let group = gather::group_to_write(&mut cluster, &delete.group)?.map_err(Failure::from)?;
    let choice = Choice {
        named: delete.topics.clone(),
        unsubscribed: delete.unsubscribed.then_some(Unsubscribed),
        gone: delete.gone.then_some(Gone),
    };
    let deletion = if delete.rebuild { Deletion::WithGroup } else { Deletion::ByPartition };
    let plan = delete_offsets::plan(&group, &choice, deletion).map_err(Failure::from)?;
    if plan.forgets.is_empty() {
        return Err(Failure::Failed(format!("{}: the group has committed nothing of that", delete.group)));
    }
    if !delete.rebuild && plan.forgets.iter().any(|(one, _)| is_gone(&group, one)) {
        say("brokers usually refuse to delete offsets of topics that do not exist; if so, --rebuild does it");
    }
    let change = Change {
        verb: "delete-offsets",
        flags: &delete.change,
        report: &delete.report,
        cluster: &delete.cluster,
    };
    change.carry_out(&mut cluster, vec![plan])
}

fn is_gone(group: &GroupFacts, partition: &TopicPartition) -> bool {
    let facts = group.partitions.iter().find(|one| one.partition == *partition);
    facts.and_then(|one| one.log.as_ref().err()).is_some_and(Reason::is_gone)
}
