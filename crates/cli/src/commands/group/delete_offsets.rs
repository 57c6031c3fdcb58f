//! `milepost group delete-offsets`.

use clap::Args;
use milepost_admin::plan::delete_offsets::{self, Choice, Gone, Unsubscribed};
use milepost_admin::plan::{OffsetPlan, Presence};
use milepost_admin::{TopicFilter, gather};

use super::change::{Change, ChangeFlags};
use super::plan_view;
use crate::cluster_flags::ClusterFlags;
use crate::failure::Failure;
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
    /// Of all topics and partitions that no longer exist.
    #[arg(long)]
    gone: bool,
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
    let group = gather::group_to_write(&mut cluster, &delete.group)?
        .map_err(|reason| Failure::Failed(reason.words))?;
    let choice = Choice {
        named: delete.topics.clone(),
        unsubscribed: delete.unsubscribed.then_some(Unsubscribed),
        gone: delete.gone.then_some(Gone),
    };
    let plan = delete_offsets::plan(&group, &choice).map_err(|reason| Failure::Failed(reason.words))?;
    if plan.forgets.is_empty() {
        return Err(Failure::Failed(format!("{}: the group has committed nothing of that", delete.group)));
    }
    // Members are no hindrance here: the cluster refuses what they are subscribed to, and nothing else.
    let mut change_plan = OffsetPlan::new(plan.group, Presence::Empty);
    change_plan.forgets = plan.forgets;
    let change = Change {
        verb: "delete-offsets",
        flags: &delete.change,
        report: &delete.report,
        cluster: &delete.cluster,
    };
    change.carry_out(&mut cluster, vec![change_plan])
}
