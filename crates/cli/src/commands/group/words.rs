//! How groups, positions and lags are written, for people and for programs.

use milepost_admin::{Lag, PartitionFacts, Position, Reason, Standing, Totals};
use milepost_client::groups::Committed;
use serde_json::{Value, json};

use crate::palette::Tone;
use crate::table::Cell;

/// A state, coloured by what it means.
pub(super) fn state(state: Option<&str>) -> Cell {
    let tone = match state {
        Some("Stable") => Tone::Good,
        Some("PreparingRebalance" | "CompletingRebalance" | "Assigning" | "Reconciling") => Tone::Warning,
        Some("Dead") => Tone::Bad,
        Some(_) | None => Tone::Plain,
    };
    Cell::toned(state.unwrap_or("-"), tone)
}

/// A lag: a number where it is known, else a dash. Beyond the end is said by its sign and by the standing beside it.
pub(super) fn lag(lag: Option<&Lag>) -> Cell {
    match lag {
        Some(Lag::Behind(0)) => Cell::toned("0", Tone::Good),
        Some(Lag::Behind(count)) => Cell::toned(count.to_string(), Tone::Warning),
        Some(Lag::BeyondEnd(count)) => Cell::toned(format!("-{count}"), Tone::Bad),
        Some(Lag::Never | Lag::Unknown(_)) | None => "-".into(),
    }
}

/// A sum of lags: a dash where none is known.
pub(super) fn sum(lag: Option<i64>) -> Cell {
    self::lag(lag.map(Lag::Behind).as_ref())
}

/// The number of a lag for programs: null where there is none.
pub(super) fn lag_number(lag: Option<&Lag>) -> Value {
    match lag {
        Some(Lag::Behind(count)) => (*count).into(),
        Some(Lag::BeyondEnd(count)) => (-count).into(),
        Some(Lag::Never | Lag::Unknown(_)) | None => Value::Null,
    }
}

/// What is to be thought of a partition.
pub(super) fn standing(one: &PartitionFacts) -> Cell {
    let cell = standing_because(one.standing(), why(one));
    match one.position.share_start() {
        Some(start) => Cell { text: format!("{}, share start {}", cell.text, start.offset), ..cell },
        None => cell,
    }
}

/// What is to be thought of a partition, and why that cannot be said.
pub(super) fn standing_because(standing: Standing, reason: Option<&Reason>) -> Cell {
    let tone = match standing {
        Standing::Inside => Tone::Good,
        Standing::NeverCommitted | Standing::NotBegun => Tone::Plain,
        Standing::Unknown => Tone::Warning,
        Standing::BelowStart | Standing::BeyondEnd | Standing::Gone => Tone::Bad,
    };
    let words = match (standing, reason) {
        (Standing::Unknown, Some(reason)) => format!("unknown: {reason}"),
        _ => standing.words().to_owned(),
    };
    Cell::toned(words, tone)
}

/// Why something is not known of a partition.
pub(super) fn why(one: &PartitionFacts) -> Option<&Reason> {
    match (&one.position, &one.log) {
        (Position::Unknown(reason), _) | (_, Err(reason)) => Some(reason),
        _ => None,
    }
}

/// A commit, for programs.
pub(super) fn committed(prefix: &str, committed: Option<&Committed>) -> [(String, Value); 3] {
    [
        (format!("{prefix}offset"), committed.map(|one| one.offset.0).into()),
        (
            format!("{prefix}leader_epoch"),
            committed.and_then(|one| one.leader_epoch).map(|epoch| epoch.0).into(),
        ),
        (format!("{prefix}metadata"), committed.map(|one| one.metadata.clone()).into()),
    ]
}

/// Sums, for programs.
pub(super) fn totals(totals: &Totals) -> Value {
    json!({
        "partitions": totals.partitions,
        "lag": totals.lag,
        "stable_lag": totals.stable_lag,
        "never_committed": totals.never,
        "beyond_end": totals.beyond_end,
        "unknown": totals.unknown,
        "below_start": totals.below_start,
    })
}

/// A reason, for programs.
pub(super) fn reason(reason: &Reason) -> Value {
    json!({ "error": reason.words, "code": reason.code() })
}

/// What is to be said of a group that was named and is not there.
pub(super) fn absent(group: &str) -> Reason {
    Reason::no_such_group(group)
}

/// A span of time in its two largest units: `3d4h`, `5m12s`, `840ms`.
pub(super) fn duration(ms: i64) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
    let Some(first) = units.iter().position(|(_, length)| ms >= *length) else { return "0".to_owned() };
    let (name, length) = units[first];
    let rest = match units.get(first + 1) {
        Some((name, below)) if *name != "ms" && ms % length >= *below => {
            format!("{}{name}", ms % length / below)
        }
        _ => String::new(),
    };
    format!("{}{name}{rest}", ms / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_are_short() {
        let known = [
            (0, "0"),
            (840, "840ms"),
            (1500, "1s"),
            (312_000, "5m12s"),
            (60_000, "1m"),
            (273_600_000, "3d4h"),
        ];
        for (ms, words) in known {
            assert_eq!(duration(ms), words);
        }
    }
}
