//! From topic settings to what one partition's log is told.

use milepost_batch::{Codec, Compression, TimestampRange, TimestampType};
use milepost_log::{CleanupPolicy, PartitionConfig};

use super::topic::TopicSettings;

/// The settings of a partition's log.
pub(crate) fn partition_config(settings: &TopicSettings<'_>) -> PartitionConfig {
    let size = |name: &str| u64::try_from(settings.number(name)).expect("sizes are bounded from below");
    // The largest number is Kafka's way of saying "no bound".
    let bound = |name: &str| Some(settings.number(name)).filter(|max| *max < i64::MAX);
    PartitionConfig {
        max_message_bytes: usize::try_from(settings.number("max.message.bytes"))
            .expect("sizes are bounded from below"),
        segment_bytes: size("segment.bytes"),
        segment_ms: settings.number("segment.ms"),
        segment_index_bytes: size("segment.index.bytes"),
        index_interval_bytes: size("index.interval.bytes"),
        timestamp_type: if settings.has_word("message.timestamp.type", "LogAppendTime") {
            TimestampType::LogAppendTime
        } else {
            TimestampType::CreateTime
        },
        timestamps: TimestampRange {
            before_max_ms: bound("message.timestamp.before.max.ms"),
            after_max_ms: bound("message.timestamp.after.max.ms"),
        },
        compression: compression(settings),
        cleanup: cleanup_policy(settings),
        retention_ms: Some(settings.number("retention.ms")).filter(|retention_ms| *retention_ms >= 0),
        retention_bytes: u64::try_from(settings.number("retention.bytes")).ok(),
        delete_retention_ms: settings.number("delete.retention.ms"),
        min_compaction_lag_ms: settings.number("min.compaction.lag.ms"),
        max_compaction_lag_ms: settings.number("max.compaction.lag.ms"),
        min_cleanable_dirty_ratio: settings.ratio("min.cleanable.dirty.ratio"),
    }
}

fn cleanup_policy(settings: &TopicSettings<'_>) -> CleanupPolicy {
    let has = |word: &str| settings.has_word("cleanup.policy", word);
    match (has("delete"), has("compact")) {
        (false, false) => CleanupPolicy::Keep,
        (true, false) => CleanupPolicy::Delete,
        (false, true) => CleanupPolicy::Compact,
        (true, true) => CleanupPolicy::CompactAndDelete,
    }
}

/// How the broker compresses what clients send; `None` where it stays as it came.
fn compression(settings: &TopicSettings<'_>) -> Option<Compression> {
    let level = |name| i32::try_from(settings.number(name)).ok();
    let (codec, level) = match settings.word("compression.type") {
        "uncompressed" => (Codec::None, None),
        "gzip" => (Codec::Gzip, level("compression.gzip.level")),
        "snappy" => (Codec::Snappy, None),
        "lz4" => (Codec::Lz4, None),
        "zstd" => (Codec::Zstd, level("compression.zstd.level")),
        _ => return None,
    };
    Some(Compression { codec, level })
}
