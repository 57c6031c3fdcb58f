//! The columns of one group's partitions.

use std::cmp::Ordering;

use milepost_admin::watch::{WatchedMember, WatchedPartition};
use milepost_admin::{Lag, Standing};
use milepost_client::TopicPartition;

use super::column::{Column, Key, Order, Side, Spec};
use super::figures;
use crate::commands::group::words;
use crate::table::Cell;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartitionColumn {
    Partition,
    Committed,
    End,
    Lag,
    Standing,
    Consumed,
    Produced,
    CatchUp,
    Client,
    Host,
    Member,
}

/// A partition with whoever has to read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartitionRow<'a> {
    pub(super) partition: &'a TopicPartition,
    pub(super) one: &'a WatchedPartition,
    pub(super) member: Option<&'a WatchedMember>,
}

impl Column for PartitionColumn {
    type Row<'a> = PartitionRow<'a>;
    const ALL: &'static [Self] = &[
        Self::Partition,
        Self::Committed,
        Self::End,
        Self::Lag,
        Self::Standing,
        Self::Consumed,
        Self::Produced,
        Self::CatchUp,
        Self::Client,
        Self::Host,
        Self::Member,
    ];
    const SORTED: &'static [Self] = Self::ALL;

    fn spec(self) -> Spec {
        let (heading, side, least, most, rank) = match self {
            Self::Partition => ("PARTITION", Side::Left, 15, 100, 0),
            Self::Lag => ("LAG", Side::Right, 8, 20, 1),
            Self::CatchUp => ("CATCH-UP", Side::Left, 9, 18, 2),
            Self::Consumed => ("CONSUMED/S", Side::Right, 10, 14, 3),
            Self::Standing => ("STANDING", Side::Left, 8, 40, 4),
            Self::Host => ("HOST", Side::Left, 12, 30, 5),
            Self::Produced => ("PRODUCED/S", Side::Right, 10, 14, 6),
            Self::Committed => ("COMMITTED", Side::Right, 9, 20, 7),
            Self::End => ("END", Side::Right, 9, 20, 8),
            Self::Client => ("CLIENT-ID", Side::Left, 9, 30, 9),
            Self::Member => ("MEMBER", Side::Left, 12, 60, 10),
        };
        Spec { heading, side, least, most, rank }
    }

    fn cell(self, row: PartitionRow<'_>) -> Cell {
        let one = row.one;
        match self {
            Self::Partition => row.partition.to_string().into(),
            Self::Committed => Cell::or_dash(one.committed),
            Self::End => Cell::or_dash(one.end),
            Self::Lag => words::lag(Some(&one.lag)),
            Self::Standing => {
                let reason = if let Lag::Unknown(reason) = &one.lag { Some(reason) } else { None };
                words::standing_because(one.standing, reason)
            }
            Self::Consumed => figures::rate(one.consumption()),
            Self::Produced => figures::rate(one.production()),
            Self::CatchUp => figures::catch_up(one.catch_up()),
            Self::Client => Cell::or_dash(row.member.map(|member| &member.client_id)),
            Self::Host => Cell::or_dash(row.member.map(|member| &member.host)),
            Self::Member => Cell::or_dash(row.member.map(|member| &member.member_id)),
        }
    }

    fn compare(self, left: Self::Row<'_>, right: Self::Row<'_>, order: Order) -> Ordering {
        self.key(left).compare(&self.key(right), order)
    }

    fn first_order(self) -> Order {
        match self {
            Self::Partition | Self::Client | Self::Host | Self::Member => Order::Ascending,
            _ => Order::Descending,
        }
    }
}

impl PartitionColumn {
    fn key<'a>(self, row: PartitionRow<'a>) -> Key<'a> {
        let one = row.one;
        let text = |text: Option<&'a String>| text.map_or(Key::Unknown, |text| Key::Text(text));
        match self {
            Self::Partition => Key::Partition(row.partition),
            Self::Committed => Key::number(one.committed.map(|offset| offset.0 as f64)),
            Self::End => Key::number(one.end.map(|offset| offset.0 as f64)),
            Self::Lag => match one.lag {
                Lag::Behind(count) => Key::Number(count as f64),
                Lag::BeyondEnd(count) => Key::Number(-(count as f64)),
                Lag::Never | Lag::Unknown(_) => Key::Unknown,
            },
            Self::Standing => Key::Number(how_bad(one.standing)),
            Self::Consumed => Key::number(one.consumption()),
            Self::Produced => Key::number(one.production()),
            Self::CatchUp => Key::number(figures::catch_up_seconds(one.catch_up())),
            Self::Client => text(row.member.map(|member| &member.client_id)),
            Self::Host => text(row.member.map(|member| &member.host)),
            Self::Member => text(row.member.map(|member| &member.member_id)),
        }
    }
}

fn how_bad(standing: Standing) -> f64 {
    match standing {
        Standing::Inside => 0.0,
        Standing::NeverCommitted | Standing::NotBegun => 1.0,
        Standing::Unknown => 2.0,
        Standing::Gone => 3.0,
        Standing::BelowStart => 4.0,
        Standing::BeyondEnd => 5.0,
    }
}
