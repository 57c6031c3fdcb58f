//! How long to wait before a thing is tried again: longer each time, up to a bound.

use std::time::Duration;

use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::stop::Stop;

const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(1);
/// How often a wait looks whether it is still wanted.
const SLICE: Duration = Duration::from_millis(50);

/// The wait before the next attempt.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl Backoff {
    /// Waits before the next attempt, and gives `error` back if there is no time for one.
    pub(crate) fn wait(
        &mut self,
        deadline: Deadline,
        stop: &Stop,
        error: ClientError,
    ) -> Result<(), ClientError> {
        let pause = self.next;
        self.next = (self.next * 2).min(LONGEST);
        if deadline.left().is_none_or(|left| left <= pause) {
            return Err(error);
        }
        sleep(pause, stop)
    }
}

/// Sleeps, but not through a stop.
pub(crate) fn sleep(pause: Duration, stop: &Stop) -> Result<(), ClientError> {
    let until = Deadline::after(pause);
    loop {
        if stop.is_set() {
            return Err(ClientError::Stopped);
        }
        let Some(left) = until.left() else { return Ok(()) };
        std::thread::sleep(left.min(SLICE));
    }
}
