//! What stays of one batch (I9): the last record of every key, and every tombstone for its time.

use std::borrow::Cow;

use milepost_batch::{BatchError, BatchView, RecordView, Retained, retain_records};
use milepost_model::{Offset, Timestamp};

use super::key_map::KeyMap;
use crate::producer_state::{ProducerStates, ProducerView};

/// What decides.
#[derive(Clone, Copy)]
pub(super) struct Filter<'a> {
    /// The last offset of each key below `map_end`.
    pub(super) map: &'a KeyMap,
    /// Batches from here on stay as they are.
    pub(super) map_end: Offset,
    pub(super) producers: &'a ProducerStates,
    pub(super) durable_end: Offset,
    pub(super) now: Timestamp,
    pub(super) delete_retention_ms: i64,
}

impl Filter<'_> {
    /// The bytes that stay; `None` if the batch goes altogether. `decisions` is room that is used again.
    ///
    /// A batch that loses all its records stays as an empty one while it is a producer's last: readers of the log that
    /// rebuild producers from it would else accept the next batch's sequence number unseen.
    ///
    /// # Errors
    /// [`BatchError`] when the batch cannot be read whole.
    pub(super) fn apply<'b>(
        &self,
        batch: &BatchView<'b>,
        decisions: &mut Vec<bool>,
    ) -> Result<Option<Cow<'b, [u8]>>, BatchError> {
        if batch.base_offset() >= self.map_end || batch.is_control() {
            return Ok(Some(Cow::Borrowed(batch.bytes())));
        }
        let mut keeps_tombstone = false;
        decisions.clear();
        for record in &batch.records()? {
            let record = record?;
            let keep = self.keeps(&record, batch.delete_horizon());
            keeps_tombstone |= keep && record.value.is_none();
            decisions.push(keep);
        }
        if !decisions.contains(&true) && !self.is_last_of_producer(batch) {
            return Ok(None);
        }
        let new_horizon = (keeps_tombstone && batch.delete_horizon().is_none())
            .then(|| Timestamp(self.now.0.saturating_add(self.delete_retention_ms)));
        if !decisions.contains(&false) && new_horizon.is_none() {
            return Ok(Some(Cow::Borrowed(batch.bytes())));
        }
        let mut decided = decisions.iter().copied();
        let keep = |_: &RecordView<'_>| decided.next().expect("the same records are iterated again");
        Ok(Some(match retain_records(batch, new_horizon, keep)? {
            Retained::Unchanged => Cow::Borrowed(batch.bytes()),
            Retained::Rewritten(bytes) => Cow::Owned(bytes),
        }))
    }

    /// A record without a key has no place in a compacted log; it came before the log was one.
    fn keeps(&self, record: &RecordView<'_>, horizon: Option<Timestamp>) -> bool {
        let Some(key) = record.key else { return false };
        let is_in_time = record.value.is_some() || horizon.is_none_or(|horizon| horizon > self.now);
        is_in_time && !self.map.is_superseded(key, record.offset)
    }

    fn is_last_of_producer(&self, batch: &BatchView<'_>) -> bool {
        let told_at =
            |id| self.producers.one_durable_at(id, self.durable_end).map(ProducerView::last_told_at);
        batch.producer().is_some_and(|producer| told_at(producer.id) == Some(batch.last_offset()))
    }
}
