//! The format: a header in the first line, then one line for each partition of each group. Fields are only ever added.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use milepost_client::TopicPartition;
use milepost_client::groups::Committed;
use milepost_model::{LeaderEpoch, Offset, PartitionIndex, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Captured, Header, Place, Row, Snapshot};

/// The format's name, in the first line.
pub const FORMAT: &str = "milepost-offsets";
/// Its version. A file of another is refused.
pub const VERSION: u32 = 1;
/// The longest line that is read: metadata may have as many bytes as a broker lets it.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// The most rows that are read.
const ROWS_MAX: usize = 10_000_000;

#[derive(Serialize, Deserialize)]
struct HeaderLine {
    format: String,
    version: u32,
    name: String,
    label: Option<String>,
    created_ms: i64,
    cluster_id: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct RowLine {
    #[serde(default)]
    cluster_id: Option<String>,
    group: String,
    #[serde(default)]
    group_type: Option<String>,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    captured: Option<String>,
    #[serde(default)]
    topic: Option<String>,
    #[serde(default)]
    topic_id: Option<String>,
    #[serde(default)]
    partition: Option<i32>,
    #[serde(default)]
    offset: Option<i64>,
    #[serde(default)]
    leader_epoch: Option<i32>,
    #[serde(default)]
    metadata: Option<String>,
    #[serde(default)]
    commit_time_ms: Option<i64>,
    #[serde(default)]
    expire_time_ms: Option<i64>,
    #[serde(default)]
    log_start: Option<i64>,
    #[serde(default)]
    log_end: Option<i64>,
    #[serde(default)]
    record_time_ms: Option<i64>,
}

/// Writes a snapshot.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, snapshot: &Snapshot) -> io::Result<()> {
    let Header { name, label, created, cluster_id } = &snapshot.header;
    let header = HeaderLine {
        format: FORMAT.to_owned(),
        version: VERSION,
        name: name.clone(),
        label: label.clone(),
        created_ms: created.0,
        cluster_id: cluster_id.clone(),
    };
    writeln!(out, "{}", serde_json::to_string(&header)?)?;
    for row in &snapshot.rows {
        writeln!(out, "{}", serde_json::to_string(&line_of(row, cluster_id.as_ref()))?)?;
    }
    Ok(())
}

fn line_of(row: &Row, cluster_id: Option<&String>) -> RowLine {
    let place = row.place.as_ref();
    let committed = place.and_then(|place| place.committed.as_ref());
    RowLine {
        cluster_id: cluster_id.cloned(),
        group: row.group.clone(),
        group_type: row.kind.clone(),
        state: row.state.clone(),
        captured: Some(captured_name(row.captured).to_owned()),
        topic: place.map(|place| place.partition.topic.to_string()),
        topic_id: place.and_then(|place| place.topic_id.clone()),
        partition: place.map(|place| place.partition.partition.0),
        offset: committed.map(|committed| committed.offset.0),
        leader_epoch: committed.and_then(|committed| committed.leader_epoch).map(|epoch| epoch.0),
        metadata: committed.map(|committed| committed.metadata.clone()),
        commit_time_ms: place.and_then(|place| place.commit_time).map(|time| time.0),
        expire_time_ms: place.and_then(|place| place.expire_time).map(|time| time.0),
        log_start: place.and_then(|place| place.log_start).map(|offset| offset.0),
        log_end: place.and_then(|place| place.log_end).map(|offset| offset.0),
        record_time_ms: place.and_then(|place| place.record_time).map(|time| time.0),
    }
}

/// Reads a snapshot.
///
/// # Errors
/// What is wrong, with the number of the line.
pub fn read(input: &mut dyn BufRead) -> Result<Snapshot, String> {
    let mut line = String::new();
    if !next_line(input, &mut line, 1)? {
        return Err("the file is empty".to_owned());
    }
    let header: HeaderLine = serde_json::from_str(&line)
        .map_err(|error| format!("line 1: not the header of a snapshot: {error}"))?;
    if header.format != FORMAT || header.version != VERSION {
        let (format, version) = (header.format, header.version);
        return Err(format!("line 1: the file is {format} {version}, and {FORMAT} {VERSION} is read"));
    }
    let HeaderLine { name, label, created_ms, cluster_id, .. } = header;
    let header = Header { name, label, created: Timestamp(created_ms), cluster_id };
    let mut snapshot = Snapshot { header, rows: Vec::new() };
    let mut number = 2;
    while next_line(input, &mut line, number)? {
        if !line.trim().is_empty() {
            let row: RowLine =
                serde_json::from_str(&line).map_err(|error| format!("line {number}: {error}"))?;
            snapshot.rows.push(row_of(row).map_err(|error| format!("line {number}: {error}"))?);
        }
        if snapshot.rows.len() > ROWS_MAX {
            return Err(format!("the file has more than {ROWS_MAX} rows"));
        }
        number += 1;
    }
    check_apart(&snapshot)?;
    Ok(snapshot)
}

/// The next line; whether there was one.
fn next_line(input: &mut dyn BufRead, line: &mut String, number: usize) -> Result<bool, String> {
    line.clear();
    let read = io::Read::take(&mut *input, LINE_BYTES_MAX)
        .read_line(line)
        .map_err(|error| format!("line {number}: {error}"))?;
    match u64::try_from(read) {
        Ok(LINE_BYTES_MAX) => Err(format!("line {number} is longer than {LINE_BYTES_MAX} bytes")),
        _ => Ok(read > 0),
    }
}

fn row_of(line: RowLine) -> Result<Row, String> {
    let place = match (line.topic, line.partition) {
        (None, None) => None,
        (Some(topic), Some(partition)) if partition >= 0 => {
            let committed = match line.offset {
                None => None,
                Some(offset) if offset >= 0 => Some(Committed {
                    offset: Offset(offset),
                    leader_epoch: line.leader_epoch.filter(|epoch| *epoch >= 0).map(LeaderEpoch),
                    metadata: line.metadata.unwrap_or_default(),
                }),
                Some(offset) => return Err(format!("{offset} is no offset")),
            };
            Some(Place {
                partition: TopicPartition::new(topic, PartitionIndex(partition)),
                topic_id: line.topic_id,
                committed,
                commit_time: line.commit_time_ms.map(Timestamp),
                expire_time: line.expire_time_ms.map(Timestamp),
                log_start: line.log_start.map(Offset),
                log_end: line.log_end.map(Offset),
                record_time: line.record_time_ms.map(Timestamp),
            })
        }
        _ => return Err("a topic and a partition belong together".to_owned()),
    };
    // Who does not say so may have left something out.
    let is_whole = line.captured.as_deref() == Some(captured_name(Captured::Group));
    let captured = if is_whole { Captured::Group } else { Captured::Partitions };
    Ok(Row { group: line.group, kind: line.group_type, state: line.state, captured, place })
}

fn captured_name(captured: Captured) -> &'static str {
    match captured {
        Captured::Group => "group",
        Captured::Partitions => "partitions",
    }
}

/// Two rows of one partition that say different things: whichever was taken, the other would be lost.
fn check_apart(snapshot: &Snapshot) -> Result<(), String> {
    let mut said: BTreeMap<(&str, &TopicPartition), &Option<Committed>> = BTreeMap::new();
    for row in &snapshot.rows {
        let Some(place) = &row.place else { continue };
        let other = said.insert((&row.group, &place.partition), &place.committed);
        if other.is_some_and(|other| *other != place.committed) {
            return Err(format!("two rows of {} {} say different things", row.group, place.partition));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
