//! `milepost offsets history`: where a group was, as the log of committed offsets still shows.

use std::path::PathBuf;

use clap::Args;
use milepost_admin::history::{Change, Event, History, Reach};
use milepost_admin::target::{parse_time, write_time};
use milepost_batch::BatchView;
use milepost_client::Cluster;
use milepost_client::start::Start;
use milepost_model::{Offset, PartitionIndex, Timestamp};
use serde_json::{Value, json};

use super::log::{self, Sink, Until};
use crate::clock;
use crate::cluster_flags::ClusterFlags;
use crate::failure::{Failure, say};
use crate::report::{DOCUMENT_VERSION, Report, ReportFlags, Shown};
use crate::table::Cell;

const HELP: &str = "\
The log of committed offsets is compacted: in the end the last commit of each partition is all that is left of it. What is shown
is what is still there, and standard error says since when nothing is missing. Commits of a transaction count from its end on.
Columns: TIME, TOPIC, PARTITION, OFFSET (a dash where it was deleted or expired), MOVED (since the commit before), EPOCH, METADATA,
RECORD (where it lies in __consumer_offsets).";

/// The flags of `offsets history`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct OffsetsHistory {
    /// Segments or folders to read instead of a cluster.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The group.
    #[arg(long, short, value_name = "GROUP")]
    group: String,
    /// Only this topic; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC")]
    topics: Vec<String>,
    /// Where the group was at this time: milliseconds, 2026-01-31T12:00Z, or -1h before now.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = said_time)]
    at: Option<Timestamp>,
    /// Reads this partition of __consumer_offsets only.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    partition: Option<i32>,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

fn said_time(said: &str) -> Result<Timestamp, String> {
    let said = said.strip_prefix('@').unwrap_or(said);
    parse_time(said, clock::now())
        .ok_or_else(|| "not milliseconds, 2026-01-31T12:00:00Z, or -1h before now".to_owned())
}

pub(super) fn run(flags: &OffsetsHistory) -> Result<(), Failure> {
    let only = flags.partition.map(PartitionIndex);
    let history = if flags.paths.is_empty() {
        of_cluster(&mut flags.cluster.connect()?, &flags.group, only)?
    } else {
        let mut reading = Reading { history: History::of(&flags.group) };
        log::read_files(&flags.paths, only, &mut reading)?;
        reading.history
    };
    let is_nothing = history.events().next().is_none();
    // Of a group of which it has nothing a whole log is no comfort: it may never have been, or be called otherwise.
    if !(is_nothing && history.reach() == Reach::Everything) {
        say(&format!("{}: {}", flags.group, reach_in_words(history.reach(), flags.at)));
    }
    if history.pending() > 0 {
        say(&format!("{}: {} offsets wait for the end of a transaction", flags.group, history.pending()));
    }
    let report = report(flags, &history);
    if is_nothing {
        say(&format!("{}: the log has no commit of the group", flags.group));
    } else if report.rows.is_empty() {
        let by_then = if flags.at.is_some() { " by then" } else { "" };
        let of_these = if flags.topics.is_empty() { "" } else { " of these topics" };
        say(&format!("{}: the log has no commit{of_these}{by_then}", flags.group));
    }
    flags.report.print(&report)
}

/// The history of a group, from a cluster's log.
pub(crate) fn of_cluster(
    cluster: &mut Cluster,
    group: &str,
    only: Option<PartitionIndex>,
) -> Result<History, Failure> {
    let mut reading = Reading { history: History::of(group) };
    log::read_cluster(cluster, only, Start::Earliest, Until::End, &mut reading)?;
    Ok(reading.history)
}

struct Reading {
    history: History,
}

impl Sink for Reading {
    type Error = Failure;

    fn batch(
        &mut self,
        log: Option<PartitionIndex>,
        _: Offset,
        batch: &BatchView<'_>,
    ) -> Result<(), Failure> {
        // Of a lone file it is not known which partition it is of, and it is the only one.
        let log = log.unwrap_or_default();
        match self.history.take(log, batch) {
            Ok(()) => Ok(()),
            Err(error) => self.damaged(Some(log), &format!("the batch at {}: {error}", batch.base_offset())),
        }
    }

    fn damaged(&mut self, log: Option<PartitionIndex>, reason: &str) -> Result<(), Failure> {
        say(&format!("partition {} of the log: passed over: {reason}", log.unwrap_or_default()));
        Ok(())
    }

    fn pause(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

fn reach_in_words(reach: Reach, at: Option<Timestamp>) -> String {
    match (reach, at) {
        (Reach::Everything, _) => "the log shows every commit".to_owned(),
        (Reach::Since(since), Some(at)) if at < since => format!(
            "at that time the log lacks commits; it shows every one since {}, and what compaction left of those before",
            write_time(since)
        ),
        (Reach::Since(since), _) => format!(
            "the log shows every commit since {}, and of those before what compaction left",
            write_time(since)
        ),
        (Reach::Nothing, _) => {
            "the log shows what compaction left, and nothing says since when it is whole".to_owned()
        }
    }
}

fn report(flags: &OffsetsHistory, history: &History) -> Report {
    let is_meant = |event: &&Event| {
        flags.topics.is_empty() || flags.topics.iter().any(|topic| **topic == *event.partition.topic)
    };
    let events: Vec<&Event> = match flags.at {
        None => history.events().filter(is_meant).collect(),
        Some(at) => history.at(at).into_values().filter(is_meant).collect(),
    };
    let mut last = std::collections::BTreeMap::new();
    let mut rows = Vec::new();
    let mut documents = Vec::new();
    for event in &events {
        let committed = match &event.change {
            Change::Committed { committed, .. } => Some(committed),
            Change::Removed => None,
        };
        let offset = committed.map(|committed| committed.offset.0);
        let before = last.insert(&event.partition, offset).flatten();
        let moved = offset.zip(before).map(|(offset, before)| offset - before);
        let epoch = committed.and_then(|committed| committed.leader_epoch).map(|epoch| epoch.0);
        rows.push(vec![
            write_time(event.time).into(),
            event.partition.topic.to_string().into(),
            event.partition.partition.to_string().into(),
            Cell::or_dash(offset),
            Cell::or_dash(moved.map(|moved| format!("{moved:+}"))),
            Cell::or_dash(epoch),
            committed.map_or("", |committed| committed.metadata.as_str()).into(),
            format!("{}:{}", event.record.0, event.record.1).into(),
        ]);
        documents.push(json!({
            "time_ms": event.time.0,
            "topic": &*event.partition.topic,
            "partition": event.partition.partition.0,
            "change": if committed.is_some() { "committed" } else { "removed" },
            "offset": offset,
            "moved": moved,
            "leader_epoch": epoch,
            "metadata": committed.map(|committed| committed.metadata.as_str()),
            "record": { "partition": event.record.0.0, "offset": event.record.1.0 },
        }));
    }
    Report {
        columns: vec![
            ("TIME", Shown::Always),
            ("TOPIC", Shown::Always),
            ("PARTITION", Shown::Always),
            ("OFFSET", Shown::Always),
            ("MOVED", Shown::Always),
            ("EPOCH", Shown::Wide),
            ("METADATA", Shown::Wide),
            ("RECORD", Shown::Wide),
        ],
        rows,
        document: json!({
            "version": DOCUMENT_VERSION,
            "group": flags.group,
            "at_ms": flags.at.map(|at| at.0),
            "complete": complete(history.reach()),
            "complete_since_ms": match history.reach() {
                Reach::Since(since) => Value::from(since.0),
                Reach::Everything | Reach::Nothing => Value::Null,
            },
            "pending": history.pending(),
            "events": documents,
        }),
    }
}

fn complete(reach: Reach) -> &'static str {
    match reach {
        Reach::Everything => "always",
        Reach::Since(_) => "since",
        Reach::Nothing => "unknown",
    }
}
