//! What the tests of the cleaner share: a log with small segments, cleaning it to the end, and what is left of it.

use milepost_batch::{BatchBuilder, BatchOptions, BatchView};
use milepost_log::{
    AppendOrigin, CleanupPolicy, FirstBatch, IsolationLevel, LogSet, LogSettings, PartitionConfig,
};
use milepost_model::{Offset, Timestamp, TopicPartition};

use super::{START_MS, now, settle};

pub(crate) const HOUR_MS: i64 = 3_600_000;

pub(crate) fn config() -> PartitionConfig {
    PartitionConfig {
        segment_bytes: 400,
        cleanup: CleanupPolicy::Compact,
        delete_retention_ms: HOUR_MS,
        ..PartitionConfig::default()
    }
}

pub(crate) fn settings() -> LogSettings {
    LogSettings { cleaner_backoff_ms: 0, early_cleaning_bytes: u64::MAX, ..LogSettings::default() }
}

/// One record a batch: the key, and the value or the lack of one.
pub(crate) fn put(set: &mut LogSet, id: TopicPartition, at_ms: i64, key: &str, value: Option<&str>) -> i64 {
    let mut builder = BatchBuilder::new(BatchOptions::default());
    builder
        .append(Timestamp(START_MS + at_ms), Some(key.as_bytes()), value.map(str::as_bytes), &[])
        .expect("fits");
    let batch = builder.build(Offset::ZERO);
    let appended = set.append(id, &batch, AppendOrigin::Client, now(at_ms)).expect("appends");
    settle(set, now(at_ms));
    appended.base_offset.0
}

/// Cleans until nothing is due.
pub(crate) fn clean(set: &mut LogSet, at_ms: i64) {
    for _ in 0..10_000 {
        let more = set.clean(now(at_ms), 300);
        settle(set, now(at_ms));
        if !more && !set.clean(now(at_ms), 300) {
            settle(set, now(at_ms));
            if !set.clean(now(at_ms), 300) {
                return;
            }
        }
    }
    panic!("it does not end");
}

pub(crate) fn compact_now(set: &mut LogSet, id: TopicPartition, at_ms: i64) {
    set.request_cleaning(id, now(at_ms));
    clean(set, at_ms);
    let log = set.log(id).expect("is there");
    assert!(!log.is_cleaning_wanted(), "it is done: {:?}", log.uncleanable());
}

/// Offset, key and value of everything that can be read.
pub(crate) fn content(set: &mut LogSet, id: TopicPartition) -> Vec<(i64, String, Option<String>)> {
    let mut all = Vec::new();
    for batch in batches(set, id) {
        let (batch, _) = BatchView::parse(&batch).expect("whole");
        for record in &batch.records().expect("opens") {
            let record = record.expect("reads");
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
            all.push((record.offset.0, text(record.key.unwrap_or(b"-")), record.value.map(text)));
        }
    }
    all
}

pub(crate) fn batches(set: &mut LogSet, id: TopicPartition) -> Vec<Vec<u8>> {
    let (mut from, end) = {
        let log = set.log(id).expect("is there");
        (log.log_start_offset(), log.high_watermark())
    };
    let mut all = Vec::new();
    while from < end {
        let bytes = set
            .read(id, from, 1000, FirstBatch::AlwaysWhole, IsolationLevel::ReadUncommitted)
            .expect("reads");
        assert!(!bytes.is_empty(), "nothing at {from} below {end}");
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (batch, after) = BatchView::parse(rest).expect("whole");
            assert!(batch.crc_matches());
            all.push(batch.bytes().to_vec());
            from = batch.next_offset();
            rest = after;
        }
    }
    all
}
