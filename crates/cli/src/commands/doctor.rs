//! `milepost doctor`: what may go wrong with groups and their offsets.

use std::time::{Duration, Instant};

use clap::Args;
use milepost_admin::checkup::{self, Checkup};
use milepost_admin::{Cause, Reason};
use milepost_doctor::{Finding, Fix, Severity, examine};
use serde_json::{Value, json};

use super::group::Filter;
use super::offsets::ledger::{self, History};
use crate::clock;
use crate::cluster_flags::{ClusterFlags, parse_seconds, parse_seconds_or_none};
use crate::failure::{Failure, say};
use crate::palette::Tone;
use crate::quote::{self, quoted};
use crate::report::{DOCUMENT_VERSION, Report, ReportFlags, Shown};
use crate::table::Cell;

const HELP: &str = "\
It only looks, with rights to describe groups, topics and settings, and to read __consumer_offsets if it may; what it may not
see or what does not answer it says on standard error, and no rule speaks about that. --format wide also shows why each finding matters; json has it all.
The exit code is that of the worst finding: 0 none, 10 a notice, 11 a warning, 12 critical; 4 if nothing was found and a broker did not
answer; 1 if a group that is named does not exist, whatever was found of the others.";

/// The flags of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Doctor {
    /// Only these groups; all of them if none is named.
    #[arg(value_name = "GROUP")]
    groups: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    /// For how many seconds __consumer_offsets is read, which alone tells when and how often something was committed; 0: it is
    /// not. Only its partitions that are read to the end in that time count.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds_or_none)]
    history: Duration,
    /// Looks twice, so many seconds apart, and also says what has not moved in between.
    #[arg(long = "for", value_name = "SECONDS", value_parser = parse_seconds)]
    between: Option<Duration>,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(crate) fn run(doctor: &Doctor) -> Result<(), Failure> {
    let mut cluster = doctor.cluster.connect()?;
    let (names, refused) = if doctor.groups.is_empty() {
        let listed = doctor.filter.list(&mut cluster)?;
        (listed.groups.into_keys().collect(), listed.refused)
    } else {
        (doctor.groups.clone(), Vec::new())
    };
    let begun = Instant::now();
    let mut checkup = checkup::gather(&mut cluster, &names)?;
    let history = if doctor.history.is_zero() {
        History::default()
    } else {
        ledger::read(&mut cluster, &checkup.homes(), Some(doctor.history))?
    };
    if let Some(between) = doctor.between {
        let left = between.saturating_sub(begun.elapsed());
        say(&format!("looked once, and will again in {} s", left.as_secs_f32().ceil()));
        cluster.pause(left)?;
        let ms = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        let before = std::mem::replace(&mut checkup, checkup::gather(&mut cluster, &names)?);
        checkup.note_earlier(before, ms);
    }
    checkup.facts.now = Some(clock::now());
    checkup.note(&history.ledger, &history.whole);
    for error in refused {
        checkup.miss("some groups", error.into());
    }
    for (what, reason) in history.unseen {
        checkup.miss(&what, reason);
    }
    let unseen = checkup.unseen();
    let missed = doctor.groups.iter().find(|name| checkup.absent.contains(*name));
    let missed = missed.map(|name| Reason::no_such_group(name));
    for reason in unseen.iter().filter(|reason| Some(*reason) != missed.as_ref()) {
        say(&format!("not seen: {reason}"));
    }
    let found = examine(&checkup.facts);
    doctor.report.print(&report(doctor, &checkup, &unseen, &found))?;
    // One that was listed may have gone since; one that was named is missed, and nothing found of it says nothing.
    if let Some(reason) = missed {
        return Err(Failure::Failed(reason.words));
    }
    match found.iter().map(|finding| finding.severity).max() {
        None if unseen.iter().any(|reason| reason.cause == Cause::Unreachable) => {
            Err(Failure::Unreachable("nothing found in what answered".to_owned()))
        }
        None => {
            if doctor.report.is_for_people() {
                say(&format!("nothing found in {} groups", checkup.facts.groups.len()));
            }
            Ok(())
        }
        Some(worst) => Err(Failure::Found(worst)),
    }
}

fn report(doctor: &Doctor, checkup: &Checkup, unseen: &[Reason], found: &[Finding]) -> Report {
    let address = &checkup.facts.cluster.address;
    let row = |finding: &Finding| {
        let tone = match finding.severity {
            Severity::Notice => Tone::Plain,
            Severity::Warning => Tone::Warning,
            Severity::Critical => Tone::Bad,
        };
        vec![
            Cell::toned(finding.severity.word(), tone),
            finding.rule.into(),
            Cell::or_dash(finding.subject.group.as_ref()),
            finding.says.clone().into(),
            fix(doctor, address, &finding.fix).into(),
            finding.why.into(),
        ]
    };
    let document = |finding: &Finding| {
        json!({
            "rule": finding.rule,
            "severity": finding.severity.word(),
            "group": finding.subject.group,
            "topic": finding.subject.topic,
            "partition": finding.subject.partition.map(|partition| partition.0),
            "says": finding.says,
            "why": finding.why,
            "fix": fix(doctor, address, &finding.fix),
            "is_command": !matches!(finding.fix, Fix::ByHand(_)),
        })
    };
    let unseen: Vec<Value> =
        unseen.iter().map(|reason| json!({ "error": reason.words, "code": reason.code() })).collect();
    Report {
        columns: vec![
            ("SEVERITY", Shown::Always),
            ("RULE", Shown::Always),
            ("GROUP", Shown::Always),
            ("FOUND", Shown::Always),
            ("FIX", Shown::Always),
            ("WHY", Shown::Wide),
        ],
        rows: found.iter().map(row).collect(),
        document: json!({
            "version": DOCUMENT_VERSION,
            "worst": found.iter().map(|finding| finding.severity).max().map(Severity::word),
            "findings": found.iter().map(document).collect::<Vec<_>>(),
            "unseen": unseen,
        }),
    }
}

/// What mends it, as it can be typed.
fn fix(doctor: &Doctor, address: &str, fix: &Fix) -> String {
    let typed = |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    match fix {
        Fix::Milepost(command) => {
            let flag = |(name, value): &(&str, Option<String>)| match value {
                Some(value) => quote::flag(name, value),
                None => format!(" {name}"),
            };
            let mut flags: String = command.flags.iter().map(flag).collect();
            flags += &doctor.cluster.words();
            quote::command(command.name, command.operands.iter().map(String::as_str), &flags)
        }
        Fix::Kafka(words) => format!("{} --bootstrap-server {}", typed(words), quoted(address)),
        Fix::ByHand(words) => words.clone(),
    }
}
