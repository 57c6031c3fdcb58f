//! The decoded records of a shard's log, which are also the values that hard state is made of.
//!
//! They hold only what their bytes can say, so that the live state and a replay of the log are the same. The bytes
//! themselves are the business of `codec`.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::{
    PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TransactionEnd,
};
use milepost_records::transactions::TransactionStatus;

/// A record: what a transactional id is doing, or its tombstone. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The transactional id.
    pub transactional_id: Arc<str>,
    /// What it is doing; `None` removes it.
    pub transaction: Option<Arc<Transaction>>,
}

/// The transaction version of a client, or of the cluster (KIP-890). Any number that a record may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionVersion(pub i16);

impl TransactionVersion {
    /// Without KIP-890; also what every client has that does not know of it.
    pub const V0: Self = Self(0);
    /// The records have room for KIP-890.
    pub const V1: Self = Self(1);
    /// The producer's epoch is bumped with every transaction.
    pub const V2: Self = Self(2);

    /// Whether the epoch is bumped with every transaction.
    #[must_use]
    pub fn bumps_epoch(self) -> bool {
        self >= Self::V2
    }
}

/// The state of a transactional id, as records have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionState {
    /// It has a producer and no transaction.
    Empty,
    /// A transaction is open.
    Ongoing,
    /// The transaction has ended so; its markers are on their way.
    Prepare(TransactionEnd),
    /// The last transaction has ended so, and every marker of it is durable.
    Complete(TransactionEnd),
}

impl TransactionState {
    /// Every state.
    pub const ALL: [Self; 6] = [
        Self::Empty,
        Self::Ongoing,
        Self::Prepare(TransactionEnd::Commit),
        Self::Prepare(TransactionEnd::Abort),
        Self::Complete(TransactionEnd::Commit),
        Self::Complete(TransactionEnd::Abort),
    ];

    /// Kafka's name of it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.status().name()
    }

    /// The states of these names, and those of the names that no state has. Two states that Kafka knows are never in a
    /// record: filters may name them, and they are none of these.
    #[must_use]
    pub fn named<'a>(names: &[&'a str]) -> (Vec<Self>, Vec<&'a str>) {
        let states = Self::ALL.into_iter().filter(|state| names.contains(&state.name())).collect();
        let is_known = |name: &str| TransactionStatus::ALL.iter().any(|status| status.name() == name);
        (states, names.iter().copied().filter(|name| !is_known(name)).collect())
    }

    /// The state as a record says it.
    pub(crate) fn status(self) -> TransactionStatus {
        match self {
            Self::Empty => TransactionStatus::Empty,
            Self::Ongoing => TransactionStatus::Ongoing,
            Self::Prepare(TransactionEnd::Commit) => TransactionStatus::PrepareCommit,
            Self::Prepare(TransactionEnd::Abort) => TransactionStatus::PrepareAbort,
            Self::Complete(TransactionEnd::Commit) => TransactionStatus::CompleteCommit,
            Self::Complete(TransactionEnd::Abort) => TransactionStatus::CompleteAbort,
        }
    }

    /// The state that a record says, if it is one that is ever written.
    pub(crate) fn from_status(status: TransactionStatus) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.status() == status)
    }
}

/// A partition that takes part in a transaction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionPartition {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition.
    pub partition: PartitionIndex,
}

/// What a transactional id is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The producer that may act for it. While markers are on their way, their producer.
    pub producer: ProducerIdentity,
    /// The producer id before the last change.
    pub previous_producer_id: Option<ProducerId>,
    /// The producer id that follows when the transaction is complete, if the epochs of the present one are used up.
    pub next_producer_id: Option<ProducerId>,
    /// How long a transaction may take; [`Transaction::NO_TIMEOUT_MS`]: for ever.
    pub timeout_ms: i32,
    /// The state.
    pub state: TransactionState,
    /// The partitions of the transaction; none in the states Empty and Complete.
    pub partitions: Arc<BTreeSet<TransactionPartition>>,
    /// When this was written. Never goes back, and of two prepared states of one producer no two have the same.
    pub last_update: Timestamp,
    /// When the transaction began; it stays until the next begins or a producer starts anew.
    pub start: Option<Timestamp>,
    /// The version by which the transaction was begun or ended.
    pub client_version: TransactionVersion,
}

impl Transaction {
    /// The timeout of a transaction in a two-phase commit.
    pub const NO_TIMEOUT_MS: i32 = i32::MAX;
}

/// The highest epoch that a producer is given. The one above it fences the producer that has it.
const LAST_EPOCH: ProducerEpoch = ProducerEpoch(i16::MAX - 1);

/// Whether there is no epoch left to give to a producer of this id.
pub(crate) fn is_exhausted(epoch: ProducerEpoch) -> bool {
    epoch >= LAST_EPOCH
}

/// The epoch after this one. It stays at the largest number, which no producer is ever given.
pub(crate) fn bumped(producer: ProducerIdentity) -> ProducerIdentity {
    ProducerIdentity { epoch: ProducerEpoch(producer.epoch.0.saturating_add(1)), ..producer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_state_has_are_told_apart() {
        let names = ["Ongoing", "Dead", "PrepareEpochFence", "ongoing", "CompleteAbort", ""];
        let (states, unknown) = TransactionState::named(&names);
        assert_eq!(states, [TransactionState::Ongoing, TransactionState::Complete(TransactionEnd::Abort)]);
        assert_eq!(unknown, ["ongoing", ""]);
    }
}
