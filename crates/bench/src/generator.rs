//! What the load generator itself cost, so that its figures are not taken for the server's.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// With less idle time than this the generator is taken for the limit.
const LEAST_IDLE_SHARE: f64 = 0.10;

/// A moment in the generator's life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    begin: Instant,
    cpu: Duration,
    queued: Option<Duration>,
}

/// Where the generator's time went; shares of the wall time of its one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    /// On a core.
    pub(crate) busy: f64,
    /// Ready to run, but without a core. `None` where the system does not tell.
    pub(crate) queued: Option<f64>,
}

impl Stopwatch {
    /// Begins now.
    pub(crate) fn start() -> Self {
        Self { begin: Instant::now(), cpu: cpu_time(), queued: queued_time() }
    }

    /// Where the time went since.
    pub(crate) fn shares(&self) -> Shares {
        let wall = self.begin.elapsed().as_secs_f64().max(f64::MIN_POSITIVE);
        let queued = self.queued.zip(queued_time()).map(|(from, to)| to.saturating_sub(from));
        Shares {
            busy: cpu_time().saturating_sub(self.cpu).as_secs_f64() / wall,
            queued: queued.map(|queued| queued.as_secs_f64() / wall),
        }
    }
}

impl Shares {
    /// Waiting for the server.
    pub(crate) fn idle(&self) -> f64 {
        (1.0 - self.busy - self.queued.unwrap_or(0.0)).max(0.0)
    }

    /// Whether more load could not have been made.
    pub(crate) fn is_limit(&self) -> bool {
        self.idle() < LEAST_IDLE_SHARE
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let whole = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(whole, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// How long this thread has waited for a core: the second figure of the scheduler's statistics, in nanoseconds.
fn queued_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generator_is_the_limit_when_it_hardly_ever_waits_for_the_server() {
        let is_limit = |busy, queued| Shares { busy, queued }.is_limit();
        assert!(is_limit(0.95, None));
        assert!(is_limit(0.5, Some(0.45)), "time in line for a core is no time spent waiting for the server");
        assert!(!is_limit(0.5, Some(0.1)));
        assert!(!is_limit(0.0, None));
    }

    #[test]
    fn shares_are_never_below_nothing() {
        // The clocks are read one after the other, so their sum can pass the wall's.
        assert!(Shares { busy: 1.01, queued: Some(0.02) }.idle().abs() < f64::EPSILON);
    }
}
