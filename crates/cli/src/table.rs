//! Tables for people: columns as wide as they must be, two spaces between them, no lines.

use std::borrow::Cow;

use crate::palette::{Palette, Tone};
use crate::visible::visible;

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Cell {
    /// A cell that stands out, where colours are wanted.
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }

    /// A value, or a dash for none. 0 is a value.
    pub(crate) fn or_dash(value: Option<impl ToString>) -> Self {
        value.map_or_else(|| Self::from("-"), |value| Self::from(value.to_string()))
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, tone: Tone::Plain }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// Whether the headings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Headings {
    Shown,
    Hidden,
}

/// Renders rows below their headings, each line indented by `indent` spaces. Rows are as long as the headings.
pub(crate) fn render(
    indent: usize,
    headings: &[&str],
    shown: Headings,
    rows: &[Vec<Cell>],
    palette: Palette,
) -> String {
    let mut widths: Vec<usize> = match shown {
        Headings::Shown => headings.iter().map(|heading| heading.chars().count()).collect(),
        Headings::Hidden => vec![0; headings.len()],
    };
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(visible(&cell.text).chars().count());
        }
    }
    let mut text = String::new();
    let mut line = |cells: &[Cell]| {
        let texts: Vec<Cow<'_, str>> = cells.iter().map(|cell| visible(&cell.text)).collect();
        text.push_str(&" ".repeat(indent));
        let last = cells.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |index| index + 1);
        for (index, (shown, width)) in texts.iter().zip(&widths).take(last).enumerate() {
            if index > 0 {
                text.push_str("  ");
            }
            text.push_str(&palette.paint(shown, cells[index].tone));
            if index + 1 < last {
                text.push_str(&" ".repeat(width - shown.chars().count()));
            }
        }
        text.push('\n');
    };
    if shown == Headings::Shown {
        line(&headings.iter().map(|heading| Cell::toned(*heading, Tone::Heading)).collect::<Vec<_>>());
    }
    for row in rows {
        line(row);
    }
    text
}

/// Numbers with commas between them, or a dash for none.
pub(crate) fn numbers(numbers: &[i32]) -> String {
    if numbers.is_empty() {
        return "-".to_owned();
    }
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_with_a_word() {
        let rows = [vec!["a".into(), "1".into(), "".into()], vec!["longer".into(), "22".into(), "x".into()]];
        let table = render(2, &["NAME", "NUMBER", "X"], Headings::Shown, &rows, Palette::Plain);
        assert_eq!(table, "  NAME    NUMBER  X\n  a       1\n  longer  22      x\n");
        let table = render(0, &["NAME", "NUMBER", "X"], Headings::Hidden, &rows, Palette::Plain);
        assert_eq!(table, "a       1\nlonger  22  x\n");
    }

    #[test]
    fn what_others_wrote_changes_no_terminal_and_no_line() {
        let rows = [vec!["a\u{1b}[2J\nb".into(), "x".into()], vec!["c".into(), "y".into()]];
        let table = render(0, &["NAME", "X"], Headings::Hidden, &rows, Palette::Plain);
        assert_eq!(table, "a\\u{1b}[2J\\nb  x\nc              y\n");
    }

    #[test]
    fn colours_do_not_change_widths() {
        let rows = [vec![Cell::toned("a", Tone::Bad), "b".into()]];
        let table = render(0, &["LONG", "B"], Headings::Hidden, &rows, Palette::Coloured);
        assert_eq!(table, "\u{1b}[31ma\u{1b}[0m  b\n");
    }
}
