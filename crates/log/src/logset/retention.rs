//! Retention: whole segments go once they are too old, or the log too large (`retention.ms`, `retention.bytes`).
//!
//! Only the log start moves here, by an entry in the journal; what lies below it goes as after DeleteRecords. Kafka's
//! order: first by size, then by age, the oldest first, and never past a segment that may stay.

use milepost_model::{Now, Offset, Timestamp};

use super::LogSet;
use crate::partition::{PartitionLog, Run};
use crate::segment::Segment;

impl LogSet {
    /// Looks for segments past their retention, if it is time for that.
    pub(super) fn retain(&mut self, now: Now) {
        if now.monotonic < self.next_retention_check {
            return;
        }
        self.next_retention_check = now.monotonic.plus_ms(self.settings.retention_check_interval_ms);
        for slot in 0..self.slots.len() {
            let Some(partition) = self.slots[slot].as_mut() else { continue };
            let begins_at = retained_from(partition, now.wall);
            if begins_at.unwrap_or(partition.log_start) == partition.log_end {
                // The last segment goes too; what comes next begins a new one.
                partition.roll_now(now.wall);
            }
            let id = partition.id;
            match begins_at {
                Some(offset) => {
                    tracing::debug!(partition = %id, %offset, "records are past their retention");
                    self.advance_log_start(id, offset).expect("it lies between log start and high watermark");
                }
                None => self.queue_removal_below_log_start(slot),
            }
        }
    }
}

/// Where the log begins after what is past its retention has gone; `None` if nothing is.
fn retained_from(partition: &PartitionLog, now: Timestamp) -> Option<Offset> {
    let is_fit = partition.created
        && !partition.deleting
        && partition.offline.is_none()
        && partition.config.cleanup.deletes()
        // A log start that is on its way is waited for.
        && partition.pending.iter().all(|run| matches!(run, Run::Data(_)));
    if !is_fit {
        return None;
    }
    let mut spare_bytes = partition
        .config
        .retention_bytes
        .map_or(0, |bound_bytes| partition.size_bytes().saturating_sub(bound_bytes));
    let mut end = None;
    let next_bases = partition.segments.iter().skip(1).map(Segment::base_offset).chain([partition.log_end]);
    for (segment, next_base) in partition.segments.iter().zip(next_bases) {
        let is_whole = segment.durable.log_bytes > 0
            && segment.durable.log_bytes == segment.accepted.log_bytes
            && next_base <= partition.high_watermark;
        let is_too_much =
            partition.config.retention_bytes.is_some() && spare_bytes >= segment.durable.log_bytes;
        if !is_whole || !(is_too_much || is_too_old(partition, segment, now)) {
            break;
        }
        spare_bytes = spare_bytes.saturating_sub(segment.durable.log_bytes);
        end = Some(next_base);
    }
    end.filter(|end| *end > partition.log_start)
}

fn is_too_old(partition: &PartitionLog, segment: &Segment, now: Timestamp) -> bool {
    let Some(retention_ms) = partition.config.retention_ms else { return false };
    let newest = segment.durable.max_timestamp.map_or(segment.created, |(timestamp, _)| timestamp);
    now.0.saturating_sub(newest.0) > retention_ms
}
