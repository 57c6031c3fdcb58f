//! Keys and values of the internal topics, byte for byte: what the coordinator and the metadata log store.
//!
//! Pure bytes in, borrowed structs out, and back. It must never decide anything: which record follows from which
//! request is the business of `groups`, `transactions`, `log` and `admin`, who call it. Malformed bytes are an error, never a panic,
//! and no length found in them sizes an allocation.
//!
//! - [`offsets`]: the records of `__consumer_offsets`, Kafka's own format.
//! - [`transactions`]: the records of `__transaction_state`, Kafka's own format.
//! - [`metadata`]: the records of `__milepost_metadata`, our own format.
//! - [`consumer_protocol`]: the bytes that consumers hand through JoinGroup and SyncGroup.
//! - [`connect_protocol`]: the bytes that workers of Kafka Connect hand through the same.

pub mod connect_protocol;
pub mod consumer_protocol;
pub mod metadata;
pub mod offsets;
pub mod transactions;

mod bytes;

pub use bytes::{DecodeError, EncodeError, MAX_STRING_BYTES};
