//! When a reader will have nothing left to read.

use std::time::Duration;

/// A lag that is read in less time than this is the rhythm of commits rather than a lag.
const KEEPS_UP_SECONDS: f64 = 10.0;
/// How far two rates may differ that are about the same: commits every five seconds put a mean over fifteen seconds off
/// by a third.
const KEEPS_UP_RATIO: f64 = 1.5;

/// When it will have caught up, if everything goes on as it does now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CatchUp {
    /// Nothing is left to read.
    Even,
    /// It reads about as fast as there is more to read, and is less than ten seconds behind.
    KeepsUp,
    /// In that time.
    After(Duration),
    /// Never: it reads no faster than the log grows.
    Never,
}

impl CatchUp {
    /// Of a reader so far behind that reads and is written for at these rates, in records a second. `None` where a rate
    /// is needed and not known.
    #[must_use]
    pub fn estimate(lag: i64, consumed: Option<f64>, produced: Option<f64>) -> Option<Self> {
        if lag <= 0 {
            return Some(Self::Even);
        }
        let (consumed, produced) = (consumed?, produced?);
        let lag = lag as f64;
        let is_as_fast = produced <= consumed * KEEPS_UP_RATIO && consumed <= produced * KEEPS_UP_RATIO;
        if lag <= consumed * KEEPS_UP_SECONDS && is_as_fast {
            return Some(Self::KeepsUp);
        }
        let gained = consumed - produced;
        if gained <= 0.0 {
            return Some(Self::Never);
        }
        Some(Duration::try_from_secs_f64(lag / gained).map_or(Self::Never, Self::After))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_over_what_is_gained() {
        let known = [
            ((0, None, None), Some(CatchUp::Even)),
            ((10, None, Some(1.0)), None),
            ((10, Some(1.0), None), None),
            ((1000, Some(30.0), Some(10.0)), Some(CatchUp::After(Duration::from_secs(50)))),
            ((800, Some(100.0), Some(0.0)), Some(CatchUp::After(Duration::from_secs(8)))),
            ((1000, Some(10.0), Some(10.0)), Some(CatchUp::Never)),
            ((1000, Some(10.0), Some(20.0)), Some(CatchUp::Never)),
            ((1000, Some(0.0), Some(0.0)), Some(CatchUp::Never)),
            ((1, Some(f64::MIN_POSITIVE), Some(0.0)), Some(CatchUp::Never)),
        ];
        for ((lag, consumed, produced), expected) in known {
            assert_eq!(
                CatchUp::estimate(lag, consumed, produced),
                expected,
                "{lag} {consumed:?} {produced:?}"
            );
        }
    }

    #[test]
    fn a_reader_that_keeps_up_is_not_said_to_fall_behind() {
        // A hundred records a second, committed every five seconds: the lag goes up to 500 and back, and the rates are
        // never quite the same.
        for (lag, consumed, produced) in [(500, 100.0, 100.0), (20, 75.0, 100.0), (480, 125.0, 100.0)] {
            assert_eq!(CatchUp::estimate(lag, Some(consumed), Some(produced)), Some(CatchUp::KeepsUp));
        }
        // One that is slower than its log is, however little it is behind.
        assert_eq!(CatchUp::estimate(20, Some(50.0), Some(100.0)), Some(CatchUp::Never));
        assert_eq!(CatchUp::estimate(2, Some(0.0), Some(0.0)), Some(CatchUp::Never));
    }
}
