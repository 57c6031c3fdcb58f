//! Times in words.

use milepost_model::Timestamp;

pub(crate) const MINUTE_MS: i64 = 60_000;
pub(crate) const HOUR_MS: i64 = 60 * MINUTE_MS;
pub(crate) const DAY_MS: i64 = 24 * HOUR_MS;

/// A moment, in UTC and to the second.
pub(crate) fn moment(time: Timestamp) -> String {
    let whole = time.0.div_euclid(1000);
    jiff::Timestamp::from_second(whole).map_or_else(|_| time.0.to_string(), |moment| moment.to_string())
}

/// How long something takes, in the largest unit of which it is more than one.
pub(crate) fn span(ms: i64) -> String {
    match ms {
        _ if ms >= 2 * DAY_MS => format!("{} days", ms / DAY_MS),
        _ if ms >= 2 * HOUR_MS => format!("{} hours", ms / HOUR_MS),
        _ if ms >= 2 * MINUTE_MS => format!("{} minutes", ms / MINUTE_MS),
        _ => format!("{} s", ms / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_for_people() {
        assert_eq!(moment(Timestamp(1_700_000_000_999)), "2023-11-14T22:13:20Z");
        assert_eq!(moment(Timestamp(i64::MAX)), i64::MAX.to_string());
        assert_eq!(
            [span(1999), span(HOUR_MS), span(DAY_MS), span(7 * DAY_MS)],
            ["1 s", "60 minutes", "24 hours", "7 days"]
        );
    }
}
