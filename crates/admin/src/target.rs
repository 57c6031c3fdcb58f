//! Where a group is to go on reading, in the one grammar in which that is said everywhere.

use std::path::PathBuf;
use std::str::FromStr;

use jiff::{Span, SpanRelativeTo, Timestamp as Civil};
use milepost_model::{Offset, Timestamp};

/// The grammar, for messages and help.
pub const GRAMMAR: &str = "earliest, latest, N, +N, -N, @TIME (milliseconds, 2026-01-31T12:00Z, 2026-01-31T12:00+01:00, or \
    -1h30m before now), group:NAME, file:PATH, or snapshot:NAME";

/// A target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The first record that is still there.
    Earliest,
    /// Behind the last record.
    Latest,
    /// This offset.
    At(Offset),
    /// This many offsets after where it is, or before if negative.
    Shift(i64),
    /// The first record that is not older than this.
    Since(Timestamp),
    /// Where another group is.
    Group(String),
    /// What a file says.
    File(PathBuf),
    /// What a snapshot says.
    Snapshot(String),
}

impl Target {
    /// Reads a target; times before now are counted from `now`.
    ///
    /// # Errors
    /// The grammar, if it is none.
    pub fn parse(said: &str, now: Timestamp) -> Result<Self, String> {
        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let target = match said {
            "earliest" => Some(Self::Earliest),
            "latest" => Some(Self::Latest),
            _ => {
                if let Some(time) = said.strip_prefix('@') {
                    parse_time(time, now).map(Self::Since)
                } else if let Some(group) = said.strip_prefix("group:") {
                    named(group).map(Self::Group)
                } else if let Some(path) = said.strip_prefix("file:") {
                    named(path).map(|path| Self::File(path.into()))
                } else if let Some(name) = said.strip_prefix("snapshot:") {
                    named(name).map(Self::Snapshot)
                } else if let Some(count) = said.strip_prefix('+') {
                    digits(count).map(Self::Shift)
                } else if let Some(count) = said.strip_prefix('-') {
                    digits(count).map(|count| Self::Shift(-count))
                } else {
                    digits(said).map(|offset| Self::At(Offset(offset)))
                }
            }
        };
        target.ok_or_else(|| format!("{said:?} is none of {GRAMMAR}"))
    }
}

/// A number without a sign.
fn digits(said: &str) -> Option<i64> {
    if said.bytes().all(|byte| byte.is_ascii_digit()) { said.parse().ok() } else { None }
}

/// Milliseconds since 1970, a moment with its time zone (seconds may be missing), or a time before now such as `-1h30m`.
#[must_use]
pub fn parse_time(said: &str, now: Timestamp) -> Option<Timestamp> {
    if let Some(ms) = digits(said) {
        return Some(Timestamp(ms));
    }
    if let Some(ago) = said.strip_prefix('-') {
        let ago = Span::from_str(ago).ok()?.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
        let ms = i64::try_from(ago.as_millis()).ok()?;
        return (ms >= 0).then(|| now.plus_ms(-ms)).filter(|time| time.0 >= 0);
    }
    let moment = Civil::from_str(said).ok()?.as_millisecond();
    (moment >= 0).then_some(Timestamp(moment))
}

/// A moment in words that [`parse_time`] reads: `2026-01-31T12:00:00.000Z`, always to the millisecond, so that times in a column
/// stand one below the other.
#[must_use]
pub fn write_time(time: Timestamp) -> String {
    Civil::from_millisecond(time.0).map_or_else(|_| time.0.to_string(), |moment| format!("{moment:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    #[test]
    fn targets_are_read_as_people_say_them() {
        let known = [
            ("earliest", Target::Earliest),
            ("latest", Target::Latest),
            ("0", Target::At(Offset(0))),
            ("42", Target::At(Offset(42))),
            ("+7", Target::Shift(7)),
            ("-7", Target::Shift(-7)),
            ("@1700000000000", Target::Since(NOW)),
            ("@2023-11-14T22:13:20Z", Target::Since(NOW)),
            ("@2023-11-14T23:13:20+01:00", Target::Since(NOW)),
            ("@2023-11-14T23:13+01:00", Target::Since(Timestamp(1_699_999_980_000))),
            ("@2024-02-29T00:00Z", Target::Since(Timestamp(1_709_164_800_000))),
            ("@1970-01-01T00:00:00.25Z", Target::Since(Timestamp(250))),
            ("@-1h", Target::Since(Timestamp(NOW.0 - 3_600_000))),
            ("@-1h30m", Target::Since(Timestamp(NOW.0 - 5_400_000))),
            ("@-90s", Target::Since(Timestamp(NOW.0 - 90_000))),
            ("@-2d", Target::Since(Timestamp(NOW.0 - 172_800_000))),
            ("group:other", Target::Group("other".to_owned())),
            ("file:a/b.csv", Target::File("a/b.csv".into())),
            ("snapshot:before", Target::Snapshot("before".to_owned())),
        ];
        for (said, target) in known {
            assert_eq!(Target::parse(said, NOW).as_ref(), Ok(&target), "{said}");
        }
    }

    #[test]
    fn what_is_no_target_is_refused() {
        for said in [
            "",
            "first",
            "--1",
            "+-1",
            "1.5",
            "99999999999999999999",
            "@",
            "@soon",
            "@2024-02-30T00:00Z",
            "@2024-02-28T00:00",
            "@2024-02-28",
            "@--1h",
            "@-",
            "@1969-12-31T23:59Z",
            "group:",
            "file:",
            "snapshot:",
        ] {
            assert!(Target::parse(said, NOW).is_err(), "{said:?}");
        }
    }

    #[test]
    fn a_written_time_is_read_back() {
        assert_eq!(write_time(NOW), "2023-11-14T22:13:20.000Z");
        assert_eq!(write_time(NOW.plus_ms(120)), "2023-11-14T22:13:20.120Z");
        assert_eq!(parse_time(&write_time(Timestamp(250)), NOW), Some(Timestamp(250)));
    }
}
