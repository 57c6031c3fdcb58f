//! Which columns there is room for, and how wide they are.

use ratatui::text::Span;

use super::column::{Column, Side};
use crate::table::Cell;

/// The space between two columns.
pub(super) const GAP: usize = 2;

/// Columns from this rank on are shown only where no other has to be shortened for them.
const EXTRA_RANK: u8 = 7;

/// A column that is shown, and how wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fitted<C> {
    pub(super) column: C,
    /// Its place among all columns.
    pub(super) place: usize,
    pub(super) width: usize,
}

/// Chooses columns for a table of this width whose visible rows have these cells, one for each column. The first column is
/// always shown. Numbers have all the width that they need, or are not shown; texts may be shortened down to their least
/// width, and share what is left in the order of their rank.
pub(super) fn fit<C: Column>(rows: &[Vec<Cell>], sorted: C, width: usize) -> Vec<Fitted<C>> {
    let wanted: Vec<usize> =
        C::ALL.iter().enumerate().map(|(place, column)| wanted(*column, place, sorted, rows)).collect();
    let mut fitted: Vec<Fitted<C>> = C::ALL
        .iter()
        .enumerate()
        .map(|(place, column)| Fitted { column: *column, place, width: wanted[place] })
        .collect();
    while needed(&fitted) > width && give_up(&mut fitted, EXTRA_RANK) {}
    for one in fitted.iter_mut().filter(|one| one.column.spec().side == Side::Left) {
        one.width = heading_width(one.column, sorted).max(one.column.spec().least);
    }
    // No column but the first has rank 0.
    while needed(&fitted) > width && give_up(&mut fitted, 1) {}
    let mut left = width.saturating_sub(needed(&fitted));
    let mut by_rank: Vec<&mut Fitted<C>> = fitted.iter_mut().collect();
    by_rank.sort_by_key(|one| one.column.spec().rank);
    for one in by_rank {
        let more = wanted[one.place].saturating_sub(one.width).min(left);
        one.width += more;
        left -= more;
    }
    // On a very narrow screen even the first column is shortened.
    fitted[0].width = fitted[0].width.min(width);
    fitted
}

/// Gives up the column of the highest rank, if that is so high. False if there is none.
fn give_up<C: Column>(fitted: &mut Vec<Fitted<C>>, from_rank: u8) -> bool {
    let rank = |index: &usize| fitted[*index].column.spec().rank;
    let Some(last) = (0..fitted.len()).max_by_key(rank).filter(|last| rank(last) >= from_rank) else {
        return false;
    };
    fitted.remove(last);
    true
}

fn needed<C>(fitted: &[Fitted<C>]) -> usize {
    fitted.iter().map(|one| one.width).sum::<usize>() + GAP * (fitted.len() - 1)
}

fn wanted<C: Column>(column: C, place: usize, sorted: C, rows: &[Vec<Cell>]) -> usize {
    let spec = column.spec();
    let widest = rows.iter().map(|row| Span::raw(row[place].text.as_str()).width()).max().unwrap_or(0);
    widest.min(spec.most).max(spec.least).max(heading_width(column, sorted))
}

/// The column by which rows are sorted has an arrow.
fn heading_width<C: Column>(column: C, sorted: C) -> usize {
    column.spec().heading.len() + usize::from(column == sorted)
}

#[cfg(test)]
mod tests {
    use super::super::group_column::GroupColumn;
    use super::*;

    /// The cells of a row, whose lag is a long number.
    fn row() -> Vec<Cell> {
        let cell = |column: &GroupColumn| match column {
            GroupColumn::Group => "a-group-with-quite-a-long-name-that-says-what-it-does".into(),
            GroupColumn::Lag => "123456789012345".into(),
            GroupColumn::CatchUp => "never at this rate".into(),
            GroupColumn::State => "PreparingRebalance".into(),
            _ => Cell::from("1"),
        };
        GroupColumn::ALL.iter().map(cell).collect()
    }

    #[test]
    fn at_any_width_columns_fit_and_numbers_are_whole() {
        for width in 0..250 {
            let fitted = fit(&[row()], GroupColumn::Lag, width);
            assert_eq!(fitted[0].column, GroupColumn::Group);
            assert!(needed(&fitted) <= width, "{width}: {fitted:?}");
            for one in fitted.iter().filter(|one| one.column.spec().side == Side::Right) {
                assert!(one.width >= row()[one.place].text.len(), "{width}: {one:?}");
            }
        }
    }

    #[test]
    fn what_matters_most_stays_longest() {
        let shown = |width| -> Vec<GroupColumn> {
            fit(&[row()], GroupColumn::Lag, width).iter().map(|one| one.column).collect()
        };
        assert_eq!(shown(10), [GroupColumn::Group]);
        assert_eq!(shown(40), [GroupColumn::Group, GroupColumn::Lag]);
        assert_eq!(shown(45), [GroupColumn::Group, GroupColumn::Lag, GroupColumn::CatchUp]);
        assert_eq!(shown(249), GroupColumn::ALL);
    }
}
