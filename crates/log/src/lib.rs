//! A partition's log, and all logs over one journal.
//!
//! [`LogSet`] is what callers hold: append, read, create and delete partitions, and drive it (`begin_round`, `poll`).
//! [`PartitionLog`] tells of one partition: its offsets, its epochs. Segment files are Kafka's own format, so its
//! tools read them; the journal makes batches durable before anybody sees them; a checkpoint bounds recovery.
//!
//! This room must never know a group, a request or a clock, nor assume that files are local or a flush is fast. The
//! broker and the coordinators call it.

pub mod metadata;

mod append;
mod bytes_io;
mod cleaner;
mod error;
mod index;
mod leader_epochs;
mod logset;
mod partition;
mod producer_state;
mod read;
mod recode;
mod segment;
mod settings;
mod transactions;

pub use append::Appended;
pub use error::{AppendError, OpenError, ReadError};
pub use leader_epochs::EpochStart;
pub use logset::{LogSet, Progress, RecoveryReport};
pub use partition::PartitionLog;
pub use producer_state::{ActiveProducer, DUPLICATE_WINDOW};
pub use settings::{
    AppendOrigin, CHECKPOINT_RETRY_MS, CLEANING_PACE, CleanerTrust, CleanupPolicy,
    DEFAULT_CHECKPOINT_JOURNAL_BYTES, DEFAULT_EARLY_CLEANING_BYTES, DEFAULT_MAX_CLEANED_KEYS,
    DEFAULT_MAX_PENDING_BYTES, DEFAULT_MAX_ROUND_BYTES, DEFAULT_MAX_UNWRITTEN_BYTES, FirstBatch,
    IsolationLevel, LogKind, LogSettings, MAX_CLEANING_STEP_BYTES, MAX_OPEN_SEALED_SEGMENTS, MAX_RUN_BYTES,
    MAX_SEGMENT_BYTES, MAX_UNSYNCED_SEALED_SEGMENTS, MarkerEpoch, PRODUCER_EXPIRY_CHECK_MS, PartitionConfig,
    RecoveryTrust, WRITE_BEHIND_BYTES, WRITE_BEHIND_MS,
};
pub use transactions::AbortedTransaction;

pub use milepost_storage::{Device, Space};
