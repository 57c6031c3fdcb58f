//! `milepost group delete`.

use clap::Args;
use milepost_admin::Reason;
use milepost_admin::collect::{self, Detail, GROUPS_AT_ONCE};
use milepost_admin::execute;
use milepost_admin::plan::delete::{self, DeletePlan};
use milepost_admin::snapshot::Scope;
use serde_json::{Value, json};

use super::change::{Change, ChangeFlags};
use super::select::Selection;
use super::words;
use crate::cluster_flags::ClusterFlags;
use crate::confirm;
use crate::failure::{Failure, say};
use crate::palette::{Palette, Tone};
use crate::report::{DOCUMENT_VERSION, Report, ReportFlags, Shown};
use crate::table::Cell;

const HELP: &str = "\
A group with members is refused. Share groups are deleted too; where they had begun cannot be kept. Before anything is deleted what the groups had committed is kept as a snapshot, and the
command that puts it back is printed.
JSON: {\"version\", \"snapshot\", \"undo\", \"groups\": [{\"group\", \"offsets\", \"result\", \"error\", \"code\"}]}.";

/// The flags of `group delete`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Delete {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    change: ChangeFlags,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(delete: &Delete) -> Result<(), Failure> {
    let mut cluster = delete.cluster.connect()?;
    let stop = cluster.options().stop.clone();
    let (names, refused) = delete.selection.names(&mut cluster)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut plan = DeletePlan::default();
    for part in names.chunks(GROUPS_AT_ONCE) {
        let part = delete::plan(&collect::groups(&mut cluster, part, Detail::Members)?);
        plan.groups.extend(part.groups);
        plan.refused.extend(part.refused);
    }
    let mut results: Vec<Result<(), Reason>> = Vec::new();
    let mut kept = None;
    for why in plan.groups.iter().filter_map(|one| one.not_kept.as_ref()) {
        say(&format!("{why}; nothing of it can be kept, and its deletion cannot be undone"));
    }
    if !delete.change.dry_run && !plan.groups.is_empty() {
        if !delete.change.yes {
            let shown = ReportFlags::table(&report(&plan, &[], None), Palette::of_stdout());
            crate::output::print(&shown)?;
            let question = format!("Delete {} groups with all that they have committed?", plan.groups.len());
            confirm::ask(&question, "nothing was deleted", &stop)?;
        }
        let change = Change {
            verb: "delete",
            flags: &delete.change,
            report: &delete.report,
            cluster: &delete.cluster,
        };
        let doomed: Vec<&str> = plan.groups.iter().map(|one| one.group.as_str()).collect();
        kept = change.keep_groups(&mut cluster, &kept_parts(&plan))?;
        let mut deleted = execute::delete_groups(&mut cluster, &doomed);
        results = doomed.iter().filter_map(|group| deleted.remove(*group)).collect();
    }
    delete.report.print(&report(&plan, &results, kept.as_ref()))?;
    let failed: Vec<Reason> = results.into_iter().filter_map(Result::err).collect();
    if stop.is_set() && !failed.is_empty() {
        return Err(Failure::stopped_because(&failed));
    }
    let refused = refused.iter().map(Reason::from);
    Failure::of_reasons(
        failed.into_iter().chain(refused).chain(plan.refused.into_iter().map(|(_, why)| why)).collect(),
    )
}

/// What a snapshot is kept of.
fn kept_parts(plan: &DeletePlan) -> Vec<(&str, Scope)> {
    let kept = plan.groups.iter().filter(|one| one.not_kept.is_none());
    kept.map(|one| (one.group.as_str(), Scope::default())).collect()
}

fn report(plan: &DeletePlan, results: &[Result<(), Reason>], kept: Option<&(String, String)>) -> Report {
    let mut rows = Vec::new();
    let mut objects = Vec::new();
    for (index, one) in plan.groups.iter().enumerate() {
        let result = results.get(index);
        let cell = match result {
            None => "would be deleted".into(),
            Some(Ok(())) => Cell::toned("deleted", Tone::Good),
            Some(Err(_)) => Cell::toned("FAILED", Tone::Bad),
        };
        rows.push(vec![one.group.as_str().into(), one.offsets.to_string().into(), cell]);
        let word = result.map(|result| if result.is_ok() { "ok" } else { "failed" });
        objects.push(with_reason(
            json!({ "group": one.group, "offsets": one.offsets, "result": word }),
            result.and_then(|result| result.as_ref().err()),
        ));
    }
    for (group, why) in &plan.refused {
        rows.push(vec![group.as_str().into(), "-".into(), Cell::toned("refused", Tone::Bad)]);
        objects.push(with_reason(json!({ "group": group, "offsets": null, "result": "refused" }), Some(why)));
    }
    let document = json!({
        "version": DOCUMENT_VERSION,
        "snapshot": kept.map(|(name, _)| name),
        "undo": kept.map(|(_, undo)| undo),
        "groups": objects,
    });
    let columns = ["GROUP", "OFFSETS", "RESULT"].map(|name| (name, Shown::Always)).to_vec();
    Report { columns, rows, document }
}

fn with_reason(mut object: Value, why: Option<&Reason>) -> Value {
    if let (Some(why), Value::Object(object)) = (why, &mut object)
        && let Value::Object(reason) = words::reason(why)
    {
        object.extend(reason);
    }
    object
}
