//! The part of the histories that is about transactions.

use milepost_batch::Marker;
use milepost_log::MarkerEpoch;

use super::super::model::{BUMPING, Part};
use super::*;

/// Producers that write in transactions, beside those that only number their batches.
const TRANSACTIONAL: [i64; 3] = [20, 21, BUMPING];

impl History {
    /// What readers of committed records are told, and what is asked before an append.
    pub(super) fn compare_transactions(&mut self, model: &Model) -> Result<(), String> {
        let set = self.set.as_mut().expect("open");
        let Some(log) = set.log(model.id) else { return Ok(()) };
        let (start, end) = (log.log_start_offset().0, log.high_watermark().0);
        let (stable, expected) = (log.last_stable_offset().0, model.last_stable(start, end));
        check!(stable >= model.stable, "the last stable offset went back to {stable}: {model:?}");
        check!(stable == expected, "last stable offset {stable}, expected {expected} of {model:?}");
        for id in TRANSACTIONAL {
            let identity = ProducerIdentity { id: ProducerId(id), epoch: ProducerEpoch(model.epoch(id)) };
            let (open, expected) =
                (log.ongoing_transaction(identity), model.open_transaction(id, model.end()));
            check!(open.map(|at| at.0) == expected, "{id} has {open:?} open, expected {expected:?}");
            let durable = log.active_producers().find(|producer| producer.identity.id == identity.id);
            let (open, expected) =
                (durable.and_then(|it| it.transaction_start), model.open_transaction(id, end));
            check!(open.map(|at| at.0) == expected, "{id} has {open:?} durably open, expected {expected:?}");
        }
        let max_bytes = 1 + self.rng.below(900);
        match committed_offsets(set, model.id, max_bytes) {
            Err(_) if self.disk.is_off() => {}
            seen => {
                let (seen, expected) = (seen?, model.committed(start, end));
                check!(seen == expected, "sees {seen:?} committed, expected {expected:?} of {model:?}");
            }
        }
        Ok(())
    }

    pub(super) fn append_in_transaction(&mut self) -> Result<(), String> {
        let index = self.rng.below(self.models.len());
        let producer = TRANSACTIONAL[self.rng.below(TRANSACTIONAL.len())];
        let values = self.values();
        let slices: Vec<_> = values.iter().map(Vec::as_slice).collect();
        let timestamp_ms = START_MS + self.clock_ms;
        let (id, epoch, sequence, end) = {
            let model = &self.models[index];
            (model.id, model.epoch(producer), model.next_sequence(producer), model.end())
        };
        let at = self.now();
        if self.models[index].open_transaction(producer, end).is_some() {
            let outside = numbered_at(timestamp_ms, producer, epoch, sequence, &slices);
            let refused = self.set().append(id, &outside, AppendOrigin::Client, at);
            check!(refused.is_err(), "accepted outside of the open transaction");
        }
        let bytes = transactional_at(timestamp_ms, producer, epoch, sequence, &slices);
        match self.set().append(id, &bytes, AppendOrigin::Client, at) {
            Ok(appended) => {
                check!(!appended.duplicate && appended.base_offset.0 == end, "{appended:?} at {end}");
                let (producer, part) = (Some((producer, sequence)), Part::Of(producer));
                let batch = ModelBatch { base: end, values, timestamp_ms, producer, part };
                self.models[index].batches.push(batch);
                Ok(())
            }
            Err(AppendError::Poisoned { .. } | AppendError::DiskFull) => Ok(()),
            Err(error) => Err(format!("append in a transaction: {error}")),
        }
    }

    /// Ends a transaction, or one that is not there.
    pub(super) fn mark(&mut self) -> Result<(), String> {
        /// What the value of each marker says: version 0, and the epoch of its coordinator.
        const VALUE: [u8; 6] = [0, 0, 0, 0, 0, 7];
        let index = self.rng.below(self.models.len());
        let producer = TRANSACTIONAL[self.rng.below(TRANSACTIONAL.len())];
        let end = if self.rng.chance(2) { TransactionEnd::Commit } else { TransactionEnd::Abort };
        let (id, at, base) = (self.models[index].id, self.now(), self.models[index].end());
        let known = self.models[index].epoch(producer);
        let identity = |epoch| ProducerIdentity { id: ProducerId(producer), epoch: ProducerEpoch(epoch) };
        let marker = Marker { end, coordinator_epoch: 7 };
        let (epoch, rule) = if producer == BUMPING {
            (known + 1, MarkerEpoch::AboveKnown)
        } else {
            (known, MarkerEpoch::AtLeastKnown)
        };
        if producer == BUMPING && self.models[index].open_transaction(producer, base).is_some() {
            let late = self.set().append_marker(id, identity(known), marker, rule, at);
            check!(late.is_err(), "a marker of an earlier transaction ended the present one");
        }
        match self.set().append_marker(id, identity(epoch), marker, rule, at) {
            Ok(appended) => {
                check!(appended.base_offset.0 == base, "a marker at {}, not {base}", appended.base_offset);
                self.models[index].batches.push(ModelBatch {
                    base,
                    values: vec![VALUE.to_vec()],
                    timestamp_ms: at.wall.0,
                    producer: None,
                    part: Part::Marker(producer, end),
                });
                Ok(())
            }
            Err(AppendError::Poisoned { .. } | AppendError::DiskFull) => Ok(()),
            Err(error) => Err(format!("append a marker: {error}")),
        }
    }
}
