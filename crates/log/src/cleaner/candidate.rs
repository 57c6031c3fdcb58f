//! Which segments of a log a pass may touch, and whether it is worth one.
//!
//! The rules are Kafka's (facts of the cleaner): only sealed, durable segments below the last stable offset; none whose
//! newest record is younger than the minimum lag. What a pass has written carries a generation, so the clean part is the leading segments that
//! have one; nothing else is remembered.

use milepost_model::{Offset, Timestamp};

use crate::partition::PartitionLog;
use crate::segment::{Segment, SegmentId};

/// What a pass over a log would do.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// What is written anew, in order: the clean segments and then the dirty ones.
    pub(crate) sources: Vec<SegmentId>,
    /// How many of them are clean.
    pub(crate) clean_count: usize,
    /// The dirty share of their bytes.
    pub(crate) dirty_ratio: f64,
    /// A record has waited for its compaction longer than it may.
    pub(crate) is_overdue: bool,
}

impl Candidate {
    /// Whether the topic's settings ask for a pass.
    pub(crate) fn is_due(&self, partition: &PartitionLog) -> bool {
        self.is_overdue || self.dirty_ratio > partition.config.min_cleanable_dirty_ratio
    }
}

/// What could be cleaned; `None` if nothing dirty may be touched.
pub(crate) fn candidate(partition: &PartitionLog, now: Timestamp) -> Option<Candidate> {
    let is_fit = partition.created
        && partition.config.cleanup.compacts()
        && !partition.deleting
        && partition.offline.is_none()
        && partition.uncleanable.is_none()
        && partition.replacement.is_none()
        && partition.pins == 0;
    if !is_fit {
        return None;
    }
    // What lies wholly below the log start is about to be removed.
    let next_bases = partition.segments.iter().skip(1).map(Segment::base_offset);
    let sealed = partition.segments.iter().zip(next_bases);
    let live = sealed.skip_while(|(_, next_base)| *next_base <= partition.log_start);
    // Of what lies above it nobody knows yet whether it counts.
    let stable_end = partition.last_stable_offset();
    let cleanable = |(segment, next_base): &(&Segment, Offset)| {
        *next_base <= stable_end && is_durable(segment) && is_old_enough(partition, segment, now)
    };
    let sources: Vec<_> = live.take_while(cleanable).map(|(segment, _)| segment).collect();
    let clean_count = sources.iter().take_while(|segment| segment.id.generation > 0).count();
    let dirty = &sources[clean_count..];
    if dirty.is_empty() {
        return None;
    }
    let (clean_bytes, dirty_bytes) = (bytes_of(&sources[..clean_count]), bytes_of(dirty));
    let oldest = dirty.iter().filter_map(|segment| segment.durable.first_timestamp).min();
    let is_overdue =
        oldest.is_some_and(|oldest| now.0.saturating_sub(oldest.0) > partition.config.max_compaction_lag_ms);
    Some(Candidate {
        sources: sources.iter().map(|segment| segment.id).collect(),
        clean_count,
        dirty_ratio: share(dirty_bytes, clean_bytes + dirty_bytes),
        is_overdue,
    })
}

/// Whether an internal log has grown so far beyond its clean part that it is cleaned at once, whatever its settings.
pub(crate) fn is_early_due(partition: &PartitionLog, early_cleaning_bytes: u64) -> bool {
    /// Of a large log this part must be dirty: each pass writes the rest again.
    const DIRTY_PART: u64 = 4;
    let total_bytes = partition.size_bytes();
    total_bytes >= early_cleaning_bytes && dirty_bytes(partition) >= total_bytes / DIRTY_PART
}

/// Whether most of the dirty bytes are sealed already, so that rolling again would only make small segments.
pub(crate) fn sealed_share_is_enough(partition: &PartitionLog) -> bool {
    let last_bytes = partition.segments.back().map_or(0, |segment| segment.durable.log_bytes);
    last_bytes * 2 <= dirty_bytes(partition)
}

fn dirty_bytes(partition: &PartitionLog) -> u64 {
    let clean = partition.segments.iter().take_while(|segment| segment.id.generation > 0);
    partition.size_bytes() - clean.map(|segment| segment.durable.log_bytes).sum::<u64>()
}

fn is_durable(segment: &Segment) -> bool {
    segment.durable.log_bytes == segment.accepted.log_bytes
}

fn is_old_enough(partition: &PartitionLog, segment: &Segment, now: Timestamp) -> bool {
    let lag_ms = partition.config.min_compaction_lag_ms;
    let newest = segment.durable.max_timestamp.map_or(segment.created, |(timestamp, _)| timestamp);
    lag_ms == 0 || newest.0 <= now.0.saturating_sub(lag_ms)
}

fn bytes_of(segments: &[&Segment]) -> u64 {
    segments.iter().map(|segment| segment.durable.log_bytes).sum()
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
