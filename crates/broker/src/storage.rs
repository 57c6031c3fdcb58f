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

/// What the settings say about the logs.
#[must_use]
pub fn log_settings(settings: &BrokerSettings) -> LogSettings {
    LogSettings {
        checkpoint_journal_bytes: settings.checkpoint_journal_bytes,
        producer_id_expiration_ms: settings.producer_expiration_ms,
        ..LogSettings::default()
    }
}

/// Says in the log what recovery found.
pub fn report_recovery(report: &RecoveryReport) {
    tracing::info!("{report:?}");
}
