//! The real clocks, read only here.

use std::time::{Instant as StdInstant, SystemTime, UNIX_EPOCH};

use milepost_model::{Instant, Now, Timestamp};

/// Reads monotonic and wall time together.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: StdInstant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: StdInstant::now() }
    }
}

impl SystemClock {
    /// What time it is.
    #[must_use]
    pub fn now(&self) -> Now {
        let micros = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
        // A wall clock before 1970 reads as 1970: record times are never negative.
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Now { monotonic: Instant(micros), wall: Timestamp(i64::try_from(wall).unwrap_or(i64::MAX)) }
    }

    /// The tokio instant of a monotonic deadline.
    pub(super) fn tokio_instant(&self, deadline: Instant) -> tokio::time::Instant {
        let at = self.start.checked_add(std::time::Duration::from_micros(deadline.0));
        // A deadline too far ahead to be written down is as good as none for a day.
        at.unwrap_or_else(|| StdInstant::now() + std::time::Duration::from_secs(86_400)).into()
    }
}
