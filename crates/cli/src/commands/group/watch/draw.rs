//! Draws the screen: a function of the state, and of nothing else.

use milepost_admin::watch::WatchedGroup;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::column::{Column, Side};
use super::fit::{Fitted, GAP, fit};
use super::listing::Listing;
use super::partition_column::PartitionRow;
use super::sparkline::sparkline;
use super::state::{Mode, Shown, State};
use super::{figures, help};
use crate::commands::group::words;
use crate::palette::{Palette, Tone};
use crate::table::Cell;

/// Below this nothing useful can be shown.
const LEAST_WIDTH: u16 = 24;
const LEAST_HEIGHT: u16 = 5;
/// So high a screen must be for a group's lag over time to have a line of its own.
const TREND_FROM_HEIGHT: u16 = 10;
/// What stands before a row that is selected, and before one that is not.
const SELECTED_MARK: &str = "▸ ";
const MARK: &str = "  ";

/// What is where on the screen, line by line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regions {
    title: u16,
    trend: u16,
    table: u16,
    status: u16,
    keys: u16,
}

impl Regions {
    /// On a screen of this size, for the overview or an open group.
    pub(super) fn of(width: u16, height: u16, is_open: bool) -> Self {
        if width < LEAST_WIDTH || height < LEAST_HEIGHT {
            return Self { title: 0, trend: 0, table: 0, status: 0, keys: 0 };
        }
        let trend = u16::from(is_open && height >= TREND_FROM_HEIGHT);
        Self { title: 1, trend, table: height - 3 - trend, status: 1, keys: 1 }
    }

    /// How many rows of a table there is room for, its heading aside.
    pub(super) fn table_rows(self) -> u16 {
        self.table.saturating_sub(1)
    }

    fn is_too_small(self) -> bool {
        self.title == 0
    }
}

/// Draws it.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State, palette: Palette) {
    let area = frame.area();
    let regions = Regions::of(area.width, area.height, state.open.is_some());
    if regions.is_too_small() {
        frame.render_widget(Paragraph::new("the window is too small"), area);
        return;
    }
    if state.mode == Mode::Help {
        frame.render_widget(Paragraph::new(help::PAGE), area);
        return;
    }
    let mut top = area.y;
    let mut region = |height: u16| {
        let rect = Rect { y: top, height, ..area };
        top += height;
        rect
    };
    frame.render_widget(title(state, palette), region(regions.title));
    let trend_area = region(regions.trend);
    let table_area = region(regions.table);
    match (&state.open, state.open_group()) {
        (None, _) => {
            let row = |name: &String| {
                let (name, group) = state.watched.groups().get_key_value(name)?;
                Some((name.as_str(), group))
            };
            table(frame, table_area, palette, &state.groups, row, empty_overview(state));
        }
        (Some(_), Some((_, group))) => {
            frame.render_widget(trend(group, trend_area.width), trend_area);
            let row = |partition: &_| {
                let (partition, one) = group.partitions.get_key_value(partition)?;
                Some(PartitionRow { partition, one, member: group.member_of(one) })
            };
            let empty = if group.partitions.is_empty() {
                "it has committed nothing, and its members have nothing to read"
            } else {
                "the filter lets no partition pass"
            };
            table(frame, table_area, palette, &state.partitions, row, empty);
        }
        (Some(_), None) => {
            frame.render_widget(Paragraph::new("there is no such group any more; Esc goes back"), table_area);
        }
    }
    let status = state.looks.status(state.now);
    frame.render_widget(
        Paragraph::new(Span::styled(status.text, style(status.tone, palette))),
        region(regions.status),
    );
    frame.render_widget(foot(state), region(regions.keys));
}

fn title(state: &State, palette: Palette) -> Paragraph<'static> {
    let bold = style(Tone::Heading, palette);
    let line = match state.open_group() {
        Some((name, group)) => Line::from(group_title(name, group, palette)),
        None => {
            let all = state.watched.groups().len();
            let count = if is_before_the_first_look(state) {
                "looking …".to_owned()
            } else if state.groups.len() == all {
                counted(all, "group")
            } else {
                format!("{} of {all} groups", state.groups.len())
            };
            let name = state.open.clone().unwrap_or_else(|| state.cluster.clone());
            let only = if state.shown == Shown::Behind { "  only with lag" } else { "" };
            Line::from(vec![
                Span::styled(name, bold),
                Span::raw(format!("  {count}{only}  {}", state.looks.words())),
            ])
        }
    };
    Paragraph::new(line)
}

fn group_title(name: &str, group: &WatchedGroup, palette: Palette) -> Vec<Span<'static>> {
    let shown = &group.figures;
    let known = [
        words::state(group.state.as_deref()),
        group.kind.as_ref().map(|kind| kind.name().to_owned()).unwrap_or_default().into(),
        group.members.as_ref().map(|members| counted(members.len(), "member")).unwrap_or_default().into(),
        Cell { text: format!("lag {}", figures::group_lag(shown.lag).text), ..figures::group_lag(shown.lag) },
        figures::group_standing(group),
        format!("consumed {}/s", figures::rate(shown.consumption).text).into(),
        format!("produced {}/s", figures::rate(shown.production).text).into(),
        figures::catch_up(shown.catch_up),
    ];
    let mut spans = vec![Span::styled(name.to_owned(), style(Tone::Heading, palette))];
    for cell in known.into_iter().filter(|cell| !cell.text.is_empty() && cell.text != "-") {
        spans.push(Span::raw("  "));
        spans.push(Span::styled(cell.text, style(cell.tone, palette)));
    }
    spans
}

fn counted(count: usize, what: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {what}{end}")
}

fn trend(group: &WatchedGroup, width: u16) -> Paragraph<'static> {
    let most = group.lags.iter().copied().flatten().max();
    let words = most.map_or_else(|| "lag over time ".to_owned(), |most| format!("lag up to {most} "));
    let room = usize::from(width).saturating_sub(words.len());
    Paragraph::new(format!("{words}{}", sparkline(group.lags.iter().copied(), room)))
}

fn is_before_the_first_look(state: &State) -> bool {
    !state.looks.have_shown() && state.watched.groups().is_empty()
}

fn empty_overview(state: &State) -> &'static str {
    if is_before_the_first_look(state) {
        ""
    } else if state.watched.groups().is_empty() {
        "there are no such groups"
    } else if state.filter().is_empty() {
        "no group has lag"
    } else {
        "the filter lets no group pass"
    }
}

/// Draws the rows on the screen, and formats no others.
fn table<'a, K: Clone + PartialEq, C: Column>(
    frame: &mut Frame<'_>,
    area: Rect,
    palette: Palette,
    listing: &'a Listing<K, C>,
    row: impl Fn(&'a K) -> Option<C::Row<'a>>,
    empty: &'static str,
) {
    let rows: Vec<(Vec<Cell>, bool)> = listing
        .visible()
        .filter_map(|(name, is_selected)| Some((row(name)?, is_selected)))
        .map(|(row, is_selected)| (C::ALL.iter().map(|column| column.cell(row)).collect(), is_selected))
        .collect();
    let (cells, selected): (Vec<Vec<Cell>>, Vec<bool>) = rows.into_iter().unzip();
    let fitted: Vec<Fitted<C>> =
        fit(&cells, listing.column, usize::from(area.width).saturating_sub(MARK.len()));
    let mut lines = vec![heading(listing, &fitted, palette)];
    if cells.is_empty() {
        lines.push(Line::raw(format!("{MARK}{empty}")));
    }
    for (cells, is_selected) in cells.iter().zip(selected) {
        lines.push(line(cells, &fitted, is_selected, palette));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn heading<K, C: Column>(listing: &Listing<K, C>, fitted: &[Fitted<C>], palette: Palette) -> Line<'static> {
    let mut text = MARK.to_owned();
    for (index, one) in fitted.iter().enumerate() {
        let mut heading = one.column.spec().heading.to_owned();
        if one.column == listing.column {
            heading.push(listing.order.arrow());
        }
        pad(&mut text, index, &heading, one);
    }
    Line::styled(text, style(Tone::Heading, palette))
}

fn line<C: Column>(
    cells: &[Cell],
    fitted: &[Fitted<C>],
    is_selected: bool,
    palette: Palette,
) -> Line<'static> {
    let mut spans = vec![Span::raw(if is_selected { SELECTED_MARK } else { MARK })];
    for (index, one) in fitted.iter().enumerate() {
        let cell = &cells[one.place];
        let mut text = String::new();
        pad(&mut text, index, &cell.text, one);
        spans.push(Span::styled(text, style(cell.tone, palette)));
    }
    let line = Line::from(spans);
    if is_selected { line.style(Style::new().add_modifier(Modifier::REVERSED)) } else { line }
}

/// Adds a cell to a line, as wide as its column.
fn pad<C: Column>(line: &mut String, index: usize, text: &str, fitted: &Fitted<C>) {
    let gap = if index == 0 { 0 } else { GAP };
    line.extend(std::iter::repeat_n(' ', gap));
    let text = shortened(text, fitted.width);
    let room = fitted.width.saturating_sub(Span::raw(text.as_str()).width());
    let (before, after) = match fitted.column.spec().side {
        Side::Left => (0, room),
        Side::Right => (room, 0),
    };
    line.extend(std::iter::repeat_n(' ', before));
    line.push_str(&text);
    line.extend(std::iter::repeat_n(' ', after));
}

/// A text that is no wider than this; what is cut off is said by an ellipsis. Control characters, which a name may have in
/// it, never reach the terminal.
fn shortened(text: &str, width: usize) -> String {
    let clean = |char: char| if char.is_control() { '\u{fffd}' } else { char };
    let text: String = text.chars().map(clean).collect();
    if Span::raw(text.as_str()).width() <= width {
        return text;
    }
    let mut short = String::new();
    for char in text.chars() {
        short.push(char);
        if Span::raw(short.as_str()).width() >= width {
            short.pop();
            break;
        }
    }
    if width > 0 {
        short.push('…');
    }
    short
}

fn foot(state: &State) -> Paragraph<'static> {
    let filter = state.filter();
    let text = match state.mode {
        Mode::Filter => format!("/{filter}█  {}", help::FILTER_KEYS),
        Mode::Browse | Mode::Help => {
            let keys = if state.open.is_some() { help::GROUP_KEYS } else { help::OVERVIEW_KEYS };
            if filter.is_empty() { keys.to_owned() } else { format!("/{filter}  {keys}") }
        }
    };
    Paragraph::new(text)
}

fn style(tone: Tone, palette: Palette) -> Style {
    let style = Style::new();
    match (tone, palette) {
        // Bold and reversed are no colours.
        (Tone::Heading, _) => style.add_modifier(Modifier::BOLD),
        (Tone::Plain, _) | (_, Palette::Plain) => style,
        (Tone::Good, Palette::Coloured) => style.fg(Color::Green),
        (Tone::Warning, Palette::Coloured) => style.fg(Color::Yellow),
        (Tone::Bad, Palette::Coloured) => style.fg(Color::Red),
    }
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
