//! Where to begin, as people say it.

use milepost_admin::target::parse_time;
use milepost_client::start::Start;
use milepost_model::Offset;

use crate::clock;

const WORDS: &str =
    "not earliest, latest, an offset, -N, or @TIME (milliseconds, 2026-01-31T12:00:00Z, or -1h before now)";

pub(crate) fn parse(said: &str) -> Result<Start, String> {
    let start = match said {
        "earliest" => Some(Start::Earliest),
        "latest" => Some(Start::Latest),
        _ => match (said.strip_prefix('@'), said.strip_prefix('-')) {
            (Some(time), _) => parse_time(time, clock::now()).map(Start::Since),
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

#[cfg(test)]
mod tests {
    use milepost_model::Timestamp;

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
