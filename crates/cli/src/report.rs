//! Answers that are rows: one value, in whatever form it is asked for.
//!
//! A report has rows for people and spreadsheets, and a document for programs. Which of them is printed, and which
//! columns, is decided here and nowhere else.

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::failure::Failure;
use crate::output::{self, Output};
use crate::palette::Palette;
use crate::table::{self, Cell, Headings};

/// The version of all documents. Fields are only ever added to it.
pub(crate) const DOCUMENT_VERSION: u32 = 1;

/// What the output looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people; it may change.
    #[value(alias = "text")]
    Table,
    /// The same with all columns.
    Wide,
    /// For programs; fields are only ever added.
    Json,
    /// The same document as YAML.
    Yaml,
    /// All columns, for spreadsheets.
    Csv,
}

/// How a report is printed.
#[derive(Debug, Args)]
pub(crate) struct ReportFlags {
    /// What is printed.
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) format: ReportFormat,
    /// Only these columns of the table or CSV, in this order, with commas between them.
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    columns: Vec<String>,
    /// Leaves the names of the columns out.
    #[arg(long)]
    no_headers: bool,
}

/// When a column is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Always.
    Always,
    /// Only when all columns are.
    Wide,
}

/// Rows, and the same for programs.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) columns: Vec<(&'static str, Shown)>,
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) document: Value,
}

/// A JSON document with one long array, which is written element by element: it is never held as a whole.
pub(crate) struct LongDocument {
    output: Output,
    /// What stands before the next element. Nothing is written before there is one, so that a command that fails at once
    /// leaves no half of a document.
    before: String,
}

impl LongDocument {
    /// A document whose array has this name.
    pub(crate) fn new(array: &str) -> Self {
        let before = format!("{{\n  \"version\": {DOCUMENT_VERSION},\n  \"{array}\": [");
        Self { output: Output::new(), before }
    }

    /// Writes the next element.
    pub(crate) fn push(&mut self, element: &Value) -> Result<(), Failure> {
        let before = std::mem::replace(&mut self.before, ",".to_owned());
        let text = indented(element, 4);
        self.output.write(|out| write!(out, "{before}\n    {text}"))
    }

    /// Ends the array and the document, with one more field.
    pub(crate) fn end(mut self, name: &str, value: &Value) -> Result<(), Failure> {
        let text = indented(value, 2);
        let end = if self.before == "," { "\n  ]".to_owned() } else { format!("{}]", self.before) };
        self.output.write(|out| writeln!(out, "{end},\n  \"{name}\": {text}\n}}"))?;
        self.output.flush()
    }
}

/// JSON as it is printed everywhere, so many spaces further in. No text in JSON has a line's end of its own.
fn indented(value: &Value, spaces: usize) -> String {
    format!("{value:#}").replace('\n', &format!("\n{}", " ".repeat(spaces)))
}

impl ReportFlags {
    /// Whether the output is for people.
    pub(crate) fn is_for_people(&self) -> bool {
        matches!(self.format, ReportFormat::Table | ReportFormat::Wide)
    }

    /// Whether it is left to the command what people see, who did not ask for columns.
    pub(crate) fn is_for_any_words(&self) -> bool {
        self.format == ReportFormat::Table && self.columns.is_empty()
    }

    /// Whether these flags can be followed, said before anything is asked of a cluster.
    pub(crate) fn check(&self, report: &Report) -> Result<(), Failure> {
        match self.format {
            ReportFormat::Json | ReportFormat::Yaml if !self.columns.is_empty() => Err(Failure::Usage(
                "--columns chooses columns of a table; a document has all fields".to_owned(),
            )),
            ReportFormat::Json | ReportFormat::Yaml => Ok(()),
            ReportFormat::Table | ReportFormat::Wide | ReportFormat::Csv => self.chosen(report).map(drop),
        }
    }

    /// Prints a report.
    pub(crate) fn print(&self, report: &Report) -> Result<(), Failure> {
        output::print(&self.render(report, Palette::of_stdout())?)
    }

    /// The rows as a table, whatever format is asked for; for what is shown before a question.
    pub(crate) fn table(report: &Report, palette: Palette) -> String {
        let headings: Vec<&str> = report
            .columns
            .iter()
            .filter(|(_, shown)| *shown == Shown::Always)
            .map(|(name, _)| *name)
            .collect();
        let chosen: Vec<usize> =
            (0..report.columns.len()).filter(|index| report.columns[*index].1 == Shown::Always).collect();
        table::render(0, &headings, Headings::Shown, &choose(report, &chosen), palette)
    }

    fn render(&self, report: &Report, palette: Palette) -> Result<String, Failure> {
        self.check(report)?;
        match self.format {
            ReportFormat::Json => Ok(format!("{:#}\n", report.document)),
            ReportFormat::Yaml => serde_saphyr::to_string(&report.document)
                .map_err(|error| Failure::Failed(format!("the answer cannot be written as YAML: {error}"))),
            ReportFormat::Table | ReportFormat::Wide | ReportFormat::Csv => {
                let chosen = self.chosen(report)?;
                let headings: Vec<&str> = chosen.iter().map(|index| report.columns[*index].0).collect();
                let rows = choose(report, &chosen);
                if self.format == ReportFormat::Csv {
                    return csv(&headings, self.headings(), &rows);
                }
                Ok(table::render(0, &headings, self.headings(), &rows, palette))
            }
        }
    }

    /// Whether the names of columns are printed.
    pub(crate) fn headings(&self) -> Headings {
        if self.no_headers { Headings::Hidden } else { Headings::Shown }
    }

    /// Which columns are printed, by their place.
    fn chosen(&self, report: &Report) -> Result<Vec<usize>, Failure> {
        if self.columns.is_empty() {
            let all = self.format != ReportFormat::Table;
            let is_shown = |index: &usize| all || report.columns[*index].1 == Shown::Always;
            return Ok((0..report.columns.len()).filter(is_shown).collect());
        }
        let place = |said: &String| {
            let found = report.columns.iter().position(|(name, _)| name.eq_ignore_ascii_case(said.trim()));
            found.ok_or_else(|| {
                let known: Vec<&str> = report.columns.iter().map(|(name, _)| *name).collect();
                Failure::Usage(format!("there is no column {said:?}, but {}", known.join(", ")))
            })
        };
        self.columns.iter().map(place).collect()
    }
}

fn choose(report: &Report, chosen: &[usize]) -> Vec<Vec<Cell>> {
    let pick = |row: &Vec<Cell>| chosen.iter().map(|index| row[*index].clone()).collect();
    report.rows.iter().map(pick).collect()
}

fn csv(headings: &[&str], shown: Headings, rows: &[Vec<Cell>]) -> Result<String, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::Failed(format!("the answer cannot be written as CSV: {error}"))
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    if shown == Headings::Shown {
        writer.write_record(headings).map_err(|error| failed(&error))?;
    }
    for row in rows {
        writer.write_record(row.iter().map(|cell| cell.text.as_str())).map_err(|error| failed(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(&error))?;
    String::from_utf8(bytes).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report() -> Report {
        Report {
            columns: vec![("NAME", Shown::Always), ("LAG", Shown::Always), ("HOST", Shown::Wide)],
            rows: vec![
                vec!["a".into(), Cell::or_dash(Some(0)), "x, y".into()],
                vec!["b".into(), Cell::or_dash(None::<i64>), "z".into()],
            ],
            document: json!({ "version": 1, "groups": [{ "name": "a", "lag": 0 }, { "name": "b", "lag": null }] }),
        }
    }

    fn rendered(format: ReportFormat, columns: &[&str]) -> Result<String, Failure> {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        ReportFlags { format, columns, no_headers: false }.render(&report(), Palette::Plain)
    }

    #[test]
    fn one_report_has_many_forms() {
        assert_eq!(rendered(ReportFormat::Table, &[]).unwrap(), "NAME  LAG\na     0\nb     -\n");
        assert_eq!(
            rendered(ReportFormat::Wide, &[]).unwrap(),
            "NAME  LAG  HOST\na     0    x, y\nb     -    z\n"
        );
        assert_eq!(rendered(ReportFormat::Csv, &[]).unwrap(), "NAME,LAG,HOST\na,0,\"x, y\"\nb,-,z\n");
        assert_eq!(
            rendered(ReportFormat::Yaml, &[]).unwrap(),
            "groups:\n- lag: 0\n  name: a\n- lag: null\n  name: b\nversion: 1\n"
        );
    }

    #[test]
    fn a_long_document_looks_like_any_other() {
        let value = json!({ "a": ["x\ny"], "b": {} });
        assert_eq!(indented(&value, 2), "{\n    \"a\": [\n      \"x\\ny\"\n    ],\n    \"b\": {}\n  }");
    }

    #[test]
    fn columns_are_chosen_by_name_in_the_order_said() {
        assert_eq!(
            rendered(ReportFormat::Table, &["host", "name"]).unwrap(),
            "HOST  NAME\nx, y  a\nz     b\n"
        );
        assert!(matches!(rendered(ReportFormat::Table, &["no"]), Err(Failure::Usage(_))));
        assert!(matches!(rendered(ReportFormat::Json, &["name"]), Err(Failure::Usage(_))));
    }
}
