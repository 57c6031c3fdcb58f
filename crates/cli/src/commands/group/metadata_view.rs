//! What known programs wrote beside a committed offset, for people and for programs.

use milepost_admin::commit_metadata::done_map::DoneMap;
use milepost_admin::commit_metadata::streams::StreamsMetadata;
use milepost_admin::commit_metadata::{self, CommitMetadata};
use milepost_admin::target::write_time;
use milepost_admin::{LogFacts, PartitionFacts};
use milepost_model::Offset;
use serde_json::{Value, json};

/// It, in a few words; nothing where nobody known wrote it.
pub(super) fn words(one: &PartitionFacts) -> Option<String> {
    Some(match decoded(one)? {
        CommitMetadata::Done(map) => done_words(&map, log_end(one)),
        CommitMetadata::Streams(said) => streams_words(&said),
    })
}

/// It, for programs; null where nobody known wrote it.
pub(super) fn object(one: &PartitionFacts) -> Value {
    match decoded(one) {
        None => Value::Null,
        Some(CommitMetadata::Done(map)) => done_object(&map, log_end(one)),
        Some(CommitMetadata::Streams(said)) => json!({
            "kind": "kafka-streams",
            "version": said.version,
            "partition_time": said.partition_time.map(|time| time.0),
            "processors": said.processors,
        }),
    }
}

fn decoded(one: &PartitionFacts) -> Option<CommitMetadata> {
    commit_metadata::decode(one.position.committed()?)
}

fn log_end(one: &PartitionFacts) -> Option<Offset> {
    one.log.as_ref().ok().map(|log: &LogFacts| log.end.offset)
}

fn done_words(map: &DoneMap, log_end: Option<Offset>) -> String {
    let done = format!("{} done behind the offset", map.done);
    match log_end.map(|end| map.remaining(end)) {
        Some(Some(remaining)) => format!("parallel consumer: {done}, {remaining} not done"),
        Some(None) => format!("parallel consumer: {done}, of a log that went on to {} at least", map.end),
        None => format!("parallel consumer: {done}"),
    }
}

fn streams_words(said: &StreamsMetadata) -> String {
    let time = said.partition_time.map_or_else(|| "none yet".to_owned(), write_time);
    let processors = match said.processors.len() {
        0 => String::new(),
        count => format!(", {count} processors"),
    };
    format!("Kafka Streams: time {time}{processors}")
}

fn done_object(map: &DoneMap, log_end: Option<Offset>) -> Value {
    let ranges = map.ranges.iter().map(|range| json!([range.first.0, range.last.0]));
    json!({
        "kind": "parallel-consumer",
        "encoding": map.encoding,
        "map_end": map.end.0,
        "done": map.done,
        "done_ranges": ranges.collect::<Vec<_>>(),
        "more_done_ranges": map.more_ranges,
        "remaining": log_end.and_then(|end| map.remaining(end)),
        "beyond_log_end": log_end.map(|end| map.remaining(end).is_none()),
    })
}
