//! What a partition remembers of its idempotent producers: the last batches, to know a duplicate and to see a gap.
//!
//! State changes as soon as a batch is accepted, so that five requests in flight are checked in their order. What of
//! it is durable is found by offset: besides the batches that count for duplicates, those needed to say what the
//! state was at the high watermark are kept until it passes them.

use std::collections::BTreeMap;

use milepost_batch::{BatchView, sequence_after};
use milepost_model::{Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp};

/// How many of a producer's last batches are compared to find a duplicate; Kafka's number, and the most requests an
/// idempotent producer keeps in flight.
pub const DUPLICATE_WINDOW: usize = 5;

/// One batch of a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProducerBatch {
    pub(crate) epoch: ProducerEpoch,
    pub(crate) first_sequence: i32,
    pub(crate) last_sequence: i32,
    pub(crate) base_offset: Offset,
    pub(crate) last_offset: Offset,
    pub(crate) max_timestamp: Timestamp,
}

impl ProducerBatch {
    /// The part of a batch that is remembered; `None` when it comes from no numbered producer.
    pub(crate) fn of(batch: &BatchView<'_>) -> Option<(ProducerId, Self)> {
        let identity = batch.producer()?;
        let this = Self {
            epoch: identity.epoch,
            first_sequence: batch.base_sequence()?,
            last_sequence: batch.last_sequence()?,
            base_offset: batch.base_offset(),
            last_offset: batch.last_offset(),
            max_timestamp: batch.max_timestamp(),
        };
        Some((identity.id, this))
    }
}

/// What is remembered of one producer, as far as it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveProducer {
    /// Who it is.
    pub identity: ProducerIdentity,
    /// The sequence number of its last record.
    pub last_sequence: i32,
    /// The largest timestamp of its last batch.
    pub last_timestamp: Timestamp,
}

/// What is to be done with a client's batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SequenceCheck {
    Accept,
    Duplicate(ProducerBatch),
    /// The producer was started again under a higher epoch.
    StaleEpoch {
        known: ProducerEpoch,
    },
    /// A batch before this one is missing, or came twice and too late to be known.
    OutOfOrder {
        expected: i32,
    },
}

/// The producers of one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProducerStates(BTreeMap<ProducerId, Vec<ProducerBatch>>);

impl ProducerStates {
    /// Judges a batch of a client against what is known.
    pub(crate) fn check(&self, producer: ProducerIdentity, first: i32, last: i32) -> SequenceCheck {
        // Nothing known: the state may have expired, so any number is accepted, as Kafka does.
        let Some(batches) = self.0.get(&producer.id) else { return SequenceCheck::Accept };
        let Some(latest) = batches.last() else { return SequenceCheck::Accept };
        let window = batches.iter().rev().take(DUPLICATE_WINDOW);
        let same = |batch: &&ProducerBatch| {
            batch.epoch == producer.epoch && batch.first_sequence == first && batch.last_sequence == last
        };
        if producer.epoch == latest.epoch
            && let Some(original) = window.into_iter().find(same)
        {
            return SequenceCheck::Duplicate(*original);
        }
        if producer.epoch < latest.epoch {
            return SequenceCheck::StaleEpoch { known: latest.epoch };
        }
        let expected = if producer.epoch > latest.epoch { 0 } else { sequence_after(latest.last_sequence) };
        if first == expected { SequenceCheck::Accept } else { SequenceCheck::OutOfOrder { expected } }
    }

    /// Remembers an accepted batch. `durable_end` tells which older ones are no longer needed.
    pub(crate) fn add(&mut self, producer: ProducerId, batch: ProducerBatch, durable_end: Offset) {
        let batches = self.0.entry(producer).or_default();
        batches.push(batch);
        let durable = batches.iter().filter(|batch| batch.last_offset < durable_end).count();
        batches.drain(..durable.saturating_sub(DUPLICATE_WINDOW));
    }

    /// Puts back what [`ProducerStates::durable_at`] gave.
    pub(crate) fn restore(&mut self, producer: ProducerId, batches: Vec<ProducerBatch>) {
        self.0.insert(producer, batches);
    }

    /// The state as it was when the log ended at `end`: the last batches of each producer's epoch at that point.
    pub(crate) fn durable_at(&self, end: Offset) -> impl Iterator<Item = (ProducerId, &[ProducerBatch])> {
        self.0.iter().filter_map(move |(id, batches)| {
            let count = batches.partition_point(|batch| batch.last_offset < end);
            let durable = &batches[..count];
            let epoch = durable.last()?.epoch;
            let first = durable.partition_point(|batch| batch.epoch < epoch);
            Some((*id, &durable[first.max(count.saturating_sub(DUPLICATE_WINDOW))..]))
        })
    }

    /// The offset of a producer's last record.
    pub(crate) fn last_offset(&self, producer: ProducerId) -> Option<Offset> {
        Some(self.0.get(&producer)?.last()?.last_offset)
    }

    /// Forgets producers whose last batch is at least `expiration_ms` old and durable.
    pub(crate) fn expire(&mut self, now: Timestamp, expiration_ms: i64, durable_end: Offset) {
        self.0.retain(|_, batches| {
            batches.last().is_some_and(|last| {
                last.last_offset >= durable_end || now.0.saturating_sub(last.max_timestamp.0) < expiration_ms
            })
        });
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests;
