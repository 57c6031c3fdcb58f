//! How a store is opened.

use std::time::{Instant as StdInstant, SystemTime, UNIX_EPOCH};

use milepost_groups::GroupSettings;
use milepost_log::DEFAULT_CHECKPOINT_JOURNAL_BYTES;
use milepost_model::{Instant, Now, Timestamp};
use milepost_storage::Durability;

/// How long a call waits for the disk unless [`Options::timeout_ms`] says otherwise, in milliseconds.
pub const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// The settings of a store.
#[derive(Clone, Debug)]
pub struct Options {
    /// What a call that returned promises.
    pub durability: Durability,
    /// Whether damaged acknowledged data that nobody can attribute may be cut away. Otherwise the folder does not open.
    pub accept_loss: bool,
    /// How long a call waits for the disk, in milliseconds, before it gives up with [`crate::Error::TimedOut`].
    pub timeout_ms: u64,
    /// Bytes of journal between two checkpoints; they bound the time of a recovery.
    pub checkpoint_journal_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            accept_loss: false,
            timeout_ms: DEFAULT_TIMEOUT_MS,
            checkpoint_journal_bytes: DEFAULT_CHECKPOINT_JOURNAL_BYTES,
        }
    }
}

/// The settings of the machine of groups: nothing expires while the library has the folder.
pub(crate) fn group_settings() -> GroupSettings {
    GroupSettings { offsets_retention_check_interval_ms: u64::MAX, ..GroupSettings::default() }
}

/// Clock and randomness, which are parameters: a test that passes its own sees the same run every time.
pub struct Surroundings {
    /// Says what time it is; monotonic time must never go back.
    pub now: Box<dyn Fn() -> Now + Send>,
    /// Gives random bytes, for ids and for the seed of hash tables.
    pub random: Box<dyn FnMut() -> [u8; 16] + Send>,
}

impl Surroundings {
    /// The operating system's.
    ///
    /// # Panics
    /// Its randomness does, if the operating system has none.
    #[must_use]
    pub fn system() -> Self {
        let start = StdInstant::now();
        Self {
            now: Box::new(move || system_now(start)),
            random: Box::new(|| {
                let mut bytes = [0; 16];
                getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
                bytes
            }),
        }
    }
}

fn system_now(start: StdInstant) -> Now {
    let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    // A wall clock before 1970 reads as 1970: record times are never negative.
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Now { monotonic: Instant(micros), wall: Timestamp(i64::try_from(wall).unwrap_or(i64::MAX)) }
}
