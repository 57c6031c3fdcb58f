//! Markers on their way: those of each transaction that ended, until every one is durable and its coordinator knows.
//!
//! What cannot be written now (a full disk, a log that is not open yet) is tried again, less and less often. A partition
//! that is gone needs no marker. There is at most one such work for a transactional id: its coordinator lets no other
//! transaction begin before it has heard of the last one's markers, so that a late marker can never end the next one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use milepost_batch::Marker;
use milepost_log::{AppendError, MarkerEpoch};
use milepost_model::{Instant, Now, Offset, PartitionIndex, ProducerIdentity, TopicPartition};
use milepost_transactions::{Request, TransactionPartition, WriteMarkers};

use super::Node;
use super::transactions::TransactionAnswer;
use crate::topics::{self, OFFSETS_TOPIC, TRANSACTIONS_TOPIC};

#[cfg(test)]
mod tests;

/// How long the first try again waits; each further one twice as long.
const RETRY_MIN_MS: u64 = 50;
/// The longest wait between two tries.
const RETRY_MAX_MS: u64 = 5_000;

/// All markers on their way.
#[derive(Debug, Default)]
pub(crate) struct MarkerWrites {
    /// By transactional id.
    works: BTreeMap<Arc<str>, Work>,
    next_number: u64,
    /// Markers that are written and not durable, in the order of the log, by the number of their work.
    by_partition: BTreeMap<TopicPartition, VecDeque<(Offset, Arc<str>, u64)>>,
    by_deadline: BTreeSet<(Instant, Arc<str>)>,
}

/// The markers of one transaction.
#[derive(Debug)]
struct Work {
    markers: Arc<WriteMarkers>,
    /// Tells it from an earlier one of the same transactional id.
    number: u64,
    unwritten: Vec<TransactionPartition>,
    /// How many are written and not durable yet.
    in_flight: usize,
    /// The coordinator was told that all are durable, and has not answered.
    is_reported: bool,
    retry_at: Option<Instant>,
    pause_ms: u64,
}

impl MarkerWrites {
    /// When something is to be tried again.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.by_deadline.first().map(|(deadline, _)| *deadline)
    }

    /// Takes a work in. `false`: it is being done already.
    fn begin(&mut self, markers: WriteMarkers) -> bool {
        if let Some(known) = self.works.get(&markers.transactional_id) {
            let (known, asked) = (&known.markers, &markers);
            let of = |one: &WriteMarkers| (one.producer, one.end, one.prepared_at);
            if of(known) == of(asked) {
                return false;
            }
        }
        let id = Arc::clone(&markers.transactional_id);
        self.end(&id);
        self.next_number += 1;
        let work = Work {
            unwritten: markers.partitions.iter().cloned().collect(),
            markers: Arc::new(markers),
            number: self.next_number,
            in_flight: 0,
            is_reported: false,
            retry_at: None,
            pause_ms: RETRY_MIN_MS,
        };
        self.works.insert(id, work);
        true
    }

    fn end(&mut self, id: &Arc<str>) {
        if let Some(Work { retry_at: Some(at), .. }) = self.works.remove(id) {
            self.by_deadline.remove(&(at, Arc::clone(id)));
        }
    }

    fn retry(&mut self, now: Instant, id: &Arc<str>) {
        if let Some(work) = self.works.get_mut(id)
            && work.retry_at.is_none()
        {
            let at = now.plus_ms(work.pause_ms);
            work.retry_at = Some(at);
            work.pause_ms = (work.pause_ms * 2).min(RETRY_MAX_MS);
            self.by_deadline.insert((at, Arc::clone(id)));
        }
    }

    fn due(&mut self, now: Instant) -> Vec<Arc<str>> {
        let due: Vec<_> = self.by_deadline.extract_if(.., |(at, _)| *at <= now).map(|(_, id)| id).collect();
        for id in &due {
            if let Some(work) = self.works.get_mut(id) {
                work.retry_at = None;
            }
        }
        due
    }

    fn written(&mut self, id: &Arc<str>, partition: TopicPartition, offset: Offset) {
        if let Some(work) = self.works.get_mut(id) {
            work.in_flight += 1;
            let queue = self.by_partition.entry(partition).or_default();
            queue.push_back((offset, Arc::clone(id), work.number));
        }
    }

    /// The markers of a partition below `end` are durable, or it is gone (`None`): the works that one is less missing for.
    fn passed(&mut self, partition: TopicPartition, end: Option<Offset>) -> Vec<Arc<str>> {
        let Some(queue) = self.by_partition.get_mut(&partition) else { return Vec::new() };
        let mut passed = Vec::new();
        while let Some((_, id, number)) = queue.pop_front_if(|(at, ..)| end.is_none_or(|end| *at < end)) {
            if let Some(work) = self.works.get_mut(&id).filter(|work| work.number == number) {
                work.in_flight -= 1;
                passed.push(id);
            }
        }
        if queue.is_empty() {
            self.by_partition.remove(&partition);
        }
        passed
    }
}

impl Node {
    /// Begins to write the markers of a transaction.
    pub(super) fn begin_markers(&mut self, now: Now, markers: WriteMarkers) {
        let id = Arc::clone(&markers.transactional_id);
        if self.transactions.markers.begin(markers) {
            self.write_markers(now, &id);
        }
    }

    fn write_markers(&mut self, now: Now, id: &Arc<str>) {
        let Some(work) = self.transactions.markers.works.get_mut(id) else { return };
        let markers = Arc::clone(&work.markers);
        let marker = Marker { end: markers.end, coordinator_epoch: markers.coordinator_epoch.0 };
        let rule =
            if markers.version.bumps_epoch() { MarkerEpoch::AboveKnown } else { MarkerEpoch::AtLeastKnown };
        let mut unwritten = Vec::new();
        for partition in std::mem::take(&mut work.unwritten) {
            let (topic, index) = (&partition.topic, partition.partition);
            let mut append = |marker| self.append_marker(now, topic, index, markers.producer, marker, rule);
            let appended = match append(marker) {
                // All coordinators are in this process, so the later epoch came by hand (WriteTxnMarkers). Without a
                // marker the transaction would stay open there for ever.
                Err(AppendError::StaleCoordinatorEpoch { known }) => {
                    append(Marker { coordinator_epoch: known, ..marker })
                }
                appended => appended,
            };
            match appended {
                Ok(None) => {}
                Ok(Some((at, offset))) => self.transactions.markers.written(id, at, offset),
                // The partition knows of a later end. There is nothing left to end.
                Err(error @ AppendError::StaleProducerEpoch { .. }) => {
                    tracing::warn!("{topic}-{index} needs no marker of {id:?}: {error}");
                }
                Err(error) => {
                    tracing::debug!("a marker of {id:?} is written later: {error}");
                    unwritten.push(partition);
                }
            }
        }
        if !unwritten.is_empty() {
            if let Some(work) = self.transactions.markers.works.get_mut(id) {
                work.unwritten = unwritten;
            }
            self.transactions.markers.retry(now.monotonic, id);
        }
        self.report_markers(now, id);
    }

    /// Appends a marker to a partition and says where it is. `None`: there is no such partition.
    pub(crate) fn append_marker(
        &mut self,
        now: Now,
        topic: &str,
        partition: PartitionIndex,
        producer: ProducerIdentity,
        marker: Marker,
        rule: MarkerEpoch,
    ) -> Result<Option<(TopicPartition, Offset)>, AppendError> {
        let found = self.metadata.image().topic(topic);
        let Some(id) = found.and_then(|found| topics::partition(found, partition.0)) else { return Ok(None) };
        let logs = &mut self.logs;
        // A coordinator has to know of all that comes into its log.
        let offset = match (topic, &mut self.transactions.coordinators) {
            (OFFSETS_TOPIC, _) => {
                self.coordinators.append_marker(logs, now, partition, producer, marker, rule)?
            }
            (TRANSACTIONS_TOPIC, Some(coordinators)) => {
                coordinators.append_marker(logs, now, partition, producer, marker, rule)?
            }
            _ => logs.append_marker(id, producer, marker, rule, now)?.base_offset,
        };
        Ok(Some((id, offset)))
    }

    /// Tells the coordinator once every marker is durable.
    fn report_markers(&mut self, now: Now, id: &Arc<str>) {
        let Some(work) = self.transactions.markers.works.get_mut(id) else { return };
        if work.in_flight > 0 || !work.unwritten.is_empty() || work.is_reported {
            return;
        }
        work.is_reported = true;
        let markers = Arc::clone(&work.markers);
        let then = TransactionAnswer::MarkersWritten(Arc::clone(id), work.number);
        self.ask_transactions(now, then, id, Request::MarkersWritten(&markers));
        // The next transaction may begin behind the record that was just made of it.
        self.verify_held(now, id);
    }

    /// The coordinator was told. If it could not take note (a full disk, say), it is told again.
    pub(super) fn markers_noted(&mut self, now: Now, id: &Arc<str>, number: u64, is_noted: bool) {
        let writes = &mut self.transactions.markers;
        let Some(work) = writes.works.get_mut(id).filter(|work| work.number == number) else { return };
        if is_noted {
            writes.end(id);
        } else {
            work.is_reported = false;
            writes.retry(now.monotonic, id);
        }
    }

    /// A partition became durable up to `end`.
    pub(super) fn advance_markers(&mut self, now: Now, partition: TopicPartition, end: Offset) {
        for id in self.transactions.markers.passed(partition, Some(end)) {
            self.report_markers(now, &id);
        }
    }

    /// A partition is gone.
    pub(super) fn forget_markers(&mut self, now: Now, partition: TopicPartition) {
        for id in self.transactions.markers.passed(partition, None) {
            self.report_markers(now, &id);
        }
    }

    /// Tries again what is due.
    pub(super) fn retry_markers(&mut self, now: Now) {
        for id in self.transactions.markers.due(now.monotonic) {
            self.write_markers(now, &id);
        }
    }
}
