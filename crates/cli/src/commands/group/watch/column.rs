//! What a table on the screen is made of: columns that know what they show of a row and how rows are sorted by them.

use std::cmp::Ordering;

use milepost_client::TopicPartition;

use crate::table::Cell;

/// Which end of the table the smallest is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Ascending,
    Descending,
}

impl Order {
    pub(super) fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }

    pub(super) fn arrow(self) -> char {
        match self {
            Self::Ascending => '▲',
            Self::Descending => '▼',
        }
    }
}

/// On which side of its column a cell stands. Numbers stand on the right, and are never shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// What is fixed of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec {
    pub(super) heading: &'static str,
    pub(super) side: Side,
    /// So wide it is at least, so that the table does not twitch with every digit, and so wide at most.
    pub(super) least: usize,
    pub(super) most: usize,
    /// Columns of lower numbers get what room there is, and those of higher ones are given up first.
    pub(super) rank: u8,
}

/// What rows are sorted by. What is not known comes last in both orders.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key<'a> {
    Text(&'a str),
    Number(f64),
    Partition(&'a TopicPartition),
    Unknown,
}

impl Key<'_> {
    pub(super) fn number(number: Option<f64>) -> Self {
        number.map_or(Self::Unknown, Self::Number)
    }

    /// Which of two comes first.
    pub(super) fn compare(&self, other: &Self, order: Order) -> Ordering {
        let ascending = match (self, other) {
            (Self::Unknown, Self::Unknown) => return Ordering::Equal,
            (Self::Unknown, _) => return Ordering::Greater,
            (_, Self::Unknown) => return Ordering::Less,
            (Self::Number(left), Self::Number(right)) => left.total_cmp(right),
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            (Self::Partition(left), Self::Partition(right)) => left.cmp(right),
            // One column has keys of one kind.
            _ => Ordering::Equal,
        };
        match order {
            Order::Ascending => ascending,
            Order::Descending => ascending.reverse(),
        }
    }
}

/// A column of a table.
pub(super) trait Column: Copy + PartialEq + 'static {
    /// What a row is made from.
    type Row<'a>: Copy;
    /// All of them, as they stand from left to right. The first, of rank 0, is always shown.
    const ALL: &'static [Self];
    /// Those by which rows can be sorted.
    const SORTED: &'static [Self];

    fn spec(self) -> Spec;
    fn cell(self, row: Self::Row<'_>) -> Cell;
    /// Which of two rows comes first if they are sorted by it.
    fn compare(self, left: Self::Row<'_>, right: Self::Row<'_>, order: Order) -> Ordering;
    /// The order in which a person wants to see it first.
    fn first_order(self) -> Order;
}

/// Sorts rows, which are in the order of their names; equal ones stay so.
pub(super) fn sort<C: Column>(rows: &mut [C::Row<'_>], column: C, order: Order) {
    rows.sort_by(|left, right| column.compare(*left, *right, order));
}
