//! `milepost group describe`.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, ValueEnum};
use milepost_admin::collect::{self, Detail, GROUPS_AT_ONCE};
use milepost_admin::plan::Presence;
use milepost_admin::target::write_time;
use milepost_admin::{GroupFacts, PartitionFacts, Position, Reason, TopicFilter, Totals};
use milepost_client::groups::Work;
use serde_json::{Map, Value, json};

use super::commit_times::CommitTimes;
use super::select::Selection;
use super::silent::Silent;
use super::{metadata_view, words};
use crate::clock;
use crate::cluster_flags::ClusterFlags;
use crate::failure::{Failure, say};
use crate::progress::Progress;
use crate::report::{DOCUMENT_VERSION, LongDocument, Report, ReportFlags, ReportFormat, Shown};
use crate::table::Cell;

const HELP: &str = "\
A dash is a number that nobody knows; 0 is a number. The standing says which of them it is:
  ok               the position lies in the log
  never committed  nothing is committed: a consumer begins where its auto.offset.reset says
  below start      records between the position and the first that is left are gone
  beyond end       the position lies behind the end of the log: it was cut, or the topic was deleted and made anew
  gone             the topic or partition is not there
  unknown: …       it cannot be said, and why
  …, share start N the group is a share group: it commits nothing, and its members read from this offset on; some records behind
                   it may be done with already, so LAG is what the broker counts
  not begun        the share group has not read there yet
METADATA-SAYS is what a parallel consumer or Kafka Streams wrote beside the offset: the records behind it that are done already, or
the time that the partition has come to.
A group of Kafka Connect's workers commits nothing either; its sink connectors have groups of their own, connect-NAME.
What is committed is read first and where the logs end second, so no lag is ever negative because of the order. LAG counts to
the high watermark, STABLE-LAG (wide) to the last stable offset, at which those wait that read only what is committed.
JSON: {\"version\", \"groups\": [{\"group\", \"type\", \"state\", \"members\", \"partitions\": [{\"topic\", \"partition\", \"offset\",
\"leader_epoch\", \"metadata\", \"standing\", \"lag\", \"stable_lag\", \"log_start\", \"log_end\", \"log_stable_end\", \"time_lag_ms\", \"time_lag_method\", \"committed_at_ms\", \"expires_at_ms\", \"member\",
\"metadata_decoded\": null | {\"kind\": \"parallel-consumer\", \"encoding\", \"map_end\", \"done\", \"done_ranges\": [[first, last]],
\"more_done_ranges\", \"remaining\", \"beyond_log_end\"} | {\"kind\": \"kafka-streams\", \"version\", \"partition_time\", \"processors\"},
\"share_start_offset\" of a share group, \"error\", \"code\"}], \"totals\", \"note\"}], \"errors\"}; with --by the \"partitions\" are left out and \"topics\" may be there.";

/// The flags of `group describe`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Describe {
    #[command(flatten)]
    selection: Selection,
    /// Only this topic, or TOPIC:0,1 for some of its partitions; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC[:P,P]")]
    topics: Vec<TopicFilter>,
    /// Only partitions that are behind, beyond the end, or of which that is not known.
    #[arg(long)]
    only_with_lag: bool,
    /// Also fetches the next record of each partition: TIME-LAG is how long it has been waiting, by its own time.
    #[arg(long)]
    time_lag: bool,
    /// Also reads __consumer_offsets: COMMITTED-AT is when each offset was committed, EXPIRES-AT when it goes if nothing changes, or
    /// a dash while its clock does not run.
    #[arg(long)]
    commit_times: bool,
    /// What a row is: a partition, or the sums over a topic or a group.
    #[arg(long, value_enum, default_value_t = By::Partition)]
    by: By,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    Partition,
    Topic,
    Group,
}

pub(super) fn run(describe: &Describe) -> Result<(), Failure> {
    let mut cluster = describe.cluster.connect()?;
    let (names, refused) = describe.selection.names(&mut cluster)?;
    let (times, unseen) = if describe.commit_times {
        CommitTimes::read(&mut cluster, &names)?
    } else {
        (CommitTimes::default(), Vec::new())
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let detail = if describe.time_lag { Detail::Times } else { Detail::Members };
    let progress = Progress::new("groups", names.len());
    let mut shape = Shape::of(describe, times)?;
    let mut errors: Vec<Reason> = refused.iter().map(Reason::from).chain(unseen).collect();
    for part in names.chunks(GROUPS_AT_ONCE) {
        for mut group in collect::groups(&mut cluster, part, detail)? {
            errors.extend(what_is_wrong(&group, &describe.selection));
            if let Some(note) = note(&group).filter(|_| describe.report.is_for_people()) {
                say(&note);
            }
            group.partitions.retain(|one| describe.takes(one));
            shape.add(&group, describe.by)?;
        }
        progress.advance(part.len());
    }
    drop(progress);
    let reasons: Value = errors.iter().map(words::reason).collect();
    match shape.made {
        Made::Document(document) => document.end("errors", &reasons)?,
        Made::Rows(report) => describe.report.print(&report)?,
        Made::Objects(objects) => {
            let document = json!({ "version": DOCUMENT_VERSION, "groups": objects, "errors": reasons });
            describe.report.print(&Report { columns: Vec::new(), rows: Vec::new(), document })?;
        }
    }
    Failure::of_reasons(errors)
}

/// What is made of each group at once, so that no more is held than has to be: of ten thousand groups one holds either
/// rows or objects, and a document of JSON not even those.
enum Made {
    Document(LongDocument),
    Rows(Report),
    Objects(Vec<Value>),
}

/// What is made, and of what besides the groups themselves.
struct Shape {
    made: Made,
    times: CommitTimes,
}

impl Shape {
    fn of(describe: &Describe, times: CommitTimes) -> Result<Self, Failure> {
        let columns = columns(describe);
        let empty = Report { columns, rows: Vec::new(), document: Value::Null };
        describe.report.check(&empty)?;
        let made = match describe.report.format {
            ReportFormat::Json => Made::Document(LongDocument::new("groups")),
            ReportFormat::Yaml => Made::Objects(Vec::new()),
            ReportFormat::Table | ReportFormat::Wide | ReportFormat::Csv => Made::Rows(empty),
        };
        Ok(Self { made, times })
    }

    fn add(&mut self, group: &GroupFacts, by: By) -> Result<(), Failure> {
        match &mut self.made {
            Made::Document(document) => document.push(&object(group, &self.times, by)),
            Made::Rows(report) => {
                report.rows.extend(rows(group, &self.times, by));
                Ok(())
            }
            Made::Objects(objects) => {
                objects.push(object(group, &self.times, by));
                Ok(())
            }
        }
    }
}

impl Describe {
    fn takes(&self, one: &PartitionFacts) -> bool {
        let is_meant = self.topics.is_empty() || self.topics.iter().any(|topic| topic.takes(&one.partition));
        is_meant && (!self.only_with_lag || Totals::of([one]).is_behind())
    }
}

/// Why a group is not shown as it should be.
fn what_is_wrong(group: &GroupFacts, selection: &Selection) -> Vec<Reason> {
    let of_it = |reason: &Reason| reason.clone().of(&group.group);
    let mut wrong: Vec<Reason> = group.unknown.iter().map(of_it).collect();
    match &group.description {
        // One broker knows both, and what keeps it from answering is said once.
        Some(Err(reason)) if wrong.contains(&of_it(reason)) => {}
        Some(Err(reason)) => wrong.push(of_it(reason)),
        description => {
            let is_absent = Presence::of(description.as_ref()) == Presence::Absent;
            if is_absent && selection.is_by_name() && group.partitions.is_empty() {
                wrong.push(words::absent(&group.group));
            }
        }
    }
    let mut silent = Silent::default();
    silent.note(group);
    wrong.extend(silent.reasons());
    wrong
}

fn columns(describe: &Describe) -> Vec<(&'static str, Shown)> {
    // What was asked for is shown; what was not is there to be named.
    let shown = |asked: bool| if asked { Shown::Always } else { Shown::Wide };
    let always = |names: &[&'static str]| names.iter().map(|name| (*name, Shown::Always)).collect::<Vec<_>>();
    match describe.by {
        By::Partition => {
            let mut columns =
                always(&["GROUP", "TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "STANDING", "MEMBER"]);
            columns.extend(
                ["START", "STABLE-END", "STABLE-LAG", "EPOCH", "HOST", "CLIENT-ID", "STATE", "METADATA"]
                    .map(|name| (name, Shown::Wide)),
            );
            columns.push(("TIME-LAG", shown(describe.time_lag)));
            columns.extend(["COMMITTED-AT", "EXPIRES-AT"].map(|name| (name, shown(describe.commit_times))));
            columns.extend([("SHARE-START", Shown::Wide), ("METADATA-SAYS", Shown::Wide)]);
            columns
        }
        By::Topic => {
            always(&["GROUP", "TOPIC", "PARTITIONS", "LAG", "STABLE-LAG", "NEVER", "BEYOND-END", "UNKNOWN"])
        }
        By::Group => {
            always(&["GROUP", "STATE", "PARTITIONS", "LAG", "STABLE-LAG", "NEVER", "BEYOND-END", "UNKNOWN"])
        }
    }
}

fn rows(group: &GroupFacts, times: &CommitTimes, by: By) -> Vec<Vec<Cell>> {
    match by {
        By::Partition => group.partitions.iter().map(|one| row(group, one, times)).collect(),
        By::Topic => {
            let topics = by_topic(group).into_iter();
            topics.map(|(topic, totals)| sums(group, topic.into(), &totals)).collect()
        }
        By::Group => {
            let state = words::state(group.known().map(|known| known.state.as_str()));
            vec![sums(group, state, &group.totals())]
        }
    }
}

fn by_topic(group: &GroupFacts) -> BTreeMap<&str, Totals> {
    let mut topics: BTreeMap<&str, Vec<&PartitionFacts>> = BTreeMap::new();
    for one in &group.partitions {
        topics.entry(&one.partition.topic).or_default().push(one);
    }
    topics.into_iter().map(|(topic, partitions)| (topic, Totals::of(partitions))).collect()
}

fn sums(group: &GroupFacts, second: Cell, totals: &Totals) -> Vec<Cell> {
    vec![
        group.group.as_str().into(),
        second,
        totals.partitions.to_string().into(),
        words::sum(totals.lag),
        words::sum(totals.stable_lag),
        totals.never.to_string().into(),
        totals.beyond_end.to_string().into(),
        totals.unknown.to_string().into(),
    ]
}

fn row(group: &GroupFacts, one: &PartitionFacts, times: &CommitTimes) -> Vec<Cell> {
    let times = times.of(&group.group, &one.partition);
    let committed = one.position.committed();
    let log = one.log.as_ref().ok();
    let member = one.member.and_then(|index| group.known()?.members.get(index));
    let epoch = committed.and_then(|committed| committed.leader_epoch).map(|epoch| epoch.0);
    vec![
        group.group.as_str().into(),
        (*one.partition.topic).into(),
        one.partition.partition.to_string().into(),
        Cell::or_dash(committed.map(|committed| committed.offset)),
        Cell::or_dash(log.map(|log| log.end.offset)),
        words::lag(Some(&one.lag())),
        words::standing(one),
        reader(group, one),
        Cell::or_dash(log.map(|log| log.start.offset)),
        Cell::or_dash(log.and_then(|log| log.stable_end)),
        words::lag(one.stable_lag().as_ref()),
        Cell::or_dash(epoch),
        Cell::or_dash(member.map(|member| &member.host)),
        Cell::or_dash(member.map(|member| &member.client_id)),
        words::state(group.known().map(|known| known.state.as_str())),
        committed.map(|committed| committed.metadata.as_str()).unwrap_or_default().into(),
        Cell::or_dash(one.time_lag_ms(clock::now()).map(words::duration)),
        Cell::or_dash(times.committed.map(write_time)),
        Cell::or_dash(times.expires.map(write_time)),
        Cell::or_dash(one.position.share_start().map(|start| start.offset)),
        metadata_view::words(one).unwrap_or_default().into(),
    ]
}

/// Who reads a partition: in a share group it may be many.
fn reader(group: &GroupFacts, one: &PartitionFacts) -> Cell {
    let Some(known) = group.known() else { return Cell::or_dash(None::<&str>) };
    if let Some(index) = one.member {
        return Cell::or_dash(known.members.get(index).map(|member| &member.member_id));
    }
    let readers = known.members.iter().filter(|member| member.assigned.contains(&one.partition)).count();
    Cell::or_dash((readers > 0).then(|| format!("{readers} members")))
}

fn object(group: &GroupFacts, times: &CommitTimes, by: By) -> Value {
    let known = group.known();
    let mut object = Map::new();
    object.insert("group".to_owned(), group.group.as_str().into());
    object.insert("type".to_owned(), known.map(|known| known.kind.name().to_owned()).into());
    object.insert("state".to_owned(), known.map(|known| known.state.clone()).into());
    object.insert("members".to_owned(), known.map(|known| known.members.len()).into());
    match by {
        By::Partition => {
            let partitions = group.partitions.iter().map(|one| partition(group, one, times));
            object.insert("partitions".to_owned(), partitions.collect());
        }
        By::Topic => {
            let topics = by_topic(group)
                .into_iter()
                .map(|(topic, totals)| json!({ "topic": topic, "totals": words::totals(&totals) }));
            object.insert("topics".to_owned(), topics.collect());
        }
        By::Group => {}
    }
    object.insert("totals".to_owned(), words::totals(&group.totals()));
    if let Some(note) = note(group) {
        object.insert("note".to_owned(), note.into());
    }
    Value::Object(object)
}

/// What somebody should know who finds no committed offsets where there are none to be.
fn note(group: &GroupFacts) -> Option<String> {
    let known = group.known().filter(|known| known.is_connect())?;
    let connectors: BTreeSet<&str> = known
        .members
        .iter()
        .filter_map(|member| if let Some(Work::Connect(worker)) = &member.work { Some(worker) } else { None })
        .flat_map(|worker| worker.assigned.iter().map(|one| one.connector.as_str()))
        .collect();
    let why = group.keeps_no_offsets()?.words;
    if connectors.is_empty() {
        return Some(why);
    }
    let names: Vec<String> = connectors.iter().map(|name| format!("connect-{name}")).collect();
    Some(format!("{why}; of its connectors, where they are sinks: {}", names.join(", ")))
}

fn partition(group: &GroupFacts, one: &PartitionFacts, times: &CommitTimes) -> Value {
    let log = one.log.as_ref().ok();
    let member = one.member.and_then(|index| group.known()?.members.get(index));
    let mut object = Map::new();
    object.insert("topic".to_owned(), (*one.partition.topic).into());
    object.insert("partition".to_owned(), one.partition.partition.0.into());
    object.extend(words::committed("", one.position.committed()));
    object.insert("metadata_decoded".to_owned(), metadata_view::object(one));
    if let Position::Share(start) = &one.position {
        let start = start.map(|start| start.offset.0);
        object.insert("share_start_offset".to_owned(), start.into());
    }
    object.insert("standing".to_owned(), one.standing().words().into());
    object.insert("lag".to_owned(), words::lag_number(Some(&one.lag())));
    object.insert("stable_lag".to_owned(), words::lag_number(one.stable_lag().as_ref()));
    object.insert("log_start".to_owned(), log.map(|log| log.start.offset.0).into());
    object.insert("log_end".to_owned(), log.map(|log| log.end.offset.0).into());
    let stable_end = log.and_then(|log| log.stable_end).map(|offset| offset.0);
    object.insert("log_stable_end".to_owned(), stable_end.into());
    let time_lag = one.time_lag_ms(clock::now());
    object.insert("time_lag_ms".to_owned(), time_lag.into());
    // Records may have been compacted away, and times are those of the producers.
    object.insert("time_lag_method".to_owned(), time_lag.map(|_| "next record").into());
    let times = times.of(&group.group, &one.partition);
    object.insert("committed_at_ms".to_owned(), times.committed.map(|time| time.0).into());
    object.insert("expires_at_ms".to_owned(), times.expires.map(|time| time.0).into());
    let member = member.map(|member| {
        json!({
            "member_id": member.member_id,
            "client_id": member.client_id,
            "host": member.host,
        })
    });
    object.insert("member".to_owned(), member.into());
    if let Some(reason) = words::why(one) {
        object.insert("error".to_owned(), reason.words.as_str().into());
        object.insert("code".to_owned(), reason.code().into());
    }
    Value::Object(object)
}
