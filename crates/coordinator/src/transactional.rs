//! Writes of producers' transactions, and the markers that end them.
//!
//! Both stand in the log for themselves: what is in the open batch is appended before. They are appended before they
//! are replayed, because the log may refuse the producer, and what was refused must not have changed anything
//! (KAFKA-15784).

use milepost_batch::Marker;
use milepost_log::{AppendError, AppendOrigin, LogSet, MarkerEpoch};
use milepost_model::{Atomicity, Now, Offset, Origin, ProducerIdentity, Shard};

use crate::Refusal;
use crate::batch::transactional_batch;
use crate::runtime::{ShardRuntime, State, Unwritten};

impl<S: Shard> ShardRuntime<S> {
    /// Appends the records of one outcome as a batch of a producer's transaction, then replays each.
    pub(crate) fn write_transactional(
        &mut self,
        logs: &mut LogSet,
        now: Now,
        records: Vec<S::Record>,
        producer: ProducerIdentity,
    ) -> Result<Offset, Unwritten> {
        self.encode(logs, now, &records, Atomicity::OneBatch)?;
        let State::Active(active) = &mut self.state else {
            return Err(Unwritten::Refused(Refusal::NotCoordinator));
        };
        active.append(logs, self.id, now)?;
        active.check_base(logs, self.id)?;
        let base = active.batch.base();
        let encoded = &self.encoded[..records.len()];
        let batch = transactional_batch(self.settings.codec, producer, base, now.wall, encoded)
            .map_err(|full| Unwritten::Broken(full.to_string()))?;
        let appended = logs.append(self.id, &batch, AppendOrigin::Coordinator, now).map_err(refused)?;
        if appended.base_offset != base {
            let found = appended.base_offset;
            return Err(Unwritten::Broken(format!("a batch for {base} was appended at {found}")));
        }
        let mut position = base;
        for record in records {
            active.shard.replay(position, Origin::Transactional(producer), record);
            position = position.plus(1);
        }
        active.batch.begin_at(position);
        self.give_back_room();
        Ok(position.plus(-1))
    }

    /// Writes the end of a producer's transaction into the log, and lets the shard know of it. A shard that is being
    /// loaded, or that failed, finds it in the log. Says where it is; it counts once that is durable.
    ///
    /// # Errors
    /// What the log says; then nothing has changed.
    pub fn append_marker(
        &mut self,
        logs: &mut LogSet,
        now: Now,
        producer: ProducerIdentity,
        marker: Marker,
        rule: MarkerEpoch,
    ) -> Result<Offset, AppendError> {
        self.flush(logs, now);
        let position = logs.append_marker(self.id, producer, marker, rule, now)?.base_offset;
        if let State::Active(active) = &mut self.state {
            if active.batch.base() == position {
                active.shard.replay_marker(position, producer, marker.end);
                active.batch.begin_at(position.plus(1));
            } else {
                let base = active.batch.base();
                self.throw_away(&format!(
                    "a marker was appended at {position}, the open batch begins at {base}"
                ));
            }
        }
        Ok(position)
    }
}

/// Why the log did not take the batch of a transaction.
fn refused(error: AppendError) -> Unwritten {
    match error {
        AppendError::StaleProducerEpoch { .. } => Unwritten::Refused(Refusal::FencedProducer),
        AppendError::Overloaded => Unwritten::Refused(Refusal::Busy),
        AppendError::DiskFull => Unwritten::Refused(Refusal::NoSpace),
        other => Unwritten::Broken(format!("the batch of a transaction cannot be appended: {other}")),
    }
}
