//! What a shard of transactions answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::{ProducerId, ProducerIdentity, Timestamp};

use crate::{TransactionError, TransactionPartition, TransactionState};

/// One answer; each kind of request has its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To InitProducerId: the producer that the asker is from now on.
    InitProducerId(Result<ProducerIdentity, TransactionError>),
    /// To AddPartitionsToTxn and AddOffsetsToTxn: of all partitions together.
    AddPartitions(Result<(), TransactionError>),
    /// To AddPartitionsToTxn that verifies only: of each partition, in the request's order.
    VerifyPartitions(Result<Vec<Result<(), TransactionError>>, TransactionError>),
    /// To EndTxn: the producer that the asker is from now on. Clients before EndTxn version 5 are not told.
    EndTransaction(Result<ProducerIdentity, TransactionError>),
    /// To DescribeTransactions.
    Describe(Result<DescribedTransaction, TransactionError>),
    /// To ListTransactions, by transactional id.
    List(Vec<ListedTransaction>),
    /// To what came of an effect: it was taken note of, or was of no use any more.
    Noted,
}

/// All about one transactional id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedTransaction {
    /// Its producer.
    pub producer: ProducerIdentity,
    /// Its state.
    pub state: TransactionState,
    /// How long a transaction may take, in milliseconds.
    pub timeout_ms: i32,
    /// When the transaction began.
    pub start: Option<Timestamp>,
    /// The partitions of the transaction.
    pub partitions: Arc<BTreeSet<TransactionPartition>>,
}

/// A transactional id in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTransaction {
    /// The transactional id.
    pub transactional_id: Arc<str>,
    /// Its producer's id.
    pub producer_id: ProducerId,
    /// Its state.
    pub state: TransactionState,
}
