//! How a plan and what came of it are shown.

use milepost_admin::execute::Outcome;
use milepost_admin::plan::{Move, OffsetPlan, Presence, Shift};
use milepost_admin::target::write_time;
use milepost_client::TopicPartition;
use milepost_client::groups::Committed;
use serde_json::{Map, Value, json};

use super::change::Told;
use super::words;
use crate::palette::Tone;
use crate::report::{DOCUMENT_VERSION, Report, Shown};
use crate::table::Cell;
use crate::visible::visible;

/// The fields of the document, for `--help`.
pub(super) const FIELDS: &str = "\
JSON: {\"version\", \"stage\": planned or written, \"snapshot\", \"undo\", \"groups\": [{\"group\", \"creates\", \"replayed\", \"skipped\",
\"partitions\": [{\"topic\", \"partition\", \"old_offset\", \"old_leader_epoch\", \"old_metadata\", \"new_offset\",
\"new_leader_epoch\", \"new_metadata\", \"change\", \"records\", \"clamped_from\", \"from_time_ms\", \"to_time_ms\", \"result\", \"error\",
\"code\"}], \"left_out\": [{\"topic\", \"partition\", \"error\", \"code\"}]}]}; a new_offset of null deletes what is there.";

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Planned,
    Written,
}

/// The plans, and what came of them.
pub(super) fn report(plans: &[OffsetPlan], told: &Told, stage: Stage) -> Report {
    let columns = vec![
        ("GROUP", Shown::Always),
        ("TOPIC", Shown::Always),
        ("PARTITION", Shown::Always),
        ("OLD", Shown::Always),
        ("NEW", Shown::Always),
        ("CHANGE", Shown::Always),
        ("FROM", Shown::Always),
        ("TO", Shown::Always),
        ("OLD-EPOCH", Shown::Wide),
        ("NEW-EPOCH", Shown::Wide),
        ("OLD-METADATA", Shown::Wide),
        ("NEW-METADATA", Shown::Wide),
        ("RESULT", Shown::Wide),
    ];
    let mut rows = Vec::new();
    let mut groups = Vec::new();
    for plan in plans {
        rows.extend(self::rows(plan, told));
        groups.push(object(plan, told));
    }
    let stage = match stage {
        Stage::Planned => "planned",
        Stage::Written => "written",
    };
    let document = json!({
        "version": DOCUMENT_VERSION,
        "stage": stage,
        "snapshot": told.snapshot,
        "undo": told.undo,
        "groups": groups,
    });
    Report { columns, rows, document }
}

/// What a plan adds up to, in a line.
pub(super) fn sums(plans: &[OffsetPlan]) -> String {
    let (replayed, skipped) =
        plans.iter().map(OffsetPlan::records).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let deleted: usize = plans.iter().map(|plan| plan.forgets.len()).sum();
    let deleted = if deleted > 0 { format!(", {deleted} offsets deleted") } else { String::new() };
    format!("in all: {replayed} records read again, {skipped} skipped{deleted}\n")
}

/// What came of each partition, in lines.
pub(super) fn outcomes(plans: &[OffsetPlan], told: &Told) -> String {
    let mut text = String::new();
    for plan in plans {
        for one in told.outcomes.get(&plan.group).into_iter().flatten() {
            let (group, partition) = (visible(&plan.group), one.partition.to_string());
            let partition = visible(&partition);
            let what = match plan.moves.iter().find(|planned| planned.partition == one.partition) {
                Some(planned) => planned.new.offset.to_string(),
                None => "deleted".to_owned(),
            };
            match &one.result {
                Ok(()) => text.push_str(&format!("{group} {partition}: {what}, written and read back\n")),
                Err(_) => text.push_str(&format!("{group} {partition}: FAILED\n")),
            }
        }
    }
    text
}

fn result<'a>(plan: &OffsetPlan, told: &'a Told, partition: &TopicPartition) -> Option<&'a Outcome> {
    told.outcomes.get(&plan.group)?.iter().find(|one| one.partition == *partition)
}

fn rows(plan: &OffsetPlan, told: &Told) -> Vec<Vec<Cell>> {
    let row =
        |partition: &TopicPartition, old: Option<&Committed>, new: Option<&Committed>, rest: [Cell; 3]| {
            let [change, from, to] = rest;
            let epoch = |one: Option<&Committed>| {
                Cell::or_dash(one.and_then(|one| one.leader_epoch).map(|epoch| epoch.0))
            };
            let metadata = |one: Option<&Committed>| {
                Cell::from(one.map(|one| one.metadata.as_str()).unwrap_or_default())
            };
            let result = match result(plan, told, partition).map(|one| &one.result) {
                None => "-".into(),
                Some(Ok(())) => Cell::toned("ok", Tone::Good),
                Some(Err(reason)) => Cell::toned(reason.to_string(), Tone::Bad),
            };
            vec![
                plan.group.as_str().into(),
                (*partition.topic).into(),
                partition.partition.to_string().into(),
                Cell::or_dash(old.map(|one| one.offset)),
                Cell::or_dash(new.map(|one| one.offset)),
                change,
                from,
                to,
                epoch(old),
                epoch(new),
                metadata(old),
                metadata(new),
                result,
            ]
        };
    let moves = plan.moves.iter().map(|one| {
        let time = |time: Option<milepost_model::Timestamp>| Cell::or_dash(time.map(write_time));
        let rest = [change(one), time(one.span.from), time(one.span.to)];
        row(&one.partition, one.old.as_ref(), Some(&one.new), rest)
    });
    let forgets = plan.forgets.iter().map(|(partition, old)| {
        row(partition, Some(old), None, [Cell::toned("deletes", Tone::Bad), "-".into(), "-".into()])
    });
    moves.chain(forgets).collect()
}

fn change(one: &Move) -> Cell {
    let clamped = if one.clamped.is_some() { " (clamped)" } else { "" };
    match one.shift() {
        Shift::Replays(count) => Cell::toned(format!("replays {count}{clamped}"), Tone::Warning),
        Shift::Skips(count) => Cell::toned(format!("skips {count}{clamped}"), Tone::Bad),
        Shift::Stays if one.changes() => format!("stays{clamped}").into(),
        Shift::Stays => format!("none{clamped}").into(),
        Shift::First => format!("first{clamped}").into(),
    }
}

fn object(plan: &OffsetPlan, told: &Told) -> Value {
    let (replayed, skipped) = plan.records();
    let moves = plan.moves.iter().map(|one| moved(plan, told, one));
    let forgets = plan.forgets.iter().map(|(partition, old)| {
        let mut object = place(partition);
        object.extend(words::committed("old_", Some(old)));
        object.extend(words::committed("new_", None));
        object.insert("change".to_owned(), "deletes".into());
        add_result(&mut object, result(plan, told, partition));
        Value::Object(object)
    });
    let left_out = plan.left_out.iter().map(|one| {
        let mut object = place(&one.partition);
        object.insert("error".to_owned(), one.why.words.as_str().into());
        object.insert("code".to_owned(), one.why.code().into());
        Value::Object(object)
    });
    json!({
        "group": plan.group,
        "creates": plan.presence == Presence::Absent,
        "replayed": replayed,
        "skipped": skipped,
        "partitions": moves.chain(forgets).collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    })
}

fn place(partition: &TopicPartition) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("topic".to_owned(), (*partition.topic).into());
    object.insert("partition".to_owned(), partition.partition.0.into());
    object
}

fn moved(plan: &OffsetPlan, told: &Told, one: &Move) -> Value {
    let mut object = place(&one.partition);
    object.extend(words::committed("old_", one.old.as_ref()));
    object.extend(words::committed("new_", Some(&one.new)));
    let (change, records) = match one.shift() {
        Shift::Replays(count) => ("replays", Some(count)),
        Shift::Skips(count) => ("skips", Some(count)),
        Shift::Stays => ("stays", Some(0)),
        Shift::First => ("first", None),
    };
    object.insert("change".to_owned(), change.into());
    object.insert("records".to_owned(), records.into());
    object.insert("clamped_from".to_owned(), one.clamped.map(|clamped| clamped.asked.0).into());
    object.insert("from_time_ms".to_owned(), one.span.from.map(|time| time.0).into());
    object.insert("to_time_ms".to_owned(), one.span.to.map(|time| time.0).into());
    add_result(&mut object, result(plan, told, &one.partition));
    Value::Object(object)
}

fn add_result(object: &mut Map<String, Value>, outcome: Option<&Outcome>) {
    let result = outcome.map(|one| if one.result.is_ok() { "ok" } else { "failed" });
    object.insert("result".to_owned(), result.into());
    if let Some(Err(reason)) = outcome.map(|one| &one.result) {
        object.insert("error".to_owned(), reason.words.as_str().into());
        object.insert("code".to_owned(), reason.code().into());
    }
}
