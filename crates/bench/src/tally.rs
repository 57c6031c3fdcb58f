//! What was answered within the measured time.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use milepost_wire::ErrorCode;

/// The longest latency that is told apart from longer ones.
const LONGEST_US: u64 = 60_000_000;
/// Latencies are kept to so many significant digits.
const DIGITS: u8 = 3;

/// Counts and latencies.
#[derive(Debug)]
pub(crate) struct Tally {
    requests: u64,
    units: u64,
    errors: BTreeMap<ErrorCode, u64>,
    latency_us: Histogram<u64>,
}

/// What one answer said.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What was achieved: offsets committed, bytes appended.
    pub(crate) units: u64,
    /// The first error in the answer.
    pub(crate) error: Option<ErrorCode>,
}

impl Default for Tally {
    fn default() -> Self {
        let latency_us =
            Histogram::new_with_bounds(1, LONGEST_US, DIGITS).expect("the bounds are a histogram's");
        Self { requests: 0, units: 0, errors: BTreeMap::new(), latency_us }
    }
}

impl Tally {
    /// Notes an answer. Only those without an error count as done and have a latency.
    pub(crate) fn note(&mut self, latency: Duration, outcome: &Outcome) {
        if let Some(code) = outcome.error {
            *self.errors.entry(code).or_default() += 1;
            return;
        }
        self.requests += 1;
        self.units += outcome.units;
        let latency_us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.latency_us.saturating_record(latency_us);
    }

    /// Requests answered without an error.
    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    /// The sum of what they achieved.
    pub(crate) fn units(&self) -> u64 {
        self.units
    }

    /// How many answers had which error.
    pub(crate) fn errors(&self) -> &BTreeMap<ErrorCode, u64> {
        &self.errors
    }

    /// The latency, in milliseconds, below which so many percent of the requests were answered.
    pub(crate) fn latency_ms(&self, percent: f64) -> f64 {
        self.latency_us.value_at_percentile(percent) as f64 / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_apart() {
        let mut tally = Tally::default();
        for millis in 1..=100 {
            tally.note(Duration::from_millis(millis), &Outcome { units: 2, error: None });
        }
        let failed = Outcome { units: 1, error: Some(ErrorCode::NotCoordinator) };
        tally.note(Duration::from_secs(50), &failed);
        assert_eq!((tally.requests(), tally.units()), (100, 200));
        assert_eq!(tally.errors().get(&ErrorCode::NotCoordinator), Some(&1));
        assert!((tally.latency_ms(50.0) - 50.0).abs() < 0.1);
        assert!((tally.latency_ms(100.0) - 100.0).abs() < 0.1);
    }

    #[test]
    fn a_latency_beyond_the_range_counts_as_the_longest() {
        let mut tally = Tally::default();
        tally.note(Duration::from_secs(3600), &Outcome::default());
        assert!(tally.latency_ms(100.0) >= 60_000.0);
    }
}
