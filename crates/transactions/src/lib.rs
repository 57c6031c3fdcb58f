//! The pure machine of producer ids and transactional ids: requests become records, replies, and effects.
//!
//! [`Transactions`] is the [`Shard`](milepost_model::Shard) of one partition of `__transaction_state`. The runtime in
//! `coordinator` can drive it as it drives groups.
//!
//! It must never read a clock, make a random number, take a producer id, write a marker, or touch a file, a socket or a
//! thread: all of that comes in with the request, or is asked for by an [`Effect`]. What is to last changes in `hard`
//! only, by the replay of a record; handlers get it to read. All else (`soft`) may be lost at any moment.
//!
//! Where Kafka has a *pending* state while a record is on its way to the disk, there is none here: the record is replayed
//! at once and its answer waits. The next request is decided on the new state instead of being told to come again, and a
//! record that could not be written has changed nothing.
//!
//! - [`Request`], [`Reply`] and [`Effect`]: what may be asked, answered and wanted; [`TransactionError`] says why not.
//! - `init_producer_id`, `add_partitions`, `end_transaction`: what producers ask. `admin`: what administrators ask.
//! - `markers`: from the decision, over markers in every partition, to the complete transaction.
//! - `deadlines`: what takes too long is aborted, what nobody uses expires. [`TransactionCounts`]: how often what happened.

mod add_partitions;
mod admin;
mod codec;
mod counts;
mod deadlines;
mod effect;
mod end_transaction;
mod error;
mod hard;
mod init_producer_id;
mod markers;
mod record;
mod reply;
mod request;
mod settings;
mod shard;
mod soft;
mod transition;
mod turn;

pub use counts::TransactionCounts;
pub use effect::{Effect, WriteMarkers};
pub use error::TransactionError;
pub use record::{Record, Transaction, TransactionPartition, TransactionState, TransactionVersion};
pub use reply::{DescribedTransaction, ListedTransaction, Reply};
pub use request::{
    AbortTimedOut, AddPartitions, DescribeTransaction, EndTransaction, InitProducerId, ListTransactions,
    OpenTransaction, PartitionToAdd, Request, TwoPhaseCommit, VerifyPartitions,
};
pub use settings::TransactionSettings;
pub use shard::Transactions;
