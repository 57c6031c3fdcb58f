//! A JSON object a line for each look, for programs.

use std::time::{Duration, Instant};

use milepost_admin::watch::{CatchUp, Coverage, Watched, WatchedGroup, WatchedPartition};
use milepost_admin::{Lag, Reason};
use milepost_client::{ClientError, Cluster, Stop, TopicPartition};
use serde_json::{Map, Value, json};

use super::Watch;
use super::figures::milliseconds;
use super::looker::{self, Subject};
use crate::clock;
use crate::commands::group::words;
use crate::failure::Failure;
use crate::output::Output;
use crate::report::DOCUMENT_VERSION;

/// How often a wait looks whether it is still wanted.
const SLICE: Duration = Duration::from_millis(50);

/// Looks and writes until it was done often enough, somebody ends it, or nobody reads any more.
pub(super) fn run(watch: &Watch, mut cluster: Cluster, subject: &Subject) -> Result<(), Failure> {
    let stop = cluster.options().stop.clone();
    let begin = Instant::now();
    let mut watched = Watched::default();
    let mut output = Output::new();
    let mut done = 0;
    loop {
        let next = Instant::now() + watch.interval;
        let looked = looker::look(&mut cluster, subject, begin, |at, groups| {
            for group in groups {
                watched.note(at, group);
            }
        });
        let errors = match looked {
            Ok(ended) => {
                watched.end_look(ended.coverage);
                write_line(&mut output, Some(&watched), watch, &ended.errors)?;
                ended.errors
            }
            Err(ClientError::Stopped) => return stopped(watch),
            Err(error) => {
                watched.end_look(Coverage::Partial);
                let errors = vec![Reason::from(error)];
                write_line(&mut output, None, watch, &errors)?;
                errors
            }
        };
        done += 1;
        if watch.count.is_some_and(|count| done >= count) {
            return Failure::of_reasons(errors);
        }
        if !wait(next, &stop, &output)? {
            return stopped(watch);
        }
    }
}

/// Being stopped is how it ends, unless it was to end by itself.
fn stopped(watch: &Watch) -> Result<(), Failure> {
    if watch.count.is_some() { Err(Failure::Stopped) } else { Ok(()) }
}

/// Waits for that moment. False if a signal came first.
fn wait(until: Instant, stop: &Stop, output: &Output) -> Result<bool, Failure> {
    loop {
        if stop.is_set() {
            return Ok(false);
        }
        if output.is_abandoned() {
            return Err(Failure::NobodyReads);
        }
        match until.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => std::thread::sleep(left.min(SLICE)),
            _ => return Ok(true),
        }
    }
}

/// Writes a line group by group: of ten thousand it is never held as a whole.
fn write_line(
    output: &mut Output,
    watched: Option<&Watched>,
    watch: &Watch,
    errors: &[Reason],
) -> Result<(), Failure> {
    let now = clock::now().0;
    output.write(|out| write!(out, "{{\"version\":{DOCUMENT_VERSION},\"time_ms\":{now},\"groups\":["))?;
    let groups = watched.into_iter().flat_map(Watched::groups);
    let shown = groups.filter(|(_, group)| !watch.only_with_lag || group.is_behind());
    for (index, (name, group)) in shown.enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let object = group_object(name, group);
        output.write(|out| write!(out, "{comma}{object}"))?;
    }
    let errors: Value = errors.iter().map(words::reason).collect();
    output.write(|out| writeln!(out, "],\"errors\":{errors}}}"))?;
    output.flush()
}

fn group_object(name: &str, group: &WatchedGroup) -> Value {
    let figures = &group.figures;
    let mut object = Map::new();
    object.insert("group".to_owned(), name.into());
    object.insert("type".to_owned(), group.kind.as_ref().map(|kind| kind.name().to_owned()).into());
    object.insert("state".to_owned(), group.state.clone().into());
    object.insert("members".to_owned(), group.members.as_ref().map(Vec::len).into());
    object.insert("totals".to_owned(), words::totals(&figures.totals));
    object.insert("lag".to_owned(), figures.lag.into());
    object.extend(rates(figures.consumption, figures.production, figures.catch_up));
    let worst = figures.worst.as_ref();
    let worst = worst.map(|one| json!({ "topic": &*one.topic, "partition": one.partition.0 }));
    object.insert("worst".to_owned(), worst.into());
    let partitions = group.partitions.iter().map(|(place, one)| partition_object(group, place, one));
    object.insert("partitions".to_owned(), partitions.collect());
    if let Some(reason) = &group.unknown {
        object.insert("unknown".to_owned(), words::reason(reason));
    }
    Value::Object(object)
}

fn partition_object(group: &WatchedGroup, place: &TopicPartition, one: &WatchedPartition) -> Value {
    let mut object = Map::new();
    object.insert("topic".to_owned(), (*place.topic).into());
    object.insert("partition".to_owned(), place.partition.0.into());
    object.insert("offset".to_owned(), one.committed.map(|offset| offset.0).into());
    object.insert("log_end".to_owned(), one.end.map(|offset| offset.0).into());
    object.insert("standing".to_owned(), one.standing.words().into());
    object.insert("lag".to_owned(), words::lag_number(Some(&one.lag)));
    object.extend(rates(one.consumption(), one.production(), one.catch_up()));
    let member = group.member_of(one).map(|member| {
        json!({
            "member_id": member.member_id,
            "client_id": member.client_id,
            "host": member.host,
        })
    });
    object.insert("member".to_owned(), member.into());
    if let Lag::Unknown(reason) = &one.lag {
        object.insert("error".to_owned(), reason.words.as_str().into());
        object.insert("code".to_owned(), reason.code().into());
    }
    Value::Object(object)
}

fn rates(
    consumption: Option<f64>,
    production: Option<f64>,
    catch_up: Option<CatchUp>,
) -> [(String, Value); 4] {
    let (name, span) = match catch_up {
        None => (None, None),
        Some(CatchUp::Even) => (Some("even"), None),
        Some(CatchUp::KeepsUp) => (Some("keeps up"), None),
        Some(CatchUp::After(span)) => (Some("after"), Some(milliseconds(span))),
        Some(CatchUp::Never) => (Some("never"), None),
    };
    [
        ("consumed_per_second".to_owned(), consumption.into()),
        ("produced_per_second".to_owned(), production.into()),
        ("catch_up".to_owned(), name.into()),
        ("catch_up_ms".to_owned(), span.into()),
    ]
}
