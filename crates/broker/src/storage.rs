//! Opening a data folder for a broker, and saying what recovery found.

use std::path::PathBuf;

use milepost_log::{LogSettings, RecoveryReport};
use milepost_storage::{AcquireError, Engine, LocalEngine, LocalSettings, LossPolicy};

pub use milepost_storage::Durability;

use crate::config::BrokerSettings;

/// Where the data lies and what an acknowledgement promises.
#[derive(Clone, Debug)]
pub struct DataFolder {
    /// The folder; made if it does not exist.
    pub path: PathBuf,
    /// What an acknowledgement promises.
    pub durability: Durability,
    /// Whether acknowledged data that is damaged, and nothing says whose, may be cut away.
    pub accept_loss: bool,
}

/// Opens the folder on local disk and locks it.
///
/// # Errors
/// [`AcquireError`].
pub fn open(folder: &DataFolder) -> Result<Engine, AcquireError> {
    let loss = if folder.accept_loss { LossPolicy::Accept } else { LossPolicy::Refuse };
    let settings = LocalSettings { durability: folder.durability, loss, ..LocalSettings::default() };
    let start = LocalEngine::open_folder(&folder.path, settings)?;
    match start.sync_time_us {
        Some(micros) => {
            tracing::info!("a sync takes {micros} µs here; rounds are flushed by {:?}", start.flushed_by);
        }
        None => tracing::info!("rounds are flushed by {:?}", start.flushed_by),
    }
    Ok(start.engine)
}

/// What one key takes at most in the memory of the cleaner: 24 bytes, in a table that may be half empty.
const CLEANED_KEY_BYTES_MAX: usize = 60;

/// What the settings say about the logs.
#[must_use]
pub fn log_settings(settings: &BrokerSettings) -> LogSettings {
    LogSettings {
        checkpoint_journal_bytes: settings.checkpoint_journal_bytes,
        producer_id_expiration_ms: settings.producer_expiration_ms,
        retention_check_interval_ms: settings.retention_check_interval_ms,
        cleaner_backoff_ms: settings.cleaner_backoff_ms,
        max_cleaned_keys: settings.cleaner_buffer_bytes / CLEANED_KEY_BYTES_MAX,
        ..LogSettings::default()
    }
}

/// Says in the log what recovery found.
pub fn report_recovery(report: &RecoveryReport) {
    if report.rounds_replayed > 0 {
        tracing::info!(
            "recovered {} partitions: {} journal rounds since the last checkpoint, {} batches ({} bytes) written again",
            report.partitions,
            report.rounds_replayed,
            report.batches_refilled,
            report.bytes_refilled
        );
    }
    if let Some(tail) = &report.torn_tail {
        tracing::warn!("cut {} bytes that were never acknowledged, at {}", tail.bytes, tail.place);
    }
    for (partition, reason) in &report.offline {
        tracing::error!(
            "partition {partition} is held offline, acknowledged data of it is damaged: {reason}"
        );
    }
    if report.files_removed > 0 {
        tracing::info!("removed {} files that nothing names any more", report.files_removed);
    }
}
