//! Tables for people: columns as wide as they must be, two spaces between them, no lines.

/// Renders rows below their headings, each line indented by `indent` spaces.
pub(crate) fn render<const COLUMNS: usize>(
    indent: usize,
    headings: [&str; COLUMNS],
    rows: &[[String; COLUMNS]],
) -> String {
    let mut widths = headings.map(|heading| heading.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    let mut line = |cells: [&str; COLUMNS]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let padded: Vec<String> = padded.collect();
        text.push_str(&" ".repeat(indent));
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    };
    line(headings);
    for row in rows {
        line(row.each_ref().map(String::as_str));
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
        let rows = [["a".to_owned(), "1".to_owned()], ["longer".to_owned(), "22".to_owned()]];
        let table = render(2, ["NAME", "NUMBER"], &rows);
        assert_eq!(table, "  NAME    NUMBER\n  a       1\n  longer  22\n");
    }
}
