//! What may be asked of a shard of transactions. Names borrow from the connection's buffer.
//!
//! Wire numbers such as −1 are `None` here already. The edge has checked who may do what, and that partitions exist. A
//! request may bring a fresh producer id; one that would need it and has none is answered
//! [`crate::TransactionError::ProducerIdRequired`], and may be asked again with one.

use milepost_model::{PartitionIndex, ProducerId, ProducerIdentity, TransactionEnd};

use crate::{TransactionState, TransactionVersion, WriteMarkers};

/// One request to a shard.
#[derive(Clone, Debug)]
pub enum Request<'a> {
    /// A producer starts, or goes on after an error.
    InitProducerId(InitProducerId<'a>),
    /// Partitions join a transaction, and begin it if there is none.
    AddPartitions(AddPartitions<'a>),
    /// Are these partitions part of the transaction?
    VerifyPartitions(VerifyPartitions<'a>),
    /// A producer ends its transaction.
    EndTransaction(EndTransaction<'a>),
    /// What is there to know about a transactional id?
    Describe(DescribeTransaction<'a>),
    /// Which transactional ids are there?
    List(ListTransactions),
    /// Every marker that an effect asked for is durable.
    MarkersWritten(&'a WriteMarkers),
    /// The producer id that an effect asked for is there.
    AbortTimedOut(AbortTimedOut<'a>),
}

/// InitProducerId with a transactional id. (Without one no coordinator is asked.)
#[derive(Clone, Copy, Debug)]
pub struct InitProducerId<'a> {
    /// The transactional id; empty is refused.
    pub transactional_id: &'a str,
    /// How long a transaction may take. Without effect in a two-phase commit.
    pub timeout_ms: i32,
    /// The producer as it knows itself, if it goes on after an error (KIP-360).
    pub current: Option<ProducerIdentity>,
    /// Whether transactions may take for ever (KIP-939).
    pub two_phase_commit: TwoPhaseCommit,
    /// What shall become of a transaction that was open (KIP-939).
    pub open_transaction: OpenTransaction,
    /// A producer id that nobody has.
    pub fresh_producer_id: Option<ProducerId>,
}

/// Whether a producer takes part in two-phase commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TwoPhaseCommit {
    /// Its transactions time out.
    No,
    /// Its transactions may take for ever.
    Yes,
}

/// What a starting producer wants done about a transaction that was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenTransaction {
    /// It is aborted.
    Abort,
    /// It is kept, to be ended by the new producer. Refused, as in Kafka 4.4.
    Keep,
}

/// AddPartitionsToTxn for one transaction. AddOffsetsToTxn is the same with the one partition of `__consumer_offsets`
/// that the group lives in, and [`TransactionVersion::V0`].
#[derive(Clone, Debug)]
pub struct AddPartitions<'a> {
    /// The transactional id; empty is refused.
    pub transactional_id: &'a str,
    /// The producer.
    pub producer: ProducerIdentity,
    /// The version of the client: 2 from AddPartitionsToTxn version 4 on, else 0.
    pub version: TransactionVersion,
    /// The partitions, all or none.
    pub partitions: Vec<PartitionToAdd<'a>>,
}

/// AddPartitionsToTxn for one transaction that is to be verified only.
#[derive(Clone, Debug)]
pub struct VerifyPartitions<'a> {
    /// The transactional id; empty is refused.
    pub transactional_id: &'a str,
    /// The producer.
    pub producer: ProducerIdentity,
    /// The partitions.
    pub partitions: Vec<PartitionToAdd<'a>>,
}

/// One partition of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionToAdd<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// The partition.
    pub partition: PartitionIndex,
}

/// EndTxn.
#[derive(Clone, Copy, Debug)]
pub struct EndTransaction<'a> {
    /// The transactional id; empty is refused.
    pub transactional_id: &'a str,
    /// The producer.
    pub producer: ProducerIdentity,
    /// How it shall end.
    pub end: TransactionEnd,
    /// The version of the client: 2 from EndTxn version 5 on, else 0.
    pub version: TransactionVersion,
    /// A producer id that nobody has.
    pub fresh_producer_id: Option<ProducerId>,
}

/// The answer to [`crate::Effect::TakeProducerId`].
#[derive(Clone, Copy, Debug)]
pub struct AbortTimedOut<'a> {
    /// The transactional id.
    pub transactional_id: &'a str,
    /// The producer that the effect named.
    pub producer: ProducerIdentity,
    /// A producer id that nobody has.
    pub fresh_producer_id: ProducerId,
}

/// DescribeTransactions, for one transactional id.
#[derive(Clone, Copy, Debug)]
pub struct DescribeTransaction<'a> {
    /// The transactional id; empty is refused.
    pub transactional_id: &'a str,
}

/// ListTransactions. A filter that is there and empty matches nothing. The pattern of version 2 needs no state: the edge
/// applies it to the answer.
#[derive(Clone, Debug, Default)]
pub struct ListTransactions {
    /// Only transactional ids in one of these states ([`TransactionState::named`] has them for a request's names).
    pub states: Option<Vec<TransactionState>>,
    /// Only transactional ids of one of these producers.
    pub producer_ids: Option<Vec<ProducerId>>,
    /// Only transactions that began more than so many milliseconds ago. What never began is older than all.
    pub longer_than_ms: Option<i64>,
}
