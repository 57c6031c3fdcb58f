//! How long things took, as a histogram of fixed buckets: bounded memory, and exact to add up.

/// The upper bounds of the buckets, in microseconds. What took longer is in one more bucket.
const BOUNDS_US: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// A histogram of durations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    buckets: [u64; BOUNDS_US.len() + 1],
    sum_us: u64,
    max_us: u64,
}

impl Latencies {
    /// Counts something that took so many microseconds.
    pub fn record_us(&mut self, us: u64) {
        self.buckets[BOUNDS_US.partition_point(|bound| *bound < us)] += 1;
        self.sum_us = self.sum_us.saturating_add(us);
        self.max_us = self.max_us.max(us);
    }

    /// How many were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// How long all of them took together, in microseconds.
    #[must_use]
    pub fn sum_us(&self) -> u64 {
        self.sum_us
    }

    /// The longest, in microseconds; 0 if there was none.
    #[must_use]
    pub fn max_us(&self) -> u64 {
        self.max_us
    }

    /// Each bucket's upper bound in microseconds (`None` for the last one, which has none), and how many took as long
    /// as that and longer than the bound before.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<u64>, u64)> {
        BOUNDS_US.into_iter().map(Some).chain([None]).zip(self.buckets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_the_bucket_of_the_first_bound_that_it_does_not_pass() {
        let mut latencies = Latencies::default();
        for us in [0, 100, 101, 9_999_999, 10_000_000, 10_000_001, u64::MAX] {
            latencies.record_us(us);
        }
        let filled: Vec<_> = latencies.buckets().filter(|(_, count)| *count > 0).collect();
        assert_eq!(filled, [(Some(100), 2), (Some(250), 1), (Some(10_000_000), 2), (None, 2)]);
        assert_eq!(latencies.count(), 7);
        assert_eq!(latencies.max_us(), u64::MAX);
        assert_eq!(latencies.sum_us(), u64::MAX, "it saturates");
    }

    #[test]
    fn nothing_was_counted_at_first() {
        let latencies = Latencies::default();
        assert_eq!((latencies.count(), latencies.sum_us(), latencies.max_us()), (0, 0, 0));
        assert_eq!(latencies.buckets().count(), BOUNDS_US.len() + 1);
    }
}
