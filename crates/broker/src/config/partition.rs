//! From topic settings to what one partition's log is told.

use milepost_batch::{KeyRule, TimestampRange, TimestampType};
use milepost_log::PartitionConfig;

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
        keys: if settings.has_word("cleanup.policy", "compact") {
            KeyRule::Required
        } else {
            KeyRule::Optional
        },
    }
}
