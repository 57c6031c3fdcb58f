//! `milepost group peek`: the records just before and after where a group is.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use clap::Args;
use milepost_admin::peek::{Window, window};
use milepost_admin::target::write_time;
use milepost_admin::{GroupFacts, LogFacts, Reason, Standing, TopicFilter, gather};
use milepost_client::{Cluster, Isolation, Reader, Record, TopicPartition};
use milepost_model::{Offset, Timestamp};
use serde_json::{Map, Value, json};

use super::words;
use crate::cluster_flags::ClusterFlags;
use crate::failure::{Failure, say};
use crate::json;
use crate::report::{DOCUMENT_VERSION, Report, ReportFlags, Shown};
use crate::table::Cell;

/// How long to wait for records at once; a stop is noticed meanwhile.
const WAIT: Duration = Duration::from_millis(500);
/// How much of a key or value a table shows.
const SHOWN_CHARS: usize = 60;

const HELP: &str = "\
PLACE is `read` for records that the group has behind it, `next` for the one it reads next, and `ahead` for those after it. Offsets
are counted, so where a log is compacted or has markers there are fewer records. A table cuts long keys and values; json does not.";

/// The flags of `group peek`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Peek {
    /// The group.
    group: String,
    /// Only this topic, or TOPIC:0,1 for some of its partitions; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC[:P,P]")]
    topics: Vec<TopicFilter>,
    /// How many offsets before the position.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(i64).range(0..=100))]
    before: i64,
    /// How many from the position on.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(i64).range(0..=100))]
    after: i64,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// A partition that is looked at.
struct Look {
    position: Offset,
    standing: Standing,
    log: LogFacts,
    window: Window,
    seen: Vec<Seen>,
}

/// A record, kept.
struct Seen {
    offset: Offset,
    timestamp: Option<Timestamp>,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
}

pub(super) fn run(peek: &Peek) -> Result<(), Failure> {
    let mut cluster = peek.cluster.connect()?;
    let group = gather::group(&mut cluster, &peek.group)?;
    if let Some(reason) = &group.unknown {
        return Err(reason.clone().into());
    }
    let (mut looks, wrong) = looks(peek, &group);
    if looks.is_empty() && wrong.is_empty() {
        return Err(Failure::Failed(format!("{}: the group has committed nothing there", peek.group)));
    }
    read(&mut cluster, &mut looks)?;
    if peek.report.is_for_people() {
        for outside in looks.iter().filter_map(|(one, look)| look.outside(one)) {
            say(&outside);
        }
    }
    peek.report.print(&report(peek, &looks, &wrong))?;
    Failure::of_reasons(wrong)
}

/// What is to be looked at, and what cannot be.
fn looks(peek: &Peek, group: &GroupFacts) -> (BTreeMap<TopicPartition, Look>, Vec<Reason>) {
    let (mut looks, mut wrong) = (BTreeMap::new(), Vec::new());
    for one in &group.partitions {
        let is_meant = peek.topics.is_empty() || peek.topics.iter().any(|topic| topic.takes(&one.partition));
        let Some(position) = one.position.next().filter(|_| is_meant) else { continue };
        match &one.log {
            Ok(log) => {
                let window = window(position, log, peek.before, peek.after);
                let look = Look { position, standing: one.standing(), log: *log, window, seen: Vec::new() };
                looks.insert(one.partition.clone(), look);
            }
            Err(reason) => wrong.push(reason.clone()),
        }
    }
    (looks, wrong)
}

fn read(cluster: &mut Cluster, looks: &mut BTreeMap<TopicPartition, Look>) -> Result<(), Failure> {
    let wanted = |looks: &BTreeMap<TopicPartition, Look>, done: &BTreeMap<TopicPartition, Offset>| {
        let open = looks.iter().filter_map(|(one, look)| {
            let next = done.get(one).copied().unwrap_or(look.window.from);
            (next < look.window.to).then(|| (one.clone(), next))
        });
        open.collect::<BTreeMap<_, _>>()
    };
    let mut reader = Reader::new(cluster.options(), Isolation::ReadUncommitted);
    let mut done: BTreeMap<TopicPartition, Offset> = BTreeMap::new();
    let mut open = wanted(looks, &done);
    reader.assign(open.clone());
    while !open.is_empty() {
        for fetched in reader.poll(cluster, WAIT)?.fetched {
            let Some(look) = looks.get_mut(fetched.partition()) else { continue };
            done.insert(fetched.partition().clone(), fetched.next_offset());
            let _ = fetched.each(|record| {
                if record.offset >= look.window.to {
                    return Ok::<_, Failure>(ControlFlow::Break(()));
                }
                look.seen.push(Seen::of(record));
                Ok(ControlFlow::Continue(()))
            })?;
        }
        let still = wanted(looks, &done);
        if still.len() < open.len() {
            reader.assign(still.clone());
        }
        open = still;
    }
    Ok(())
}

impl Look {
    /// That the position is not in the log, if so: what is shown is then the nearest that there is.
    fn outside(&self, one: &TopicPartition) -> Option<String> {
        let position = self.position;
        match self.standing {
            Standing::BeyondEnd => Some(format!(
                "{one}: the group is at {position}, beyond the end of the log at {}",
                self.log.end.offset
            )),
            Standing::BelowStart => Some(format!(
                "{one}: the group is at {position}, below the start of the log at {}",
                self.log.start.offset
            )),
            _ => None,
        }
    }
}

impl Seen {
    fn of(record: &Record<'_>) -> Self {
        Self {
            offset: record.offset,
            timestamp: record.timestamp,
            key: record.key.map(<[u8]>::to_vec),
            value: record.value.map(<[u8]>::to_vec),
        }
    }
}

fn report(peek: &Peek, looks: &BTreeMap<TopicPartition, Look>, wrong: &[Reason]) -> Report {
    let (mut rows, mut partitions) = (Vec::new(), Vec::new());
    for (one, look) in looks {
        let next = look.seen.iter().map(|seen| seen.offset).find(|offset| *offset >= look.position);
        let mut records = Vec::new();
        for seen in &look.seen {
            let place = match seen.offset {
                offset if offset < look.position => "read",
                offset if Some(offset) == next => "next",
                _ => "ahead",
            };
            rows.push(vec![
                one.topic.to_string().into(),
                one.partition.to_string().into(),
                seen.offset.to_string().into(),
                place.into(),
                Cell::or_dash(seen.timestamp.map(write_time)),
                short(seen.key.as_deref()).into(),
                short(seen.value.as_deref()).into(),
            ]);
            let mut record = Map::new();
            record.insert("offset".to_owned(), seen.offset.0.into());
            record.insert("place".to_owned(), place.into());
            record.insert("timestamp".to_owned(), seen.timestamp.map(|time| time.0).into());
            json::put_bytes(&mut record, "key", seen.key.as_deref());
            json::put_bytes(&mut record, "value", seen.value.as_deref());
            records.push(Value::Object(record));
        }
        partitions.push(json!({
            "topic": &*one.topic,
            "partition": one.partition.0,
            "position": look.position.0,
            "standing": look.standing.words(),
            "log_start": look.log.start.offset.0,
            "log_end": look.log.end.offset.0,
            "records": records,
        }));
    }
    let shown = |name| (name, Shown::Always);
    Report {
        columns: ["TOPIC", "PARTITION", "OFFSET", "PLACE", "TIME", "KEY", "VALUE"].map(shown).to_vec(),
        rows,
        document: json!({
            "version": DOCUMENT_VERSION,
            "group": peek.group,
            "partitions": partitions,
            "errors": wrong.iter().map(words::reason).collect::<Vec<_>>(),
        }),
    }
}

/// As much of it as fits into a table, on one line; a dash for null.
fn short(bytes: Option<&[u8]>) -> String {
    let Some(bytes) = bytes else { return "-".to_owned() };
    let text = String::from_utf8_lossy(bytes);
    let plain = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    let mut short: String = text.chars().take(SHOWN_CHARS).map(plain).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        short.push('…');
    }
    short
}
