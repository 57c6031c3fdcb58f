//! What stays of one batch (I9): the last record of every key, every tombstone for its time, and markers while they have
//! something to say.

use std::borrow::Cow;

use milepost_batch::{BatchError, BatchView, RecordView, Retained, retain_records};
use milepost_model::{Offset, Timestamp};

use super::key_map::KeyMap;
use super::transactions::{DataMet, Role};
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
    pub(super) stable_end: Offset,
    pub(super) now: Timestamp,
    pub(super) delete_retention_ms: i64,
}

impl Filter<'_> {
    /// The bytes that stay; `None` if the batch goes altogether. `decisions` is room that is used again.
    ///
    /// A batch that loses all its records stays as an empty one while it is a producer's last: readers of the log that
    /// rebuild producers from it would else accept the next batch's sequence number unseen. So does the last batch below
    /// the last stable offset, or readers of committed records would never reach that.
    ///
    /// # Errors
    /// [`BatchError`] when the batch cannot be read whole.
    pub(super) fn apply<'b>(
        &self,
        batch: &BatchView<'b>,
        role: Role,
        decisions: &mut Vec<bool>,
    ) -> Result<Option<Cow<'b, [u8]>>, BatchError> {
        let stays_as_it_is = matches!(role, Role::OtherControl | Role::Marker(DataMet::Some));
        if batch.base_offset() >= self.map_end || stays_as_it_is {
            return Ok(Some(Cow::Borrowed(batch.bytes())));
        }
        let mut needs_horizon = false;
        decisions.clear();
        for record in &batch.records()? {
            let record = record?;
            let keep = self.keeps(&record, role, batch.delete_horizon());
            // A marker without data goes after its time, like a tombstone.
            needs_horizon |= keep && (record.value.is_none() || role == Role::Marker(DataMet::None));
            decisions.push(keep);
        }
        if !decisions.contains(&true) && !self.must_stay(batch) {
            return Ok(None);
        }
        let new_horizon = (needs_horizon && batch.delete_horizon().is_none())
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

    fn keeps(&self, record: &RecordView<'_>, role: Role, horizon: Option<Timestamp>) -> bool {
        let is_in_time = horizon.is_none_or(|horizon| horizon > self.now);
        match role {
            Role::AbortedRecords => false,
            Role::Marker(_) | Role::OtherControl => is_in_time,
            // A record without a key has no place in a compacted log; it came before the log was one.
            Role::Records => record.key.is_some_and(|key| {
                (record.value.is_some() || is_in_time) && !self.map.is_superseded(key, record.offset)
            }),
        }
    }

    /// Whether something must be left of a batch.
    fn must_stay(&self, batch: &BatchView<'_>) -> bool {
        let told_at =
            |id| self.producers.one_durable_at(id, self.durable_end).map(ProducerView::last_told_at);
        let is_last_of_producer =
            || batch.producer().is_some_and(|producer| told_at(producer.id) == Some(batch.last_offset()));
        batch.next_offset() == self.stable_end || is_last_of_producer()
    }
}
