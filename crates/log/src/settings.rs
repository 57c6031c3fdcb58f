//! What may be set: for all logs of a journal ([`LogSettings`]) and for one partition ([`PartitionConfig`]).

use milepost_batch::{Compression, KeyRule, TimestampRange, TimestampType};

/// Most bytes one round takes, unless a single run of batches is larger. A round also sets the latency of a commit
/// that arrives behind it.
pub const DEFAULT_MAX_ROUND_BYTES: u64 = 4 << 20;

/// Most bytes of consecutive batches of one partition that travel as one journal entry and one segment write.
pub const MAX_RUN_BYTES: u64 = 1 << 20;

/// Bytes of one partition that wait to be written to its segment file until they are written together.
pub const WRITE_BEHIND_BYTES: u64 = 16 << 10;

/// Bytes of all partitions together that wait so; then everything is written. Far below the room that is kept free on
/// the disk for the segments of a round.
pub const DEFAULT_MAX_UNWRITTEN_BYTES: u64 = 1 << 20;

/// How long a run waits so at most, in milliseconds.
pub const WRITE_BEHIND_MS: u64 = 1000;

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

/// Most distinct keys that one pass of the cleaner remembers; what lies above them waits for the next pass. With the 25
/// to 60 bytes that a key takes, the bound of a pass is 120 MB.
pub const DEFAULT_MAX_CLEANED_KEYS: usize = 2 << 20;

/// The size up to which a partition of an internal compacted log may grow before it is rolled and cleaned, whatever
/// `segment.bytes` and `min.cleanable.dirty.ratio` say; above it, once a quarter of it is dirty. With what arrives during
/// a pass ([`CLEANING_PACE`]) and its checkpoint this keeps it below twice its live bytes or 16 MiB.
pub const DEFAULT_EARLY_CLEANING_BYTES: u64 = 8 << 20;

/// How many bytes the cleaner goes on by for each byte that internal logs grew, so that they cannot outrun it.
pub const CLEANING_PACE: usize = 4;

/// The most that one step of the cleaner goes on by, whatever the pace asks for.
pub const MAX_CLEANING_STEP_BYTES: usize = 4 << 20;

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
    /// How often segments past their retention are looked for (`log.retention.check.interval.ms`).
    pub retention_check_interval_ms: u64,
    /// How often logs that want cleaning are looked for (`log.cleaner.backoff.ms`).
    pub cleaner_backoff_ms: u64,
    /// Most keys of one pass of the cleaner, see [`DEFAULT_MAX_CLEANED_KEYS`].
    pub max_cleaned_keys: usize,
    /// When internal compacted logs are cleaned early, see [`DEFAULT_EARLY_CLEANING_BYTES`].
    pub early_cleaning_bytes: u64,
    /// Bytes that may wait to be written to segment files, see [`DEFAULT_MAX_UNWRITTEN_BYTES`].
    pub max_unwritten_bytes: u64,
    /// The secret that the cleaner hashes keys with, so that nobody can make two keys meet.
    pub hash_key: u128,
    /// For tests only: what recovery believes.
    #[doc(hidden)]
    pub recovery_trust: RecoveryTrust,
    /// For tests only: when what the cleaner wrote counts.
    #[doc(hidden)]
    pub cleaner_trust: CleanerTrust,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            max_round_bytes: DEFAULT_MAX_ROUND_BYTES,
            checkpoint_journal_bytes: DEFAULT_CHECKPOINT_JOURNAL_BYTES,
            max_pending_bytes: DEFAULT_MAX_PENDING_BYTES,
            producer_id_expiration_ms: 86_400_000,
            retention_check_interval_ms: 300_000,
            cleaner_backoff_ms: 15_000,
            max_cleaned_keys: DEFAULT_MAX_CLEANED_KEYS,
            early_cleaning_bytes: DEFAULT_EARLY_CLEANING_BYTES,
            max_unwritten_bytes: DEFAULT_MAX_UNWRITTEN_BYTES,
            hash_key: 0,
            recovery_trust: RecoveryTrust::Checkpoint,
            cleaner_trust: CleanerTrust::Checkpoint,
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

/// When new segments of the cleaner take the place of the old ones. For tests only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanerTrust {
    /// Once a durable checkpoint names them.
    Checkpoint,
    /// A planted bug, which the power-loss tests must find: as soon as they are written.
    Written,
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
    /// A coordinator of this process: its bytes are trusted and its sequence numbers not looked at. The producer of a
    /// transactional batch is: its epoch must not be older than the known one.
    Coordinator,
    /// A broker whose log is moved here: the batch keeps its offsets and its leader epoch, whatever gaps compaction
    /// left before it. The caller has checked the bytes.
    OtherBroker,
}

/// What a read does when the first batch is larger than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBatch {
    /// Returns it whole all the same, so that a consumer can always go on.
    AlwaysWhole,
    /// Returns nothing.
    OnlyIfFits,
}

/// Up to where a read goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    /// To the high watermark, records of open and of aborted transactions included.
    ReadUncommitted,
    /// To the last stable offset. Records of aborted transactions are still there: the reader skips them by what
    /// [`crate::LogSet::aborted_transactions`] says.
    ReadCommitted,
}

/// Which epoch the marker of a transaction has, beside that of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerEpoch {
    /// The same or a higher one: a client before KIP-890 keeps its epoch from transaction to transaction.
    AtLeastKnown,
    /// A higher one: each transaction ends by a new epoch (KIP-890), so that a marker of an earlier one that comes late
    /// is told by its epoch.
    AboveKnown,
}

/// What becomes of old records (`cleanup.policy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanupPolicy {
    /// They stay.
    Keep,
    /// Whole segments go by age and size.
    Delete,
    /// Of each key the last record stays.
    Compact,
    /// Both.
    CompactAndDelete,
}

impl CleanupPolicy {
    /// Whether segments go by age and size.
    #[must_use]
    pub fn deletes(self) -> bool {
        matches!(self, Self::Delete | Self::CompactAndDelete)
    }

    /// Whether the cleaner looks at the log.
    #[must_use]
    pub fn compacts(self) -> bool {
        matches!(self, Self::Compact | Self::CompactAndDelete)
    }
}

/// Settings of one partition, by Kafka's topic configuration. The defaults are Kafka's, but that nothing is deleted or
/// compacted until somebody says so.
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
    /// `compression.type`: how clients' batches are stored; `None` keeps them as they came (`producer`).
    pub compression: Option<Compression>,
    /// `cleanup.policy`.
    pub cleanup: CleanupPolicy,
    /// `retention.ms`: how old a segment's newest record may become; `None` for ever.
    pub retention_ms: Option<i64>,
    /// `retention.bytes`: how large the log may become; `None` without bound.
    pub retention_bytes: Option<u64>,
    /// `delete.retention.ms`: how long a tombstone stays after the cleaner first met it.
    pub delete_retention_ms: i64,
    /// `min.compaction.lag.ms`: how old a segment's newest record must be before the cleaner touches it.
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`: how long a record stays uncompacted at most.
    pub max_compaction_lag_ms: i64,
    /// `min.cleanable.dirty.ratio`: the dirty share above which the log is cleaned, from 0 to 1.
    pub min_cleanable_dirty_ratio: f64,
}

impl PartitionConfig {
    /// Whether every record needs a key.
    pub(crate) fn keys(&self) -> KeyRule {
        if self.cleanup.compacts() { KeyRule::Required } else { KeyRule::Optional }
    }

    /// The span of record time after which a segment is rolled. A compacted log rolls in time for its maximum lag,
    /// because the last segment is never compacted.
    pub(crate) fn roll_ms(&self) -> i64 {
        if self.cleanup.compacts() {
            self.segment_ms.min(self.max_compaction_lag_ms)
        } else {
            self.segment_ms
        }
    }
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
            compression: None,
            cleanup: CleanupPolicy::Keep,
            retention_ms: Some(604_800_000),
            retention_bytes: None,
            delete_retention_ms: 86_400_000,
            min_compaction_lag_ms: 0,
            max_compaction_lag_ms: i64::MAX,
            min_cleanable_dirty_ratio: 0.5,
        }
    }
}
