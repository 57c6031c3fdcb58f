//! Figures in few words.

use std::time::Duration;

use milepost_admin::Standing;
use milepost_admin::watch::{CatchUp, WatchedGroup};

use crate::commands::group::words;
use crate::palette::Tone;
use crate::table::Cell;

/// Records a second: exact where there are few.
pub(super) fn rate(rate: Option<f64>) -> Cell {
    Cell::or_dash(rate.map(|rate| {
        if rate > 0.0 && rate < 9.95 {
            // Anything is more than nothing.
            format!("{:.1}", rate.max(0.1))
        } else {
            format!("{rate:.0}")
        }
    }))
}

/// When a reader will have caught up.
pub(super) fn catch_up(catch_up: Option<CatchUp>) -> Cell {
    match catch_up {
        None => "-".into(),
        Some(CatchUp::Even) => Cell::toned("even", Tone::Good),
        Some(CatchUp::KeepsUp) => Cell::toned("keeps up", Tone::Good),
        Some(CatchUp::After(span)) => {
            Cell::toned(words::duration(milliseconds(span).max(1000)), Tone::Warning)
        }
        Some(CatchUp::Never) => Cell::toned("never at this rate", Tone::Bad),
    }
}

/// The same to sort by.
pub(super) fn catch_up_seconds(catch_up: Option<CatchUp>) -> Option<f64> {
    match catch_up? {
        CatchUp::Even => Some(-1.0),
        CatchUp::KeepsUp => Some(0.0),
        CatchUp::After(span) => Some(span.as_secs_f64()),
        CatchUp::Never => Some(f64::INFINITY),
    }
}

/// The lag of a group, over those partitions of which it is known.
pub(super) fn group_lag(lag: Option<i64>) -> Cell {
    words::sum(lag)
}

/// Of how many partitions of a group there is no lag, or more behind it than can be read.
pub(super) fn group_standing(group: &WatchedGroup) -> Cell {
    if let Some(reason) = &group.unknown {
        return words::standing_because(Standing::Unknown, Some(reason));
    }
    let totals = &group.figures.totals;
    if totals.partitions == 0 {
        let is_there = group.state.as_deref() != Some("Dead");
        return if is_there { "nothing committed".into() } else { Cell::toned("no such group", Tone::Bad) };
    }
    let counted = [
        (totals.beyond_end, Standing::BeyondEnd.words(), Tone::Bad),
        (totals.below_start, Standing::BelowStart.words(), Tone::Bad),
        (totals.unknown, Standing::Unknown.words(), Tone::Warning),
        (totals.never, "never", Tone::Plain),
    ];
    let counted: Vec<(usize, &str, Tone)> = counted.into_iter().filter(|(count, ..)| *count > 0).collect();
    match counted.first() {
        None => Cell::toned("ok", Tone::Good),
        Some((_, _, tone)) => {
            let words: Vec<String> =
                counted.iter().map(|(count, words, _)| format!("{count} {words}")).collect();
            Cell::toned(words.join(", "), *tone)
        }
    }
}

pub(super) fn milliseconds(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use milepost_admin::Totals;

    use super::*;

    #[test]
    fn a_group_is_ok_only_where_every_position_lies_in_its_log() {
        let standing = |totals: Totals| {
            let mut group = WatchedGroup::default();
            group.figures.totals = totals;
            group_standing(&group)
        };
        let all = Totals { partitions: 3, lag: Some(9), ..Totals::default() };
        assert_eq!(standing(all), Cell::toned("ok", Tone::Good));
        assert_eq!(standing(Totals { below_start: 1, ..all }), Cell::toned("1 below start", Tone::Bad));
        let mixed = Totals { below_start: 1, beyond_end: 1, never: 1, ..all };
        assert_eq!(standing(mixed).text, "1 beyond end, 1 below start, 1 never");
    }

    #[test]
    fn a_rate_is_short_and_never_nothing_where_there_is_some() {
        let known = [
            (None, "-"),
            (Some(0.0), "0"),
            (Some(0.01), "0.1"),
            (Some(2.34), "2.3"),
            (Some(9.96), "10"),
            (Some(1234.5), "1234"),
        ];
        for (number, words) in known {
            assert_eq!(rate(number).text, words);
        }
    }

    #[test]
    fn the_time_to_catch_up_is_in_words() {
        let after = |ms| Some(CatchUp::After(Duration::from_millis(ms)));
        let known = [
            (None, "-"),
            (Some(CatchUp::Even), "even"),
            (Some(CatchUp::KeepsUp), "keeps up"),
            (after(80), "1s"),
            (after(312_000), "5m12s"),
            (Some(CatchUp::Never), "never at this rate"),
        ];
        for (span, words) in known {
            assert_eq!(catch_up(span).text, words);
        }
    }
}
