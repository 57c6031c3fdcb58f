//! The columns of the overview.

use std::cmp::Ordering;

use milepost_admin::Standing;
use milepost_admin::watch::WatchedGroup;

use super::column::{Column, Key, Order, Side, Spec};
use super::figures;
use super::sparkline::sparkline;
use crate::commands::group::words;
use crate::palette::Tone;
use crate::table::Cell;

/// Of how many looks a row shows the lag.
const TREND_LOOKS: usize = 20;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupColumn {
    Group,
    State,
    Members,
    Lag,
    Standing,
    Consumed,
    Produced,
    CatchUp,
    Trend,
    Worst,
}

impl Column for GroupColumn {
    type Row<'a> = (&'a str, &'a WatchedGroup);
    const ALL: &'static [Self] = &[
        Self::Group,
        Self::State,
        Self::Members,
        Self::Lag,
        Self::Standing,
        Self::Consumed,
        Self::Produced,
        Self::CatchUp,
        Self::Trend,
        Self::Worst,
    ];
    const SORTED: &'static [Self] = &[
        Self::Group,
        Self::State,
        Self::Members,
        Self::Lag,
        Self::Standing,
        Self::Consumed,
        Self::Produced,
        Self::CatchUp,
    ];

    fn spec(self) -> Spec {
        let (heading, side, least, most, rank) = match self {
            Self::Group => ("GROUP", Side::Left, 15, 100, 0),
            Self::Lag => ("LAG", Side::Right, 8, 20, 1),
            Self::CatchUp => ("CATCH-UP", Side::Left, 9, 18, 2),
            Self::Consumed => ("CONSUMED/S", Side::Right, 10, 14, 3),
            Self::Produced => ("PRODUCED/S", Side::Right, 10, 14, 4),
            Self::State => ("STATE", Side::Left, 6, 19, 6),
            Self::Standing => ("STANDING", Side::Left, 8, 40, 5),
            Self::Trend => ("LAG OVER TIME", Side::Right, TREND_LOOKS, TREND_LOOKS, 7),
            Self::Members => ("MEMBERS", Side::Right, 7, 7, 8),
            Self::Worst => ("WORST PARTITION", Side::Left, 15, 40, 9),
        };
        Spec { heading, side, least, most, rank }
    }

    fn cell(self, (name, group): (&str, &WatchedGroup)) -> Cell {
        let figures = &group.figures;
        match self {
            Self::Group => name.into(),
            Self::State => words::state(group.state.as_deref()),
            Self::Members => Cell::or_dash(group.members.as_ref().map(Vec::len)),
            Self::Lag => figures::group_lag(figures.lag),
            Self::Standing => figures::group_standing(group),
            Self::Consumed => figures::rate(figures.consumption),
            Self::Produced => figures::rate(figures.production),
            Self::CatchUp => figures::catch_up(figures.catch_up),
            Self::Trend => sparkline(group.lags.iter().copied(), TREND_LOOKS).into(),
            Self::Worst => worst(group),
        }
    }

    fn compare(self, left: Self::Row<'_>, right: Self::Row<'_>, order: Order) -> Ordering {
        self.key(left).compare(&self.key(right), order)
    }

    fn first_order(self) -> Order {
        match self {
            Self::Group | Self::State => Order::Ascending,
            _ => Order::Descending,
        }
    }
}

impl GroupColumn {
    fn key<'a>(self, (name, group): (&'a str, &'a WatchedGroup)) -> Key<'a> {
        let figures = &group.figures;
        let count = |count: usize| Some(count as f64);
        match self {
            Self::Group => Key::Text(name),
            Self::State => group.state.as_deref().map_or(Key::Unknown, Key::Text),
            Self::Members => Key::number(group.members.as_ref().and_then(|members| count(members.len()))),
            Self::Lag => Key::number(figures.lag.map(|lag| lag as f64)),
            Self::Standing => {
                let totals = &figures.totals;
                Key::number(count(totals.beyond_end + totals.below_start + totals.unknown + totals.never))
            }
            Self::Consumed => Key::number(figures.consumption),
            Self::Produced => Key::number(figures.production),
            Self::CatchUp => Key::number(figures::catch_up_seconds(figures.catch_up)),
            Self::Trend | Self::Worst => Key::Unknown,
        }
    }
}

fn worst(group: &WatchedGroup) -> Cell {
    let Some(partition) = &group.figures.worst else { return "-".into() };
    let Some(one) = group.partitions.get(partition) else { return "-".into() };
    match one.standing {
        Standing::BeyondEnd => Cell::toned(format!("{partition} {}", one.standing.words()), Tone::Bad),
        _ => format!("{partition} {}", words::lag(Some(&one.lag)).text).into(),
    }
}
