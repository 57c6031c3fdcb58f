//! `cargo xtask clients-table`: the table of clients in README.md and who uses which API, made from what the stories left
//! behind and compared with what stands there. Nobody writes that by hand; `--write` does.

use std::fs;

use clap::Args;
use serde_json::Value;

use crate::apis_table;
use crate::process::{self, ChoreError};
use crate::workspace::Workspace;

/// What the person asked for.
#[derive(Args)]
pub(crate) struct Options {
    /// Writes both tables into README.md instead of comparing.
    #[arg(long)]
    write: bool,
}

const BEGIN: &str =
    "<!-- clients-table: made by `cargo xtask clients-table --write` from a full run of the stories -->";
const END: &str = "<!-- clients-table: end -->";

/// Compares, or writes.
pub(crate) fn run(options: &Options) -> Result<(), ChoreError> {
    let workspace = Workspace::find()?;
    if !options.write {
        return check(&workspace);
    }
    let (path, readme) = readme(&workspace)?;
    let filled = fill(&readme, &results(&workspace)?)?;
    fs::write(&path, filled).map_err(ChoreError::file(&path))
}

/// Fails when README.md does not say what the last full run of the stories found. A machine that lacks a client cannot
/// tell, and says so; under `CI=true` none may be lacking.
pub(crate) fn check(workspace: &Workspace) -> Result<(), ChoreError> {
    let results = results(workspace)?;
    let table = Table::read(&results)?;
    if let Some(client) = table.clients.iter().find(|client| client.version.is_none()) {
        if process::in_ci() {
            return Err(ChoreError::Missing(format!("the client {}", client.name)));
        }
        println!("skip: no story was told of {}, so README.md's tables are not compared", client.name);
        return Ok(());
    }
    let (_, readme) = readme(workspace)?;
    let (_, present, _) = around(&readme)?;
    let wanted = table.render();
    let untrue = apis_table::untrue(&readme, &results)?;
    if present == wanted && untrue.is_empty() {
        return Ok(());
    }
    if present != wanted {
        println!("README.md's table of clients should read:\n{wanted}");
    }
    untrue.iter().for_each(|line| println!("README.md's table of APIs is not true: {line}"));
    Err(ChoreError::Unexpected(
        "README.md's tables do not say what the stories found: cargo xtask clients-table --write".to_owned(),
    ))
}

/// README.md with both tables as the results say.
fn fill(readme: &str, results: &Value) -> Result<String, ChoreError> {
    let (before, _, after) = around(readme)?;
    let table = Table::read(results)?.render();
    apis_table::fill(&format!("{before}{table}{after}"), results)
}

fn readme(workspace: &Workspace) -> Result<(std::path::PathBuf, String), ChoreError> {
    let path = workspace.root.join("README.md");
    let text = fs::read_to_string(&path).map_err(ChoreError::file(&path))?;
    Ok((path, text))
}

fn results(workspace: &Workspace) -> Result<Value, ChoreError> {
    let path = workspace.story_results();
    let text = fs::read_to_string(&path).map_err(ChoreError::file(&path))?;
    serde_json::from_str(&text)
        .map_err(|error| ChoreError::Unexpected(format!("{}: {error}", path.display())))
}

/// The text up to and with the line that begins the table, the table, and the rest.
fn around(readme: &str) -> Result<(&str, &str, &str), ChoreError> {
    let missing = || ChoreError::Unexpected("README.md has no place for the table of clients".to_owned());
    let start = readme.find(BEGIN).ok_or_else(missing)? + BEGIN.len();
    let length = readme[start..].find(END).ok_or_else(missing)?;
    Ok((&readme[..start], &readme[start..start + length], &readme[start + length..]))
}

/// What the stories found, as the stories' `conftest.py` wrote it.
struct Table {
    columns: Vec<String>,
    clients: Vec<Client>,
}

struct Client {
    name: String,
    version: Option<String>,
    stories: Vec<Story>,
}

struct Story {
    column: String,
    outcome: Outcome,
    /// What the client could not do in it, and why.
    lacks: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Skipped,
    Failed,
}

impl Table {
    fn read(results: &Value) -> Result<Self, ChoreError> {
        let stories = list(&results["stories"])?;
        let clients = list(&results["clients"])?
            .iter()
            .map(|client| {
                let name = &client["client"];
                let told = stories.iter().filter(|story| story["client"] == *name);
                Ok(Client {
                    name: text(&client["title"])?,
                    version: client["version"].as_str().map(str::to_owned),
                    stories: told.map(Story::read).collect::<Result<_, ChoreError>>()?,
                })
            })
            .collect::<Result<_, ChoreError>>()?;
        let columns = list(&results["columns"])?.iter().map(text).collect::<Result<_, ChoreError>>()?;
        Ok(Self { columns, clients })
    }

    /// The table and its notes, between the two markers.
    fn render(&self) -> String {
        let mut notes = Notes::default();
        let mut lines = vec![String::new(), String::new()];
        lines.push(format!("| client | version | {} |", self.columns.join(" | ")));
        lines.push(format!("| --- | --- |{}", " --- |".repeat(self.columns.len())));
        for client in &self.clients {
            let cells: Vec<String> =
                self.columns.iter().map(|column| client.cell(column, &mut notes)).collect();
            let version = client.version.as_deref().unwrap_or("not here");
            lines.push(format!("| {} | {version} | {} |", client.name, cells.join(" | ")));
        }
        lines.push(String::new());
        lines.extend(notes.0.iter().enumerate().map(|(at, note)| format!("{}. {note}", at + 1)));
        lines.push(String::new());
        lines.join("\n") + "\n"
    }
}

impl Client {
    fn cell(&self, column: &str, notes: &mut Notes) -> String {
        let told: Vec<&Story> = self.stories.iter().filter(|story| story.column == column).collect();
        let ended = |outcome| told.iter().any(|story| story.outcome == outcome);
        let mark = if ended(Outcome::Failed) {
            "✗"
        } else if ended(Outcome::Passed) {
            "✓"
        } else {
            "–"
        };
        let mut numbers: Vec<usize> =
            told.iter().flat_map(|story| &story.lacks).map(|note| notes.number(note)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            return mark.to_owned();
        }
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        format!("{mark} <sup>{}</sup>", numbers.join(" "))
    }
}

impl Story {
    fn read(story: &Value) -> Result<Self, ChoreError> {
        let outcome = match story["outcome"].as_str() {
            Some("passed") => Outcome::Passed,
            Some("skipped") => Outcome::Skipped,
            Some("failed") => Outcome::Failed,
            _ => return Err(unexpected(&story["outcome"])),
        };
        let lacks = list(&story["lacks"])?
            .iter()
            .map(|lack| Ok(format!("{}: {}", text(&lack[0])?, text(&lack[1])?)))
            .collect::<Result<_, ChoreError>>()?;
        Ok(Self { column: text(&story["column"])?, outcome, lacks })
    }
}

/// Each reason once, numbered in the order in which the table first needs it.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn number(&mut self, note: &str) -> usize {
        let at = self.0.iter().position(|known| known == note).unwrap_or_else(|| {
            self.0.push(note.to_owned());
            self.0.len() - 1
        });
        at + 1
    }
}

fn list(value: &Value) -> Result<&Vec<Value>, ChoreError> {
    value.as_array().ok_or_else(|| unexpected(value))
}

fn text(value: &Value) -> Result<String, ChoreError> {
    value.as_str().map(str::to_owned).ok_or_else(|| unexpected(value))
}

fn unexpected(value: &Value) -> ChoreError {
    ChoreError::Unexpected(format!("the results of the stories have {value} where it cannot be"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{BEGIN, END, Table, around};

    fn story(client: &str, column: &str, outcome: &str, lacks: &[[&str; 2]]) -> Value {
        json!({"client": client, "column": column, "outcome": outcome, "lacks": lacks})
    }

    #[test]
    fn a_row_for_each_client_and_each_reason_once() {
        let results = json!({
            "columns": ["whole", "codecs"],
            "clients": [
                {"client": "one", "title": "One", "version": "1.2"},
                {"client": "two", "title": "Two", "version": null},
                {"client": "three", "title": "Three", "version": "3"},
            ],
            "stories": [
                story("one", "whole", "passed", &[]),
                story("one", "codecs", "passed", &[["zstd", "why"], ["lz4", "because"]]),
                story("two", "whole", "skipped", &[["lz4", "because"]]),
                story("three", "whole", "passed", &[]),
                story("three", "whole", "failed", &[]),
                story("three", "codecs", "passed", &[["lz4", "because"]]),
            ],
        });
        let table = Table::read(&results).expect("these results are whole").render();
        assert_eq!(
            table,
            "\n\n| client | version | whole | codecs |\n\
             | --- | --- | --- | --- |\n\
             | One | 1.2 | ✓ | ✓ <sup>1 2</sup> |\n\
             | Two | not here | – <sup>2</sup> | – |\n\
             | Three | 3 | ✗ | ✓ <sup>2</sup> |\n\
             \n1. zstd: why\n2. lz4: because\n\n"
        );
    }

    #[test]
    fn the_table_stands_between_its_markers() {
        let readme = format!("before\n{BEGIN}the table{END}\nafter");
        let (before, table, after) = around(&readme).expect("both markers are there");
        assert_eq!(
            (before, table, after),
            (format!("before\n{BEGIN}").as_str(), "the table", format!("{END}\nafter").as_str())
        );
        assert!(around("no markers").is_err());
    }

    #[test]
    fn results_of_another_shape_are_an_error() {
        assert!(Table::read(&json!({"columns": [], "clients": {}, "stories": []})).is_err());
    }
}
