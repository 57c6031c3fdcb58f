//! `milepost doctor`: what may go wrong with groups and their offsets.

use clap::Args;
use milepost_admin::Cause;
use milepost_admin::checkup::{self, Checkup};
use milepost_doctor::{Finding, Fix, Severity, examine};
use serde_json::{Value, json};

use super::group::Filter;
use crate::cluster_flags::ClusterFlags;
use crate::failure::{Failure, say};
use crate::palette::Tone;
use crate::quote::quoted;
use crate::report::{DOCUMENT_VERSION, Report, ReportFlags, Shown};
use crate::table::Cell;

const HELP: &str = "\
It only looks, with rights to describe groups, topics and settings; what it may not see or what does not answer it says on standard
error, and no rule speaks about that. --format wide also shows why each finding matters; json has it all.
The exit code is that of the worst finding: 0 none, 10 a notice, 11 a warning, 12 critical; 4 if nothing was found and a broker did not
answer.";

/// The flags of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Doctor {
    /// Only these groups; all of them if none is named.
    #[arg(value_name = "GROUP")]
    groups: Vec<String>,
    #[command(flatten)]
    filter: Filter,
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
    let mut checkup = checkup::gather(&mut cluster, &names)?;
    checkup.unseen.extend(refused.into_iter().map(Into::into));
    for reason in &checkup.unseen {
        say(&format!("not seen: {reason}"));
    }
    let found = examine(&checkup.facts);
    doctor.report.print(&report(doctor, &checkup, &found))?;
    match found.iter().map(|finding| finding.severity).max() {
        None if checkup.unseen.iter().any(|reason| reason.cause == Cause::Unreachable) => {
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

fn report(doctor: &Doctor, checkup: &Checkup, found: &[Finding]) -> Report {
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
    let unseen = checkup.unseen.iter();
    let unseen: Vec<Value> =
        unseen.map(|reason| json!({ "error": reason.words, "code": reason.code() })).collect();
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
        Fix::Milepost(words) => format!("milepost {}{}", typed(words), doctor.cluster.words()),
        Fix::Kafka(words) => format!("{} --bootstrap-server {}", typed(words), quoted(address)),
        Fix::ByHand(words) => words.clone(),
    }
}
