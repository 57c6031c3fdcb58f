//! `docs/known-kafka-bugs.md` names tests that exist, and every test that is named after a ticket.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How the name of such a test begins.
const TICKETS: [&str; 2] = ["kafka_", "redpanda_"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

fn document() -> String {
    fs::read_to_string(root().join("docs/known-kafka-bugs.md")).expect("the document is there")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The names of tests in Rust, of scenario files, and of stories.
fn tests() -> BTreeSet<String> {
    let root = root();
    let mut found = Vec::new();
    for folder in ["crates", "tests", "interop/stories"] {
        files(&root.join(folder), &mut found);
    }
    let mut names = BTreeSet::new();
    for path in found {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let opening = match ending {
            "txt" => {
                names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
                continue;
            }
            "rs" => "fn ",
            "py" => "def ",
            _ => continue,
        };
        let text = fs::read_to_string(&path).expect("source is text");
        let functions = text.lines().filter_map(|line| line.trim_start().strip_prefix(opening));
        names.extend(functions.filter_map(|rest| rest.split_once('(')).map(|(name, _)| name.to_owned()));
    }
    names
}

/// The rows of the document's tables: the tickets, and what is said of them here.
fn rows(document: &str) -> Vec<(&str, &str)> {
    let rows = document.lines().filter(|line| line.starts_with('|') && !line.starts_with("| ---"));
    rows.filter_map(|line| {
        let mut cells = line.trim_matches('|').split(" | ").map(str::trim);
        Some((cells.next()?, cells.last()?))
    })
    .filter(|(ticket, _)| *ticket != "ticket")
    .collect()
}

/// The words in backquotes that could be the name of a test.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let is_name =
        |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && word.contains('_');
    text.split('`').skip(1).step_by(2).filter(is_name).filter(|word| !word.starts_with("__"))
}

#[test]
fn every_ticket_has_a_test_that_exists_or_a_reason() {
    let (document, tests) = (document(), tests());
    let rows = rows(&document);
    assert!(rows.len() > 40, "the document has {} rows", rows.len());
    let mut wrong = Vec::new();
    for (ticket, here) in rows {
        let names: Vec<&str> = named(here).collect();
        if names.is_empty() && !here.starts_with("Cannot occur") {
            wrong.push(format!("{ticket}: neither a test nor a reason"));
        }
        let missing = names.iter().filter(|name| !tests.contains(**name));
        wrong.extend(missing.map(|name| format!("{ticket}: there is no test {name}")));
    }
    assert!(wrong.is_empty(), "docs/known-kafka-bugs.md: {wrong:#?}");
}

#[test]
fn every_test_named_after_a_ticket_is_in_the_document() {
    let document = document();
    let is_of_ticket = |name: &&String| {
        let rest = TICKETS.iter().find_map(|prefix| name.strip_prefix(prefix));
        let number = rest.and_then(|rest| rest.split_once('_')).map_or("", |(number, _)| number);
        number.len() >= 4 && number.chars().all(|c| c.is_ascii_digit())
    };
    let tests = tests();
    let lacking: Vec<&String> =
        tests.iter().filter(is_of_ticket).filter(|name| !document.contains(name.as_str())).collect();
    assert!(lacking.is_empty(), "docs/known-kafka-bugs.md does not name {lacking:#?}");
}
