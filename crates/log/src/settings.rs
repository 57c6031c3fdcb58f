//! What may be set: for all logs of a journal ([`LogSettings`]) and for one partition ([`PartitionConfig`]).

use milepost_batch::{KeyRule, TimestampRange, TimestampType};

/// Most bytes one round takes, unless a single run of batches is larger. A round also sets the latency of a commit
/// that arrives behind it.
pub const DEFAULT_MAX_ROUND_BYTES: u64 = 4 << 20;

/// Most bytes of consecutive batches of one partition that travel as one journal entry and one segment write.
pub const MAX_RUN_BYTES: u64 = 1 << 20;

/// Journal bytes after which a checkpoint is begun; they bound the time of a recovery.
pub const DEFAULT_CHECKPOINT_JOURNAL_BYTES: u64 = 64 << 20;

/// Accepted client bytes that may wait for a round before further ones are refused.
pub const DEFAULT_MAX_PENDING_BYTES: u64 = 256 << 20;

/// Sealed segments whose files are kept open, with their indexes in memory, after a read.
pub const MAX_OPEN_SEALED_SEGMENTS: usize = 128;

/// Sealed but not yet synced segments that force a checkpoint, because their files must stay open until it is done.
pub const MAX_UNSYNCED_SEALED_SEGMENTS: usize = 256;

/// Largest segment whatever `segment.bytes` says: index entries hold a position in 31 bits.
pub const MAX_SEGMENT_BYTES: u64 = i32::MAX as u64;

/// How long a failed checkpoint waits before it is tried again.
pub const CHECKPOINT_RETRY_MS: u64 = 1000;

/// How often idle producers are looked for (`producer.id.expiration.check.interval.ms` in Kafka).
pub const PRODUCER_EXPIRY_CHECK_MS: u64 = 600_000;

/// Settings of all logs over one journal.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// Most bytes of a round, see [`DEFAULT_MAX_ROUND_BYTES`].
    pub max_round_bytes: u64,
    /// Journal bytes between checkpoints, see [`DEFAULT_CHECKPOINT_JOURNAL_BYTES`].
    pub checkpoint_journal_bytes: u64,
    /// Client bytes that may wait, see [`DEFAULT_MAX_PENDING_BYTES`]. Coordinators are bounded by their own runtime.
    pub max_pending_bytes: u64,
    /// How long the state of an idle producer is kept (`producer.id.expiration.ms`).
    pub producer_id_expiration_ms: i64,
    /// For tests only: what recovery believes.
    #[doc(hidden)]
    pub recovery_trust: RecoveryTrust,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            max_round_bytes: DEFAULT_MAX_ROUND_BYTES,
            checkpoint_journal_bytes: DEFAULT_CHECKPOINT_JOURNAL_BYTES,
            max_pending_bytes: DEFAULT_MAX_PENDING_BYTES,
            producer_id_expiration_ms: 86_400_000,
            recovery_trust: RecoveryTrust::Checkpoint,
        }
    }
}

/// What recovery believes about segment files. For tests only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryTrust {
    /// Only what the last checkpoint says was synced. The rest is written again from the journal.
    Checkpoint,
    /// A planted bug, which the power-loss tests must find: a file that is long enough is taken to hold what was
    /// written to it after the checkpoint.
    FileContents,
}

/// Whether a log is one of the server's own. Their entries go first in every round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogKind {
    /// `__consumer_offsets`, the metadata log and their like.
    Internal,
    /// A topic that clients write.
    User,
}

/// Who made a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOrigin {
    /// A producer: everything is checked.
    Client,
    /// A coordinator of this process: its bytes are trusted and its sequence numbers not looked at.
    Coordinator,
}

/// What a read does when the first batch is larger than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBatch {
    /// Returns it whole all the same, so that a consumer can always go on.
    AlwaysWhole,
    /// Returns nothing.
    OnlyIfFits,
}

/// Settings of one partition, by Kafka's topic configuration. The defaults are Kafka's.
#[derive(Clone, Debug)]
pub struct PartitionConfig {
    /// `max.message.bytes`: largest batch, header included.
    pub max_message_bytes: usize,
    /// `segment.bytes`: largest segment file.
    pub segment_bytes: u64,
    /// `segment.ms`: span of record time after which a segment is rolled.
    pub segment_ms: i64,
    /// `segment.index.bytes`: largest index file.
    pub segment_index_bytes: u64,
    /// `index.interval.bytes`: log bytes between index entries.
    pub index_interval_bytes: u64,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms` and `message.timestamp.after.max.ms`.
    pub timestamps: TimestampRange,
    /// Whether `cleanup.policy` asks for a key on every record.
    pub keys: KeyRule,
}

impl Default for PartitionConfig {
    fn default() -> Self {
        Self {
            max_message_bytes: 1_048_588,
            segment_bytes: 1 << 30,
            segment_ms: 604_800_000,
            segment_index_bytes: 10 << 20,
            index_interval_bytes: 4096,
            timestamp_type: TimestampType::CreateTime,
            timestamps: TimestampRange { before_max_ms: None, after_max_ms: Some(3_600_000) },
            keys: KeyRule::Optional,
        }
    }
}
