//! Why a request about a transaction was refused, by meaning. The edge turns them into Kafka's codes.

use thiserror::Error;

/// A refusal. Each but [`TransactionError::ProducerIdRequired`] has one code of Kafka's, which the edge knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TransactionError {
    /// The transactional id is empty, or a name is longer than a record can hold.
    #[error("the request names nothing that could be stored")]
    InvalidRequest,
    /// The transaction timeout is outside what the settings allow.
    #[error("the transaction timeout is outside the allowed range")]
    InvalidTransactionTimeout,
    /// Two-phase commit is not switched on. Kafka answers as if the caller were not authorized.
    #[error("two-phase commit is not enabled")]
    TwoPhaseCommitDisabled,
    /// A prepared transaction cannot be kept: Kafka has the field, but not yet the feature (KIP-939).
    #[error("a prepared transaction cannot be kept")]
    KeepPreparedUnsupported,
    /// There is no such transactional id, or it belongs to another producer id.
    #[error("the producer id is not the one of the transactional id")]
    InvalidProducerIdMapping,
    /// Another producer took the transactional id over.
    #[error("another producer has taken over this transactional id")]
    ProducerFenced,
    /// The last transaction is not complete yet; ask again.
    #[error("the last transaction is not complete yet")]
    ConcurrentTransactions,
    /// The transaction is in no state for this.
    #[error("the transaction is in no state for this")]
    InvalidTransactionState,
    /// The partition is not part of the transaction, which can only be aborted.
    #[error("the partition is not part of the transaction")]
    TransactionAbortable,
    /// There is no such transactional id (DescribeTransactions).
    #[error("there is no such transactional id")]
    TransactionalIdNotFound,
    /// The answer needs a fresh producer id, and the request brought none. Never told to a client: the edge takes one
    /// and asks again. Few requests need one, and each is gone for ever.
    #[error("the request must bring a fresh producer id")]
    ProducerIdRequired,
}
