//! The runtime of a shard: it turns what a pure coordinator decided into log records, and lets an answer leave only
//! when what the answer rests on is durable.
//!
//! A [`ShardRuntime`] drives one [`milepost_model::Shard`] over one partition's log: load it, hand it requests, write
//! its records into an open batch with the offsets they will have, replay them at once, park the answers, append the
//! batch before a round, release the answers when the high watermark passed. [`Coordinators`] holds all shards of one
//! topic and touches only those with something to do. The broker, the embedded library and the simulator drive it.
//!
//! It must never know what a group is, speak a wire format, wait, or ask a clock: time and the logs come in as
//! arguments, deadlines are pulled by [`Coordinators::next_deadline`], answers by [`Coordinators::drain_answers`], what a
//! shard wants done outside of it by [`Coordinators::drain_effects`].
//!
//! What holds at every call:
//! - each ticket that was submitted is answered exactly once, unless it was forgotten;
//! - an effect is handed over no sooner than an answer could leave, and not at all if the record it rests on was not
//!   written;
//! - hard state changes by replay only, and only for records that are in the open batch or in the log;
//! - what a producer's transaction writes is a batch of its own, appended before it is replayed, so that the log can
//!   still refuse the producer;
//! - the open batch begins where the log ends, or the shard is thrown away and loaded again (I5).

mod answer;
mod batch;
mod coordinators;
mod counts;
mod deletions;
mod effects;
mod load;
mod runtime;
mod tickets;
mod transactional;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Refusal, Settings};
pub use coordinators::{Coordinators, MakeShard, PartitionStates};
pub use load::{Failure, LoadProgress, Loaded, replay_batch};
pub use runtime::{DEADLINE_RETRY_MS, ShardRuntime, ShardStatus};
