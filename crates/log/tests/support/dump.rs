//! The rules by which Kafka's DumpLogSegments judges segment files.

use std::collections::BTreeMap;

use milepost_batch::{BatchView, ControlType, Marker};
use milepost_model::TransactionEnd;

/// Checks every segment among these files, named `folder/file`. Says what the tool would complain about.
pub(crate) fn check_segment_files(files: &BTreeMap<String, Vec<u8>>) -> Result<usize, String> {
    let mut checked = 0;
    for (path, log) in files {
        let Some(stem) = path.strip_suffix(".log") else { continue };
        let name = stem.rsplit('/').next().expect("at least one part");
        let base: i64 = name.parse().map_err(|_| format!("{path}: no base offset"))?;
        let batches = batches(path, log)?;
        if let Some(index) = files.get(&format!("{stem}.index")) {
            check_index(path, base, index, &batches)?;
        }
        if let Some(index) = files.get(&format!("{stem}.timeindex")) {
            check_time_index(path, base, index, &batches)?;
        }
        if let Some(index) = files.get(&format!("{stem}.txnindex")) {
            check_abort_index(path, index, log)?;
        }
        checked += 1;
    }
    Ok(checked)
}

/// Position, last offset and true largest timestamp of each batch.
fn batches(path: &str, log: &[u8]) -> Result<Vec<(usize, i64, i64)>, String> {
    let mut all = Vec::new();
    let mut rest = log;
    while !rest.is_empty() {
        let position = log.len() - rest.len();
        let (batch, after) =
            BatchView::parse(rest).map_err(|error| format!("{path} at {position}: {error}"))?;
        if !batch.crc_matches() {
            return Err(format!("{path} at {position}: the checksum is wrong"));
        }
        let records = batch.records().map_err(|error| format!("{path} at {position}: {error}"))?;
        let times = records.iter().map(|record| record.map(|record| record.timestamp.0));
        let max = times.max_by_key(|time| time.as_ref().copied().unwrap_or(i64::MIN));
        all.push((
            position,
            batch.last_offset().0,
            max.expect("no empty batch").map_err(|error| error.to_string())?,
        ));
        rest = after;
    }
    Ok(all)
}

fn check_index(path: &str, base: i64, index: &[u8], batches: &[(usize, i64, i64)]) -> Result<(), String> {
    if !index.len().is_multiple_of(8) {
        return Err(format!("{path}: its index has {} bytes", index.len()));
    }
    let mut last = None;
    for entry in index.chunks_exact(8) {
        let offset = base + i64::from(i32::from_be_bytes(entry[..4].try_into().expect("four")));
        let position = i32::from_be_bytes(entry[4..].try_into().expect("four")) as usize;
        let there = batches.iter().find(|(at, ..)| *at == position);
        if there.is_none_or(|(_, last_offset, _)| *last_offset != offset) || position == 0 {
            return Err(format!("{path}: index entry {offset} at {position} finds {there:?}"));
        }
        if last.is_some_and(|last| last >= offset) {
            return Err(format!("{path}: index entries do not ascend at {offset}"));
        }
        last = Some(offset);
    }
    Ok(())
}

fn check_time_index(
    path: &str,
    base: i64,
    index: &[u8],
    batches: &[(usize, i64, i64)],
) -> Result<(), String> {
    if !index.len().is_multiple_of(12) {
        return Err(format!("{path}: its time index has {} bytes", index.len()));
    }
    let mut last = None;
    for entry in index.chunks_exact(12) {
        let timestamp = i64::from_be_bytes(entry[..8].try_into().expect("eight"));
        let offset = base + i64::from(i32::from_be_bytes(entry[8..].try_into().expect("four")));
        let there = batches.iter().find(|(_, last_offset, _)| *last_offset == offset);
        if there.is_none_or(|(_, _, max)| *max != timestamp) {
            return Err(format!("{path}: time index entry {timestamp} for {offset} finds {there:?}"));
        }
        if batches.iter().any(|(_, last_offset, max)| *last_offset < offset && *max >= timestamp) {
            return Err(format!("{path}: time index entry {timestamp} for {offset} was reached before"));
        }
        if last.is_some_and(|last| last >= timestamp) {
            return Err(format!("{path}: time index entries do not ascend at {timestamp}"));
        }
        last = Some(timestamp);
    }
    Ok(())
}

/// Every entry names an abort marker of the segment, in their order.
fn check_abort_index(path: &str, index: &[u8], log: &[u8]) -> Result<(), String> {
    if index.is_empty() || !index.len().is_multiple_of(34) {
        return Err(format!("{path}: its abort index has {} bytes", index.len()));
    }
    let mut markers = BTreeMap::new();
    let mut rest = log;
    while !rest.is_empty() {
        let (batch, after) = BatchView::parse(rest).map_err(|error| error.to_string())?;
        let control = batch.control_type().map_err(|error| error.to_string())?;
        if let Some(ControlType::Marker(Marker { end: TransactionEnd::Abort, .. })) = control {
            markers.insert(batch.base_offset().0, batch.producer().map(|producer| producer.id.0));
        }
        rest = after;
    }
    let mut previous = -1;
    for entry in index.chunks_exact(34) {
        let long = |at: usize| i64::from_be_bytes(entry[at..at + 8].try_into().expect("eight"));
        let (version, producer, first, last, stable) = (&entry[..2], long(2), long(10), long(18), long(26));
        let is_known = markers.get(&last) == Some(&Some(producer));
        if version != [0, 0] || !is_known || first >= last || stable > last + 1 || last <= previous {
            return Err(format!("{path}: abort entry of {producer} from {first} to {last}, stable {stable}"));
        }
        previous = last;
    }
    Ok(())
}
