//! What a partition remembers of its producers: the last batches, to know a duplicate and to see a gap, the epochs of
//! the producer and of its transaction coordinator, and where its open transaction began.
//!
//! State changes as soon as a batch is accepted, so that five requests in flight are checked in their order. What of
//! it is durable is found by offset: each step says how the producer stood after it, and besides those that count for
//! duplicates the steps that are needed to say what the state was at the high watermark are kept until it passes them.

use std::collections::BTreeMap;

use milepost_batch::{BatchView, ControlType, Marker, sequence_after};
use milepost_model::{Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TransactionEnd};

use crate::settings::MarkerEpoch;
use crate::transactions::{AbortEntry, Unstable};

/// How many of a producer's last batches are compared to find a duplicate; Kafka's number, and the most requests an
/// idempotent producer keeps in flight.
pub const DUPLICATE_WINDOW: usize = 5;

/// A batch or a marker of a producer, and how the producer stood after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProducerStep {
    pub(crate) epoch: ProducerEpoch,
    /// The first and the last sequence number; `None` for a marker.
    pub(crate) sequences: Option<(i32, i32)>,
    pub(crate) base_offset: Offset,
    pub(crate) last_offset: Offset,
    /// The largest one of the batch.
    pub(crate) timestamp: Timestamp,
    /// Of the last marker so far.
    pub(crate) coordinator_epoch: Option<i32>,
    /// Where the transaction began that is open after this step.
    pub(crate) transaction_start: Option<Offset>,
}

/// What is remembered of one producer, as far as it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveProducer {
    /// Who it is.
    pub identity: ProducerIdentity,
    /// The sequence number of its last record; `None` while its epoch is only known by a marker.
    pub last_sequence: Option<i32>,
    /// The largest timestamp of its last batch, or that of its last marker.
    pub last_timestamp: Timestamp,
    /// The epoch of the transaction coordinator that wrote its last marker.
    pub coordinator_epoch: Option<i32>,
    /// Where its open transaction began, if it has one.
    pub transaction_start: Option<Offset>,
}

impl ActiveProducer {
    pub(crate) fn new(id: ProducerId, producer: ProducerView<'_>) -> Self {
        let last = producer.last;
        Self {
            identity: ProducerIdentity { id, epoch: last.epoch },
            last_sequence: producer.last_sequence(),
            last_timestamp: last.timestamp,
            coordinator_epoch: last.coordinator_epoch,
            transaction_start: last.transaction_start,
        }
    }
}

/// What is to be done with a batch or a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProducerCheck {
    Accept,
    Duplicate(ProducerStep),
    /// The producer was started again under a higher epoch.
    StaleEpoch {
        known: ProducerEpoch,
    },
    /// A batch before this one is missing, or came twice and too late to be known.
    OutOfOrder {
        expected: i32,
    },
    /// The producer has an open transaction, and the batch does not belong to one.
    OutsideTransaction,
    /// The transaction coordinator was replaced by one of a higher epoch.
    StaleCoordinatorEpoch {
        known: i32,
    },
}

/// One producer as it was at some offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProducerView<'a> {
    pub(crate) last: &'a ProducerStep,
    steps: &'a [ProducerStep],
}

impl<'a> ProducerView<'a> {
    /// How it stood after the last of these steps, if there is any.
    fn after(steps: &'a [ProducerStep]) -> Option<Self> {
        steps.last().map(|last| Self { last, steps })
    }

    /// The last numbered batches of its epoch, as many as are compared to find a duplicate, the last one first.
    pub(crate) fn batches(self) -> impl Iterator<Item = &'a ProducerStep> {
        // Epochs only rise, so the present one is at the end.
        let of_epoch = self.steps.iter().rev().take_while(move |step| step.epoch == self.last.epoch);
        of_epoch.filter(|step| step.sequences.is_some()).take(DUPLICATE_WINDOW)
    }

    fn last_sequence(self) -> Option<i32> {
        self.batches().next().and_then(|step| step.sequences).map(|(_, last)| last)
    }

    /// The offset of the batch that says the most of its state: its last numbered one, or else its last marker.
    pub(crate) fn last_told_at(self) -> Offset {
        self.batches().next().unwrap_or(self.last).last_offset
    }
}

/// The producers of one partition, and the transactions that keep its last stable offset back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProducerStates {
    steps: BTreeMap<ProducerId, Vec<ProducerStep>>,
    unstable: Unstable,
}

impl ProducerStates {
    /// How a producer stands after all that was accepted.
    fn latest(&self, producer: ProducerId) -> Option<ProducerView<'_>> {
        ProducerView::after(self.steps.get(&producer)?)
    }

    /// Judges a batch of a client against what is known.
    pub(crate) fn check_client(
        &self,
        producer: ProducerIdentity,
        sequences: (i32, i32),
        belongs_to: BelongsTo,
    ) -> ProducerCheck {
        // Nothing known: the state may have expired, so any number is accepted, as Kafka does.
        let Some(known) = self.latest(producer.id) else { return ProducerCheck::Accept };
        if producer.epoch == known.last.epoch
            && let Some(original) = known.batches().find(|step| step.sequences == Some(sequences))
        {
            return ProducerCheck::Duplicate(*original);
        }
        if producer.epoch < known.last.epoch {
            return ProducerCheck::StaleEpoch { known: known.last.epoch };
        }
        let last = known.last_sequence().filter(|_| producer.epoch == known.last.epoch);
        let expected = last.map_or(0, sequence_after);
        if sequences.0 != expected {
            return ProducerCheck::OutOfOrder { expected };
        }
        check_transaction(known, belongs_to)
    }

    /// Judges a batch of a coordinator, whose sequence numbers say nothing.
    pub(crate) fn check_coordinator(
        &self,
        producer: ProducerIdentity,
        belongs_to: BelongsTo,
    ) -> ProducerCheck {
        let Some(known) = self.latest(producer.id) else { return ProducerCheck::Accept };
        if producer.epoch < known.last.epoch {
            return ProducerCheck::StaleEpoch { known: known.last.epoch };
        }
        check_transaction(known, belongs_to)
    }

    /// Judges a marker.
    pub(crate) fn check_marker(
        &self,
        producer: ProducerIdentity,
        coordinator_epoch: i32,
        rule: MarkerEpoch,
    ) -> ProducerCheck {
        let Some(ProducerView { last, .. }) = self.latest(producer.id) else { return ProducerCheck::Accept };
        let is_fresh = match rule {
            MarkerEpoch::AtLeastKnown => producer.epoch >= last.epoch,
            // One that comes again finds its own epoch, and nothing open.
            MarkerEpoch::AboveKnown if last.transaction_start.is_none() => producer.epoch >= last.epoch,
            MarkerEpoch::AboveKnown => producer.epoch > last.epoch,
        };
        if !is_fresh {
            return ProducerCheck::StaleEpoch { known: last.epoch };
        }
        match last.coordinator_epoch {
            Some(known) if known > coordinator_epoch => ProducerCheck::StaleCoordinatorEpoch { known },
            _ => ProducerCheck::Accept,
        }
    }

    /// Takes in an accepted batch, if it says anything of a producer. `durable_end` tells what is no longer needed.
    /// Gives the entry for the abort index if the batch aborts a transaction.
    pub(crate) fn accept(&mut self, batch: &BatchView<'_>, durable_end: Offset) -> Option<AbortEntry> {
        let producer = batch.producer()?;
        if !batch.is_control() {
            self.accept_data(producer, batch, durable_end);
            return None;
        }
        // A control batch that is something else, or that cannot be read, ends nothing.
        match batch.control_type() {
            Ok(Some(ControlType::Marker(marker))) => self.accept_marker(producer, batch, marker, durable_end),
            _ => None,
        }
    }

    fn accept_data(&mut self, producer: ProducerIdentity, batch: &BatchView<'_>, durable_end: Offset) {
        let before = self.latest(producer.id).map(|known| *known.last);
        let mut transaction_start = before.and_then(|step| step.transaction_start);
        if batch.is_transactional() && transaction_start.is_none() {
            transaction_start = Some(batch.base_offset());
            self.unstable.begin(producer.id, batch.base_offset());
        }
        let step = ProducerStep {
            epoch: producer.epoch,
            sequences: batch.base_sequence().zip(batch.last_sequence()),
            base_offset: batch.base_offset(),
            last_offset: batch.last_offset(),
            timestamp: batch.max_timestamp(),
            coordinator_epoch: before.and_then(|step| step.coordinator_epoch),
            transaction_start,
        };
        self.add(producer.id, step, durable_end);
    }

    fn accept_marker(
        &mut self,
        producer: ProducerIdentity,
        batch: &BatchView<'_>,
        marker: Marker,
        durable_end: Offset,
    ) -> Option<AbortEntry> {
        let started = self.latest(producer.id).and_then(|known| known.last.transaction_start);
        let step = ProducerStep {
            epoch: producer.epoch,
            sequences: None,
            base_offset: batch.base_offset(),
            last_offset: batch.last_offset(),
            timestamp: batch.max_timestamp(),
            coordinator_epoch: Some(marker.coordinator_epoch),
            transaction_start: None,
        };
        self.add(producer.id, step, durable_end);
        let entry = self.unstable.end(producer.id, started?, batch.last_offset());
        (marker.end == TransactionEnd::Abort).then_some(entry)
    }

    fn add(&mut self, producer: ProducerId, step: ProducerStep, durable_end: Offset) {
        let steps = self.steps.entry(producer).or_default();
        steps.push(step);
        let durable = steps.partition_point(|step| step.last_offset < durable_end);
        // Not at every step: each look costs all of them.
        if durable > 2 * DUPLICATE_WINDOW {
            forget_unneeded(steps, durable);
        }
    }

    /// Puts back how a producer stood at a checkpoint.
    pub(crate) fn restore(&mut self, producer: ProducerId, steps: Vec<ProducerStep>) {
        if let Some(first_offset) = steps.last().and_then(|last| last.transaction_start) {
            self.unstable.begin(producer, first_offset);
        }
        self.steps.insert(producer, steps);
    }

    /// The producers as they were when the log ended at `end`.
    pub(crate) fn durable_at(&self, end: Offset) -> impl Iterator<Item = (ProducerId, ProducerView<'_>)> {
        self.steps.iter().filter_map(move |(id, steps)| Some((*id, view_at(steps, end)?)))
    }

    /// One producer as it was when the log ended at `end`.
    pub(crate) fn one_durable_at(&self, producer: ProducerId, end: Offset) -> Option<ProducerView<'_>> {
        view_at(self.steps.get(&producer)?, end)
    }

    /// Whether anything is known of a producer.
    pub(crate) fn knows(&self, producer: ProducerId) -> bool {
        self.steps.contains_key(&producer)
    }

    /// Where the transaction began that a producer of this epoch has open.
    pub(crate) fn ongoing_transaction(&self, producer: ProducerIdentity) -> Option<Offset> {
        let last = self.latest(producer.id)?.last;
        last.transaction_start.filter(|_| last.epoch == producer.epoch)
    }

    /// The first offset that readers of committed records must not pass.
    pub(crate) fn first_unstable(&self, durable_end: Offset) -> Option<Offset> {
        self.unstable.first(durable_end)
    }

    /// The durable end moved.
    pub(crate) fn on_durable(&mut self, durable_end: Offset) {
        self.unstable.forget_below(durable_end);
    }

    /// Forgets producers whose last batch is at least `expiration_ms` old and durable, but none with an open
    /// transaction: it would never end.
    pub(crate) fn expire(&mut self, now: Timestamp, expiration_ms: i64, durable_end: Offset) {
        self.steps.retain(|_, steps| {
            steps.last().is_some_and(|last| {
                last.transaction_start.is_some()
                    || last.last_offset >= durable_end
                    || now.0.saturating_sub(last.timestamp.0) < expiration_ms
            })
        });
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }
}

/// Whether a batch belongs to a transaction of its producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BelongsTo {
    ATransaction,
    None,
}

impl BelongsTo {
    pub(crate) fn of(batch: &BatchView<'_>) -> Self {
        if batch.is_transactional() { Self::ATransaction } else { Self::None }
    }
}

fn check_transaction(known: ProducerView<'_>, belongs_to: BelongsTo) -> ProducerCheck {
    if belongs_to == BelongsTo::None && known.last.transaction_start.is_some() {
        ProducerCheck::OutsideTransaction
    } else {
        ProducerCheck::Accept
    }
}

fn view_at(steps: &[ProducerStep], end: Offset) -> Option<ProducerView<'_>> {
    ProducerView::after(&steps[..steps.partition_point(|step| step.last_offset < end)])
}

/// Drops of the first `durable` steps those that neither count for duplicates nor are the last.
fn forget_unneeded(steps: &mut Vec<ProducerStep>, durable: usize) {
    let Some(view) = ProducerView::after(&steps[..durable]) else { return };
    let last = view.last.last_offset;
    let first_batch = view.batches().last().map_or(last, |step| step.last_offset);
    let epoch = view.last.epoch;
    steps.retain(|step| {
        let counts = step.sequences.is_some() && step.epoch == epoch && step.last_offset >= first_batch;
        counts || step.last_offset >= last
    });
}

#[cfg(test)]
mod tests;
