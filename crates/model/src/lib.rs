//! The words of the house: newtypes for what the field counts, the [`Shard`] trait and the values it speaks in.
//!
//! Every other room knows this one; it knows nothing and does no I/O. Numbers such as −1 that mean "none" on the
//! wire never appear here: they are made and read at the edge, and inside they are `Option`s.

mod ids;
mod latencies;
mod partition;
mod shard;
mod time;

pub use ids::{
    Generation, LeaderEpoch, NotATopicId, Offset, PartitionIndex, ProducerEpoch, ProducerId,
    ProducerIdentity, TopicId, TopicPartition,
};
pub use latencies::Latencies;
pub use partition::partition_for;
pub use shard::{
    Atomicity, Corrupt, Counts, DeletedTopic, DependsOn, Encoded, NoEffect, Origin, Outcome, Shard, Ticket,
    TransactionEnd, WithoutId,
};
pub use time::{Instant, Now, Timestamp};
