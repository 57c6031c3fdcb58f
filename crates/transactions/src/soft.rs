//! The soft state of a shard: what may be lost at any moment without harm.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use milepost_model::{Instant, Now, ProducerEpoch, ProducerIdentity};

/// The soft state of all transactional ids of a shard.
#[derive(Debug)]
pub(crate) struct Soft {
    /// At most one for each transactional id; it goes with it.
    last_epochs: HashMap<Arc<str>, LastEpoch, FixedState>,
    /// The search for transactions that timed out.
    pub(crate) timeouts: Sweep,
    /// The search for transactional ids that expired.
    pub(crate) expiry: Sweep,
}

/// The epoch that a producer had before its present one. Who still names it did not hear the last answer, and is told
/// again. No record has it (nor has any of Kafka's): after a load such a producer is fenced and starts anew.
#[derive(Debug)]
struct LastEpoch {
    /// The producer it belongs to. If that is not the present one, the record that was to make it so was never written.
    producer: ProducerIdentity,
    epoch: ProducerEpoch,
}

/// When and how far something is looked for.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// When the next sweep is due, and both clocks when that was decided.
    pub(crate) due: Option<(Instant, Now)>,
    /// What the present sweep has yet to look at, last one first.
    pub(crate) remaining: Vec<Arc<str>>,
}

impl Soft {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self {
            last_epochs: HashMap::with_hasher(FixedState::with_seed(hash_seed)),
            timeouts: Sweep::default(),
            expiry: Sweep::default(),
        }
    }

    /// The epoch before this producer's, if it is known.
    pub(crate) fn last_epoch(
        &self,
        transactional_id: &str,
        producer: ProducerIdentity,
    ) -> Option<ProducerEpoch> {
        let last = self.last_epochs.get(transactional_id)?;
        (last.producer == producer).then_some(last.epoch)
    }

    /// Notes the epoch before the one that a producer gets now; `None`: nobody may name an older one.
    pub(crate) fn note_last_epoch(
        &mut self,
        transactional_id: &Arc<str>,
        producer: ProducerIdentity,
        epoch: Option<ProducerEpoch>,
    ) {
        match epoch {
            Some(epoch) => {
                self.last_epochs.insert(Arc::clone(transactional_id), LastEpoch { producer, epoch });
            }
            None => self.forget(transactional_id),
        }
    }

    pub(crate) fn forget(&mut self, transactional_id: &str) {
        self.last_epochs.remove(transactional_id);
    }
}
