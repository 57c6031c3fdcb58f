//! The rate at which an offset moves.

use std::time::Duration;

use milepost_model::Offset;

/// How long one of the two parts lasts that a rate is a mean over. Consumers mostly commit every five seconds: over a
/// shorter time their rate would jump between nothing and a multiple of what it is.
const PART: Duration = Duration::from_secs(15);

/// Watches one offset. Its rate is the mean over the last two parts, of which the newer one is still growing: over 15 to 30
/// seconds, once it was watched that long, or over the last two looks if these are rarer.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    last: Option<(Duration, Offset)>,
    older: Part,
    newer: Part,
}

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    elapsed: Duration,
    records: i64,
}

impl Meter {
    /// The offset at this time. One that moved back was set anew or is of another log, and is measured from there on.
    pub(super) fn note(&mut self, at: Duration, offset: Offset) {
        let Some((before, last)) = self.last.replace((at, offset)) else { return };
        let records = offset.0.saturating_sub(last.0);
        if records < 0 {
            (self.older, self.newer) = (Part::default(), Part::default());
            return;
        }
        if self.newer.elapsed >= PART {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.elapsed += at.saturating_sub(before);
        self.newer.records = self.newer.records.saturating_add(records);
    }

    /// There is no offset any more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Records a second. `None` before the offset was seen twice.
    pub(super) fn rate(&self) -> Option<f64> {
        let elapsed = self.older.elapsed + self.newer.elapsed;
        let records = self.older.records.saturating_add(self.newer.records);
        (!elapsed.is_zero()).then(|| records as f64 / elapsed.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(looks: &[(u64, i64)]) -> Meter {
        let mut meter = Meter::default();
        for (seconds, offset) in looks {
            meter.note(Duration::from_secs(*seconds), Offset(*offset));
        }
        meter
    }

    #[test]
    fn a_rate_needs_two_looks() {
        assert_eq!(after(&[]).rate(), None);
        assert_eq!(after(&[(3, 70)]).rate(), None);
        assert_eq!(after(&[(3, 70), (5, 90)]).rate(), Some(10.0));
        assert_eq!(after(&[(3, 70), (5, 70)]).rate(), Some(0.0), "standing still is known too");
        assert_eq!(after(&[(3, 70), (3, 90)]).rate(), None, "no time has passed");
    }

    #[test]
    fn commits_every_five_seconds_make_an_even_rate() {
        // Ten records a second, committed every five seconds, looked at every second.
        let mut meter = Meter::default();
        for second in 0..=60 {
            meter.note(Duration::from_secs(second), Offset(second as i64 / 5 * 50));
            if second >= 30 {
                let rate = meter.rate().unwrap();
                assert!((7.5..=12.5).contains(&rate), "{rate} at {second} s");
            }
        }
    }

    #[test]
    fn what_has_stopped_is_at_zero_after_two_parts() {
        let mut meter = after(&[(0, 0), (10, 1000)]);
        let mut zero_from = None;
        for second in 11..=60 {
            meter.note(Duration::from_secs(second), Offset(1000));
            if meter.rate() == Some(0.0) {
                zero_from.get_or_insert(second);
            }
        }
        let zero_from = zero_from.expect("it comes to zero");
        assert!((10 + 15..=10 + 2 * 15 + 2).contains(&zero_from), "{zero_from}");
    }

    #[test]
    fn looks_that_are_rare_still_make_a_rate() {
        assert_eq!(after(&[(0, 0), (60, 600), (120, 1800), (180, 1800)]).rate(), Some(10.0));
    }

    #[test]
    fn moving_back_begins_anew() {
        let mut meter = after(&[(0, 500), (2, 600), (4, 100)]);
        assert_eq!(meter.rate(), None, "a reset is no reading");
        meter.note(Duration::from_secs(6), Offset(110));
        assert_eq!(meter.rate(), Some(5.0));
    }
}
