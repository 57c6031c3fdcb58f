//! A thin, pipelined client for any Kafka cluster, on blocking sockets and plain threads.
//!
//! It connects, agrees on versions, finds leaders and coordinators, tries again where that helps, and keeps everything
//! it holds bounded. [`Connection`] is one socket, [`Cluster`] all of them; [`topics`], [`offsets`], [`groups`], [`epochs`],
//! [`stamps`], [`Producer`], [`Reader`] and [`GroupMember`] are what one does with a cluster. ADR 13 says why there is no async runtime.
//!
//! This room must never know the broker, print, read flags or the environment, or guess: what the cluster did not say
//! is an error or an `Option`. The command line calls it, and whoever measures or compares clusters.

mod address;
mod at_once;
mod backoff;
mod cluster;
mod connection;
mod coordinators;
mod deadline;
pub mod epochs;
mod error;
mod group;
pub mod groups;
mod isolation;
mod leaders;
mod metadata;
mod offset_fetch;
pub mod offsets;
mod options;
mod patience;
mod producer;
mod reader;
mod sasl;
mod security;
pub mod stamps;
pub mod start;
mod stop;
mod topic_partition;
pub mod topics;
mod transport;
mod versions;

pub use address::Address;
pub use cluster::{Cluster, Target};
pub use connection::{Answer, Connection};
pub use deadline::Deadline;
pub use error::{ClientError, explain};
pub use group::{CommitOutcome, GroupEvent, GroupMember, GroupOptions, ResetPolicy, committed};
pub use isolation::Isolation;
pub use leaders::PerPartition;
pub use metadata::{Broker, Metadata, PartitionMetadata, TopicMetadata};
pub use options::Options;
pub use producer::{Delivery, OutgoingRecord, Partitioning, Producer, ProducerOptions};
pub use reader::{Fetched, Moved, Polled, Reader, Record};
pub use security::{Login, Mechanism, NameCheck, Roots, Security, Tls, TlsOptions};
pub use stop::Stop;
pub use topic_partition::TopicPartition;
