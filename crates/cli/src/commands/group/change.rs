//! What all verbs that write offsets have in common: the plan is shown, somebody agrees, what was there is kept as a
//! snapshot, it is written, read back, and told partition by partition.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use milepost_admin::execute::{self, Outcome};
use milepost_admin::plan::{OffsetPlan, Presence};
use milepost_admin::snapshot::{self, Header, Scope, Store};
use milepost_admin::target::write_time;
use milepost_admin::{Cause, Reason};
use milepost_client::{ClientError, Cluster, Stop};

use super::plan_view;
use crate::cluster_flags::{ClusterFlags, SNAPSHOTS_VARIABLE};
use crate::failure::{Failure, say, say_above};
use crate::palette::Palette;
use crate::quote;
use crate::report::ReportFlags;
use crate::settings::home_folder;
use crate::{clock, confirm, output};

/// How long the group's name may be in the name of a snapshot that is made by itself.
const GROUP_IN_NAME_MAX: usize = 120;

/// Where snapshots are.
#[derive(Debug, Args)]
pub(in crate::commands) struct StoreFlags {
    /// The folder of snapshots. If not said: MILEPOST_SNAPSHOTS, else ~/.local/share/milepost/snapshots (or below
    /// XDG_DATA_HOME).
    #[arg(long, value_name = "DIR")]
    snapshots: Option<PathBuf>,
}

impl ChangeFlags {
    pub(super) fn store(&self) -> &StoreFlags {
        &self.store
    }
}

impl StoreFlags {
    pub(in crate::commands) fn store(&self) -> Result<Store, Failure> {
        let variable =
            || std::env::var_os(SNAPSHOTS_VARIABLE).filter(|said| !said.is_empty()).map(PathBuf::from);
        let default =
            || Some(home_folder("XDG_DATA_HOME", ".local/share")?.join("milepost").join("snapshots"));
        let folder = self.snapshots.clone().or_else(variable).or_else(default);
        let unsaid = || Failure::Usage("nothing says where snapshots are; say --snapshots".to_owned());
        Ok(Store::at(folder.ok_or_else(unsaid)?))
    }

    /// These flags, as they have to be said again.
    fn words(&self) -> String {
        self.snapshots
            .as_ref()
            .map_or_else(String::new, |folder| quote::flag("--snapshots", &folder.to_string_lossy()))
    }
}

/// How a change is made.
#[derive(Debug, Args)]
pub(super) struct ChangeFlags {
    /// Changes without asking. Needed where there is no terminal to ask on.
    #[arg(long, short)]
    pub(super) yes: bool,
    /// Shows what would be changed, and changes nothing.
    #[arg(long, conflicts_with = "yes")]
    pub(super) dry_run: bool,
    /// Keeps no snapshot of what was there; it then cannot be put back.
    #[arg(long)]
    no_snapshot: bool,
    #[command(flatten)]
    store: StoreFlags,
}

/// What is told of a change in the end.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The snapshot that was kept.
    pub(super) snapshot: Option<String>,
    /// The command that puts everything back.
    pub(super) undo: Option<String>,
    /// By group. None where nothing was written.
    pub(super) outcomes: BTreeMap<String, Vec<Outcome>>,
}

/// A verb that is carried out.
pub(super) struct Change<'a> {
    /// Its name, which also begins the name of the snapshot.
    pub(super) verb: &'static str,
    pub(super) flags: &'a ChangeFlags,
    pub(super) report: &'a ReportFlags,
    pub(super) cluster: &'a ClusterFlags,
}

impl Change<'_> {
    /// Carries plans out, one for each group.
    pub(super) fn carry_out(&self, cluster: &mut Cluster, mut plans: Vec<OffsetPlan>) -> Result<(), Failure> {
        let stop = cluster.options().stop.clone();
        for plan in &mut plans {
            execute::complete(cluster, plan)?;
        }
        for warning in plans.iter().flat_map(warnings) {
            say(&warning);
        }
        let left_out: Vec<Reason> =
            plans.iter().flat_map(|plan| &plan.left_out).map(|one| one.why.clone()).collect();
        let nothing = plans.iter().all(|plan| plan.moves.is_empty() && plan.forgets.is_empty());
        if self.flags.dry_run || nothing {
            self.report.print(&plan_view::report(&plans, &Told::default(), plan_view::Stage::Planned))?;
            if self.report.is_for_people() && !nothing {
                output::print(&plan_view::sums(&plans))?;
            }
            return Failure::of_reasons(left_out);
        }
        self.refuse_members(&plans)?;
        if !self.flags.yes {
            self.show_and_ask(&plans, &stop)?;
        } else if self.report.is_for_people() {
            output::print(&self.shown(&plans))?;
        }
        let mut told = Told::default();
        self.keep(cluster, &plans, &mut told)?;
        let stopped = self.write(cluster, &plans, &stop, &mut told);
        self.tell(&plans, &told)?;
        let failed: Vec<Reason> =
            told.outcomes.values().flatten().filter_map(|one| one.result.clone().err()).collect();
        if let Some(undo) = told.undo.as_ref().filter(|_| !failed.is_empty()) {
            say(&format!("not all of it is done; this puts everything back: {undo}"));
        }
        if stop.is_set() && !failed.is_empty() {
            return Err(Failure::stopped_because(&failed));
        }
        stopped?;
        Failure::of_reasons(failed.into_iter().chain(left_out).collect())
    }

    fn shown(&self, plans: &[OffsetPlan]) -> String {
        let report = plan_view::report(plans, &Told::default(), plan_view::Stage::Planned);
        format!("{}{}", ReportFlags::table(&report, Palette::of_stdout()), plan_view::sums(plans))
    }

    fn show_and_ask(&self, plans: &[OffsetPlan], stop: &Stop) -> Result<(), Failure> {
        let shown = self.shown(plans);
        if self.report.is_for_people() {
            output::print(&shown)?;
        } else {
            // Standard output is for the document that comes in the end.
            say_above("the plan:", &shown);
        }
        let groups: Vec<&str> = plans.iter().map(|plan| plan.group.as_str()).collect();
        confirm::ask(&format!("Write this to {}?", groups.join(", ")), "nothing was changed", stop)
    }

    /// The cluster refuses a group with members; it is said before anything is written.
    fn refuse_members(&self, plans: &[OffsetPlan]) -> Result<(), Failure> {
        let refusals = plans.iter().filter_map(|plan| {
            let Presence::Members { count, state } = &plan.presence else { return None };
            let words = format!(
                "{}: the group has {count} members and is {state}; {} needs them to be stopped first [NON_EMPTY_GROUP]",
                plan.group, self.verb
            );
            Some(Reason { words, cause: Cause::Refused("NON_EMPTY_GROUP") })
        });
        Failure::of_reasons(refusals.collect())
    }

    /// Keeps what is there as a snapshot, and says how to put it back, before anything is changed.
    fn keep(&self, cluster: &mut Cluster, plans: &[OffsetPlan], told: &mut Told) -> Result<(), Failure> {
        let mut parts = Vec::new();
        for plan in plans {
            parts.push((plan.group.as_str(), Scope::Partitions(plan.touched())));
        }
        if let Some((name, undo)) = self.keep_groups(cluster, &parts)? {
            (told.snapshot, told.undo) = (Some(name), Some(undo));
        }
        Ok(())
    }

    /// Keeps these groups, unless told not to, and says how to put them back.
    pub(super) fn keep_groups(
        &self,
        cluster: &mut Cluster,
        groups: &[(&str, Scope)],
    ) -> Result<Option<(String, String)>, Failure> {
        if self.flags.no_snapshot || groups.is_empty() {
            return Ok(None);
        }
        let (name, undo) = self.snapshot(cluster, groups)?;
        if self.report.is_for_people() {
            output::print(&format!("undo: {undo}\n"))?;
        } else {
            say(&format!("undo: {undo}"));
        }
        Ok(Some((name, undo)))
    }

    /// Takes and keeps a snapshot of these groups. Gives its name and the command that restores it.
    fn snapshot(&self, cluster: &mut Cluster, groups: &[(&str, Scope)]) -> Result<(String, String), Failure> {
        let now = clock::now();
        let first = groups.first().map_or("", |(group, _)| group);
        let header = Header { name: name(self.verb, first, now), created: now, ..Header::default() };
        let mut whole = snapshot::Snapshot { header, rows: Vec::new() };
        for (group, scope) in groups {
            let (part, lacking) = snapshot::capture(cluster, whole.header.clone(), &[group], scope)?;
            if let Some(Reason { words, cause }) = lacking.into_iter().next() {
                let words =
                    format!("what {group} has committed cannot be kept, so nothing was changed: {words}");
                return Err(Reason { words, cause }.into());
            }
            whole.header.cluster_id = part.header.cluster_id;
            whole.rows.extend(part.rows);
        }
        self.flags.store.store()?.save(&whole).map_err(|error| Failure::Failed(error.to_string()))?;
        let flags = format!("{}{} --yes", self.flags.store.words(), self.cluster.words());
        let undo = quote::command("group snapshot restore", [whole.header.name.as_str()], &flags);
        Ok((whole.header.name, undo))
    }

    /// Ctrl-C between two groups leaves the others as they are, and what was done is told.
    fn write(
        &self,
        cluster: &mut Cluster,
        plans: &[OffsetPlan],
        stop: &Stop,
        told: &mut Told,
    ) -> Result<(), Failure> {
        for plan in plans {
            if stop.is_set() {
                return Err(Failure::Stopped);
            }
            match execute::write(cluster, plan) {
                Ok(outcomes) => drop(told.outcomes.insert(plan.group.clone(), outcomes)),
                Err(ClientError::Stopped) => return Err(Failure::Stopped),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn tell(&self, plans: &[OffsetPlan], told: &Told) -> Result<(), Failure> {
        if self.report.is_for_people() {
            return output::print(&plan_view::outcomes(plans, told));
        }
        self.report.print(&plan_view::report(plans, told, plan_view::Stage::Written))
    }
}

/// What somebody should know before agreeing.
fn warnings(plan: &OffsetPlan) -> Vec<String> {
    let group = &plan.group;
    let mut warnings = Vec::new();
    match &plan.presence {
        Presence::Absent if !plan.moves.is_empty() => {
            warnings.push(format!("{group}: there is no such group; it will be made"));
        }
        Presence::Unknown(reason) => {
            warnings.push(format!(
                "{group}: whether it has members is not known ({reason}); the cluster decides"
            ));
        }
        Presence::Absent | Presence::Empty | Presence::Members { .. } => {}
    }
    for one in &plan.moves {
        if let Some(clamped) = one.clamped {
            let (asked, new) = (clamped.asked, one.new.offset);
            warnings
                .push(format!("{group} {}: {asked} is outside of the log, so it is {new}", one.partition));
        }
    }
    warnings.extend(milepost_admin::plan::restore::warnings(plan).iter().map(ToString::to_string));
    warnings
}

/// A name that no other has: `reset-billing-20261128T120000123Z`.
fn name(verb: &str, group: &str, now: milepost_model::Timestamp) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let group: String = group.chars().take(GROUP_IN_NAME_MAX).map(plain).collect();
    let time: String = write_time(now).chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{verb}-{group}-{time}")
}

#[cfg(test)]
mod tests {
    use milepost_model::Timestamp;

    use super::*;

    #[test]
    fn a_snapshot_that_is_made_by_itself_has_a_name_for_a_file() {
        let name = name("reset", "a/b c.ü", Timestamp(1_700_000_000_123));
        assert_eq!(name, "reset-a-b-c---20231114T221320123Z");
        assert!(snapshot::is_name(&super::name("delete-offsets", &"x".repeat(9000), Timestamp(0))));
    }
}
