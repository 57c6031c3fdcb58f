//! Where to begin, as people say it.

use milepost_client::start::Start;
use milepost_model::{Offset, Timestamp};

const WORDS: &str = "not earliest, latest, an offset, -N, or @TIME (milliseconds or 2026-01-31T12:00:00Z)";

pub(super) fn parse(said: &str) -> Result<Start, String> {
    let start = match said {
        "earliest" => Some(Start::Earliest),
        "latest" => Some(Start::Latest),
        _ => match (said.strip_prefix('@'), said.strip_prefix('-')) {
            (Some(time), _) => parse_time(time).map(Timestamp).map(Start::Since),
            (_, Some(count)) => digits(count).map(Start::BeforeEnd),
            _ => digits(said).map(Offset).map(Start::At),
        },
    };
    start.ok_or_else(|| WORDS.to_owned())
}

/// A number without a sign.
fn digits(said: &str) -> Option<i64> {
    if said.bytes().all(|byte| byte.is_ascii_digit()) { said.parse().ok() } else { None }
}

/// Milliseconds since 1970, or a time of UTC in the form of RFC 3339, of which seconds and their parts may be missing.
fn parse_time(said: &str) -> Option<i64> {
    if let Some(ms) = digits(said) {
        return Some(ms);
    }
    let (date, time) = said.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = split(date, '-')?;
    let (time, ms) = match time.split_once('.') {
        Some((time, part)) if (1..=9).contains(&part.len()) => {
            (time, digits(&format!("{part:0<3}")[..3]).filter(|_| digits(part).is_some())?)
        }
        Some(_) => return None,
        None => (time, 0),
    };
    let [hour, minute, second] = split(time, ':').or_else(|| {
        let [hour, minute] = split(time, ':')?;
        Some([hour, minute, 0])
    })?;
    let is_one = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    is_one
        .then(|| (((days_before(year, month) + day - 1) * 24 + hour) * 60 + minute) * 60 + second)
        .map(|seconds| seconds * 1000 + ms)
}

fn split<const PARTS: usize>(said: &str, separator: char) -> Option<[i64; PARTS]> {
    let parts: Vec<i64> = said.split(separator).map(digits).collect::<Option<_>>()?;
    parts.try_into().ok()
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the first of 1970 to the first of that month.
fn days_before(year: i64, month: i64) -> i64 {
    let years: i64 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    years + (1..month).map(|month| days_in(year, month)).sum::<i64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_people_say_them() {
        let known = [
            ("earliest", Start::Earliest),
            ("latest", Start::Latest),
            ("0", Start::At(Offset(0))),
            ("42", Start::At(Offset(42))),
            ("-10", Start::BeforeEnd(10)),
            ("@1700000000000", Start::Since(Timestamp(1_700_000_000_000))),
            ("@2023-11-14T22:13:20Z", Start::Since(Timestamp(1_700_000_000_000))),
            ("@2024-02-29T00:00Z", Start::Since(Timestamp(1_709_164_800_000))),
            ("@1970-01-01T00:00:00.25Z", Start::Since(Timestamp(250))),
        ];
        for (said, start) in known {
            assert_eq!(parse(said), Ok(start), "{said}");
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        let refused = [
            "",
            "-",
            "@",
            "first",
            "1.5",
            "+1",
            "--1",
            "@2023-02-29T00:00Z",
            "@2023-13-01T00:00Z",
            "@2023-11-14",
            "@2023-11-14T24:00Z",
            "@2023-11-14T22:13:20",
            "@2023-11-14T22:13:20.Z",
            "99999999999999999999",
        ];
        for said in refused {
            assert!(parse(said).is_err(), "{said}");
        }
    }
}
