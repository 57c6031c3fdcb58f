//! What an operator may set about transactions, under Kafka's names and with Kafka's defaults.

use crate::TransactionVersion;

/// The settings of transactions. The edge fills it; nothing here reads a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionSettings {
    /// `transaction.max.timeout.ms`: the longest transaction timeout a producer may ask for.
    pub max_timeout_ms: i32,
    /// `transaction.two.phase.commit.enable`: whether a producer may open transactions that never time out.
    pub is_two_phase_commit_enabled: bool,
    /// `transaction.abort.timed.out.transaction.cleanup.interval.ms`: how often timed-out transactions are looked for.
    pub abort_timed_out_interval_ms: u64,
    /// `transactional.id.expiration.ms`: how long a transactional id nobody uses is kept.
    pub expiration_ms: i64,
    /// `transaction.remove.expired.transaction.cleanup.interval.ms`: how often expired transactional ids are looked for.
    pub remove_expired_interval_ms: u64,
    /// The cluster's feature `transaction.version`: the version by which the coordinator itself ends transactions, and
    /// which says in what version records are written.
    pub transaction_version: TransactionVersion,
}

impl Default for TransactionSettings {
    fn default() -> Self {
        Self {
            max_timeout_ms: 900_000,
            is_two_phase_commit_enabled: false,
            abort_timed_out_interval_ms: 10_000,
            expiration_ms: 7 * 86_400_000,
            remove_expired_interval_ms: 3_600_000,
            transaction_version: TransactionVersion::V2,
        }
    }
}

/// How many transactional ids a sweep looks at in one go.
pub(crate) const MAX_SWEEP_IDS: usize = 1_000;

/// How many records a sweep decides in one go.
pub(crate) const MAX_SWEEP_RECORDS: usize = 500;
