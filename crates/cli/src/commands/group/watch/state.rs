//! What the screen shows, and how keys and answers change it. Knows neither the terminal nor the cluster nor a clock.

use std::time::Duration;

use milepost_admin::watch::{Coverage, Watched, WatchedGroup};
use milepost_admin::{GroupFacts, Reason};
use milepost_client::TopicPartition;

use super::column::sort;
use super::draw::Regions;
use super::group_column::GroupColumn;
use super::keys::Press;
use super::listing::{Listing, Step};
use super::looker::{Ended, Said};
use super::looks::Looks;
use super::partition_column::{PartitionColumn, PartitionRow};

/// How long a filter may be.
const FILTER_CHARS_MAX: usize = 200;

/// What happens to the screen.
#[derive(Debug)]
pub(super) enum Event {
    /// A key.
    Press(Press),
    /// The terminal has this size from now on.
    Resized { width: u16, height: u16 },
    /// The cluster has said something.
    Said(Said),
    /// Time has passed.
    Tick,
}

/// What has to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Ask the cluster.
    Look,
    /// Let the shell have the terminal until it gives it back.
    Suspend,
    /// End.
    Quit,
}

/// Whether all groups are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    All,
    /// Only those that are behind, beyond the end, or of which that is not known.
    Behind,
}

/// What keys are for at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Moving through a list.
    Browse,
    /// Typing a filter.
    Filter,
    /// Reading about the keys.
    Help,
}

/// All that the screen depends on.
#[derive(Debug)]
pub(super) struct State {
    /// Which cluster it is.
    pub(super) cluster: String,
    pub(super) watched: Watched,
    pub(super) shown: Shown,
    pub(super) groups: Listing<String, GroupColumn>,
    pub(super) partitions: Listing<TopicPartition, PartitionColumn>,
    /// The group whose partitions are shown.
    pub(super) open: Option<String>,
    pub(super) mode: Mode,
    pub(super) looks: Looks,
    pub(super) now: Duration,
    size: (u16, u16),
}

impl State {
    pub(super) fn new(cluster: String, shown: Shown, interval: Duration) -> Self {
        Self {
            cluster,
            watched: Watched::default(),
            shown,
            groups: Listing::sorted_by(GroupColumn::Lag),
            partitions: Listing::sorted_by(PartitionColumn::Partition),
            open: None,
            mode: Mode::Browse,
            looks: Looks::every(interval),
            now: Duration::ZERO,
            size: (0, 0),
        }
    }

    /// Takes in what happened at this time.
    pub(super) fn on(&mut self, now: Duration, event: Event) -> Option<Effect> {
        self.now = now;
        match event {
            Event::Press(press) => self.press(press),
            Event::Resized { width, height } => {
                self.size = (width, height);
                self.refresh();
                None
            }
            Event::Said(Said::Part { at, groups }) => {
                self.note(at, groups);
                None
            }
            Event::Said(Said::End(ended)) => {
                self.end_look(ended);
                None
            }
            Event::Tick => self.looks.is_due(now).then_some(Effect::Look),
        }
    }

    /// The group whose partitions are shown, if it is there.
    pub(super) fn open_group(&self) -> Option<(&str, &WatchedGroup)> {
        let (name, group) = self.watched.groups().get_key_value(self.open.as_ref()?)?;
        Some((name, group))
    }

    /// The text by which the list on the screen is filtered.
    pub(super) fn filter(&self) -> &str {
        if self.open.is_some() { &self.partitions.filter } else { &self.groups.filter }
    }

    fn note(&mut self, at: Duration, groups: Vec<GroupFacts>) {
        for group in groups {
            self.watched.note(at, group);
        }
        self.refresh();
    }

    fn end_look(&mut self, ended: Result<Ended, Reason>) {
        self.looks.end(self.now, ended.as_ref());
        // What a look did not come to is as it was.
        let coverage = ended.map_or(Coverage::Partial, |ended| ended.coverage);
        self.watched.end_look(coverage);
        self.refresh();
    }

    fn press(&mut self, press: Press) -> Option<Effect> {
        match (self.mode, press) {
            (_, Press::Interrupt) => return Some(Effect::Quit),
            (_, Press::Suspend) => return Some(Effect::Suspend),
            (Mode::Help, Press::Char('q')) => return Some(Effect::Quit),
            (Mode::Help, _) => self.mode = Mode::Browse,
            (Mode::Filter, press) => self.edit(press),
            (Mode::Browse, press) => return self.browse(press),
        }
        None
    }

    fn browse(&mut self, press: Press) -> Option<Effect> {
        match press {
            Press::Char('q') => return Some(Effect::Quit),
            Press::Escape => return self.back(),
            Press::Enter => self.enter(),
            Press::Char('s') => self.sort(Sorting::NextColumn),
            Press::Char('S' | 'r') => self.sort(Sorting::Reverse),
            Press::Char('/') => self.mode = Mode::Filter,
            Press::Char('?') => self.mode = Mode::Help,
            Press::Char('p') => self.looks.paused = !self.looks.paused,
            Press::Char(' ' | 'R') => return self.looks.begin(self.now).then_some(Effect::Look),
            Press::Char('l') => {
                self.shown = if self.shown == Shown::All { Shown::Behind } else { Shown::All };
                self.refresh();
            }
            press => self.go(press),
        }
        None
    }

    /// Types the filter.
    fn edit(&mut self, press: Press) {
        let filter = if self.open.is_some() { &mut self.partitions.filter } else { &mut self.groups.filter };
        match press {
            Press::Enter => self.mode = Mode::Browse,
            Press::Escape => {
                filter.clear();
                self.mode = Mode::Browse;
            }
            Press::Backspace => drop(filter.pop()),
            Press::Char(char) => {
                if filter.chars().count() < FILTER_CHARS_MAX {
                    filter.push(char);
                }
            }
            press => self.go(press),
        }
        self.refresh();
    }

    fn go(&mut self, press: Press) {
        let step = match press {
            Press::Up | Press::Char('k') => Step::Up,
            Press::Down | Press::Char('j') => Step::Down,
            Press::PageUp => Step::PageUp,
            Press::PageDown => Step::PageDown,
            Press::Home | Press::Char('g') => Step::First,
            Press::End | Press::Char('G') => Step::Last,
            _ => return,
        };
        if self.open.is_some() { self.partitions.step(step) } else { self.groups.step(step) }
    }

    fn enter(&mut self) {
        if self.open.is_none()
            && let Some(name) = self.groups.selected()
        {
            self.open = Some(name.clone());
            // The lists of two groups have nothing to do with each other, except for how they are sorted.
            let (column, order) = (self.partitions.column, self.partitions.order);
            self.partitions = Listing::sorted_by(column);
            self.partitions.order = order;
            self.refresh();
        }
    }

    /// One thing back: the filter, the group that is open, the screen.
    fn back(&mut self) -> Option<Effect> {
        if !self.filter().is_empty() {
            let listing =
                if self.open.is_some() { &mut self.partitions.filter } else { &mut self.groups.filter };
            listing.clear();
        } else if self.open.take().is_none() {
            return Some(Effect::Quit);
        }
        self.refresh();
        None
    }

    fn sort(&mut self, sorting: Sorting) {
        match (self.open.is_some(), sorting) {
            (false, Sorting::NextColumn) => self.groups.next_column(),
            (false, Sorting::Reverse) => self.groups.reverse(),
            (true, Sorting::NextColumn) => self.partitions.next_column(),
            (true, Sorting::Reverse) => self.partitions.reverse(),
        }
        self.refresh();
    }

    /// Makes the list that is on the screen anew.
    fn refresh(&mut self) {
        let (width, height) = self.size;
        let page = usize::from(Regions::of(width, height, self.open.is_some()).table_rows());
        let filter = self.filter().to_lowercase();
        let is_found = |text: &str| filter.is_empty() || text.to_lowercase().contains(&filter);
        if self.open.is_some() {
            let rows = self.partition_rows(is_found);
            self.partitions.resize(page);
            self.partitions.show(rows);
        } else {
            let rows = self.group_rows(is_found);
            self.groups.resize(page);
            self.groups.show(rows);
        }
    }

    fn group_rows(&self, is_found: impl Fn(&str) -> bool) -> Vec<String> {
        let groups = self.watched.groups().iter().map(|(name, group)| (name.as_str(), group));
        let mut rows: Vec<(&str, &WatchedGroup)> = groups
            .filter(|(name, group)| (self.shown == Shown::All || group.is_behind()) && is_found(name))
            .collect();
        sort(&mut rows, self.groups.column, self.groups.order);
        rows.into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    fn partition_rows(&self, is_found: impl Fn(&str) -> bool) -> Vec<TopicPartition> {
        let Some((_, group)) = self.open_group() else { return Vec::new() };
        let rows = group.partitions.iter().map(|(partition, one)| PartitionRow {
            partition,
            one,
            member: group.member_of(one),
        });
        let is_found = |row: &PartitionRow<'_>| {
            let member = row.member.map(|member| [&member.member_id, &member.client_id, &member.host]);
            is_found(&row.partition.to_string()) || member.into_iter().flatten().any(|text| is_found(text))
        };
        let mut rows: Vec<PartitionRow<'_>> = rows.filter(is_found).collect();
        sort(&mut rows, self.partitions.column, self.partitions.order);
        rows.into_iter().map(|row| row.partition.clone()).collect()
    }
}

/// What is to change about the order of rows.
#[derive(Clone, Copy, Debug)]
enum Sorting {
    NextColumn,
    Reverse,
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
