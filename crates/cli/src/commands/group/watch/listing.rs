//! A list that a person moves through while it changes under their hands.

use super::column::{Column, Order};

/// Where to go in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

/// What is shown of the rows of one kind, by what names them.
#[derive(Debug)]
pub(super) struct Listing<K, C> {
    /// The rows that pass the filter, sorted.
    rows: Vec<K>,
    /// The place of the row that is selected.
    place: usize,
    /// The row that somebody went to, which stays selected wherever it moves. Until then that is the first place.
    held: Option<K>,
    /// The first row on the screen.
    top: usize,
    /// How many rows the screen has room for.
    page: usize,
    pub(super) column: C,
    pub(super) order: Order,
    pub(super) filter: String,
}

impl<K: Clone + PartialEq, C: Column> Listing<K, C> {
    pub(super) fn sorted_by(column: C) -> Self {
        Self {
            rows: Vec::new(),
            place: 0,
            held: None,
            top: 0,
            page: 1,
            column,
            order: column.first_order(),
            filter: String::new(),
        }
    }

    /// The rows as they are now. The selected one is selected still, or what has come to its place.
    pub(super) fn show(&mut self, rows: Vec<K>) {
        self.rows = rows;
        if let Some(held) = &self.held {
            match self.rows.iter().position(|row| row == held) {
                Some(place) => self.place = place,
                // It may be gone only from what passes the filter, and come back.
                None => self.place = self.place.min(self.last()),
            }
        } else {
            self.place = 0;
        }
        self.scroll();
    }

    /// So many rows fit on the screen.
    pub(super) fn resize(&mut self, page: usize) {
        self.page = page.max(1);
        self.scroll();
    }

    pub(super) fn step(&mut self, step: Step) {
        self.place = match step {
            Step::Up => self.place.saturating_sub(1),
            Step::Down => self.place.saturating_add(1),
            Step::PageUp => self.place.saturating_sub(self.page),
            Step::PageDown => self.place.saturating_add(self.page),
            Step::First => 0,
            Step::Last => self.last(),
        };
        self.place = self.place.min(self.last());
        self.held = self.rows.get(self.place).cloned();
        self.scroll();
    }

    /// Sorts by the next column.
    pub(super) fn next_column(&mut self) {
        let place = C::SORTED.iter().position(|column| *column == self.column).map_or(0, |place| place + 1);
        self.column = C::SORTED[place % C::SORTED.len()];
        self.order = self.column.first_order();
        self.hold();
    }

    pub(super) fn reverse(&mut self) {
        self.order = self.order.reversed();
        self.hold();
    }

    pub(super) fn selected(&self) -> Option<&K> {
        self.rows.get(self.place)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows on the screen, and which of them is selected.
    pub(super) fn visible(&self) -> impl Iterator<Item = (&K, bool)> {
        let rows = self.rows.iter().enumerate().skip(self.top).take(self.page);
        rows.map(|(place, row)| (row, place == self.place))
    }

    /// Holds on to the row that is selected, if somebody went to it.
    fn hold(&mut self) {
        if self.held.is_some() {
            self.held = self.selected().cloned();
        }
    }

    fn last(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    fn scroll(&mut self) {
        let lowest = self.rows.len().saturating_sub(self.page);
        self.top = self.top.min(self.place).max((self.place + 1).saturating_sub(self.page)).min(lowest);
    }
}

#[cfg(test)]
mod tests {
    use super::super::group_column::GroupColumn;
    use super::*;

    fn listing(rows: std::ops::Range<u32>, page: usize) -> Listing<u32, GroupColumn> {
        let mut listing = Listing::sorted_by(GroupColumn::Lag);
        listing.resize(page);
        listing.show(rows.collect());
        listing
    }

    fn visible(listing: &Listing<u32, GroupColumn>) -> Vec<u32> {
        listing.visible().map(|(row, _)| *row).collect()
    }

    #[test]
    fn steps_stay_in_the_list_and_the_selected_row_on_the_screen() {
        let mut listing = listing(0..10, 4);
        let known = [
            (Step::Up, 0, 0..4),
            (Step::Down, 1, 0..4),
            (Step::PageDown, 5, 2..6),
            (Step::PageDown, 9, 6..10),
            (Step::Down, 9, 6..10),
            (Step::PageUp, 5, 5..9),
            (Step::Last, 9, 6..10),
            (Step::First, 0, 0..4),
        ];
        for (step, selected, shown) in known {
            listing.step(step);
            assert_eq!(listing.selected(), Some(&selected), "{step:?}");
            assert_eq!(visible(&listing), shown.collect::<Vec<_>>(), "{step:?}");
        }
    }

    #[test]
    fn the_selected_row_is_followed_and_the_first_place_is_not() {
        let mut listing = listing(0..5, 2);
        listing.show(vec![4, 3, 2, 1, 0]);
        assert_eq!(listing.selected(), Some(&4), "nobody went to 0");
        listing.step(Step::Down);
        listing.show(vec![0, 1, 2, 4, 3]);
        assert_eq!((listing.selected(), visible(&listing)), (Some(&3), vec![4, 3]));
    }

    #[test]
    fn a_row_that_goes_leaves_its_place_and_is_selected_when_it_comes_back() {
        let mut listing = listing(0..5, 5);
        listing.step(Step::Last);
        listing.show(vec![0, 1]);
        assert_eq!(listing.selected(), Some(&1));
        listing.show(vec![4, 0, 1]);
        assert_eq!(listing.selected(), Some(&4));
        listing.show(Vec::new());
        assert_eq!((listing.selected(), visible(&listing).len()), (None, 0));
        for step in [Step::Down, Step::Last, Step::PageUp] {
            listing.step(step);
        }
    }

    #[test]
    fn a_larger_screen_is_filled() {
        let mut listing = listing(0..10, 2);
        listing.step(Step::Last);
        assert_eq!(visible(&listing), [8, 9]);
        listing.resize(100);
        assert_eq!(visible(&listing).len(), 10);
        listing.resize(0);
        assert_eq!(visible(&listing), [9]);
    }

    #[test]
    fn columns_go_round() {
        let mut listing = listing(0..1, 1);
        let mut seen = Vec::new();
        for _ in 0..GroupColumn::SORTED.len() {
            listing.next_column();
            seen.push(listing.column);
        }
        assert_eq!((seen.len(), seen.last()), (GroupColumn::SORTED.len(), Some(&GroupColumn::Lag)));
        assert_eq!(listing.order, Order::Descending);
        listing.reverse();
        assert_eq!(listing.order, Order::Ascending);
    }
}
