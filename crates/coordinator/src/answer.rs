//! What comes back for a ticket, and the settings of the runtime.

use milepost_batch::Codec;

/// What comes back for a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<P> {
    /// What the shard said. What it rests on is durable.
    Reply(P),
    /// What the runtime says in its stead.
    Refused(Refusal),
}

/// Why the runtime answered itself. The handler at the edge turns it into the code that Kafka gives for its API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The shard is being loaded (COORDINATOR_LOAD_IN_PROGRESS; NONE for a heartbeat).
    Loading,
    /// The shard is not served here: it failed, was closed, or was thrown away while the request was open
    /// (NOT_COORDINATOR). What the request wrote may have been kept.
    NotCoordinator,
    /// What the request wrote was not durable within `offsets.commit.timeout.ms`. It may still become so.
    TimedOut,
    /// The records do not fit one batch of the topic (`max.message.bytes`, `segment.bytes`). Nothing was written.
    TooLarge,
    /// The log refuses the producer of a transactional write: a later epoch of it is known. Nothing was written.
    FencedProducer,
    /// The disk is full. Nothing was written; it heals without a restart.
    NoSpace,
    /// Too many requests are open ([`Settings::max_open_tickets`]).
    Busy,
}

/// The settings of the runtime, equal for all shards of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `offsets.commit.timeout.ms`: how long an answer may wait for the disk, in milliseconds, at least 1.
    pub commit_timeout_ms: u64,
    /// `offsets.topic.compression.codec`: how batches are compressed.
    pub codec: Codec,
    /// How many requests of one shard may be open at once, those that wait for other members included.
    pub max_open_tickets: usize,
}

impl Settings {
    /// The default of [`Settings::max_open_tickets`].
    pub const DEFAULT_MAX_OPEN_TICKETS: usize = 65_536;
}

impl Default for Settings {
    /// Kafka's defaults.
    fn default() -> Self {
        Self {
            commit_timeout_ms: 5_000,
            codec: Codec::None,
            max_open_tickets: Self::DEFAULT_MAX_OPEN_TICKETS,
        }
    }
}
