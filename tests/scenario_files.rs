//! Reads scenario files, and compares what each line brought with what the file says: for every room that has such files.
//! The tests of a room include it with `#[path]`; what its lines mean is theirs.
//!
//! `UPDATE_EXPECT=1` rewrites the expected lines.

use std::fs;
use std::path::{Path, PathBuf};

/// What stands in front of an expected line.
const INDENT: &str = "    ";

/// The files of a folder beside this one, in order.
pub(crate) fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    files.sort();
    assert!(!files.is_empty(), "no scenarios in {}", folder.display());
    files
}

/// Whether something is asked of the machine in this line.
fn is_command(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with(['#', ' ']) && !line.starts_with("set ")
}

/// The lines of a file that ask something of the machine.
pub(crate) fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| is_command(line))
}

/// What a file sets, in the order in which it does.
pub(crate) fn settings(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let set = text.lines().filter_map(|line| line.strip_prefix("set "));
    set.map(|words| words.split_once('=').expect("set key=value"))
}

/// The file with the lines that its commands bring.
pub(crate) fn written(text: &str, mut bring: impl FnMut(&str) -> Vec<String>) -> String {
    let mut written = String::new();
    for line in text.lines().filter(|line| !line.starts_with(INDENT)) {
        written += &format!("{line}\n");
        if is_command(line) {
            for brought in bring(line) {
                written += &format!("{INDENT}{brought}\n");
            }
        }
    }
    written
}

/// Runs every file of a folder; `run` gives it with the lines that it brings now.
pub(crate) fn check(folder: &str, run: impl Fn(&str) -> String) {
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut failures = Vec::new();
    for path in files(folder) {
        let text = fs::read_to_string(&path).unwrap();
        let written = run(&text);
        if written == text {
            continue;
        }
        if is_update {
            fs::write(&path, written).unwrap();
        } else {
            failures.push(difference(&path, &text, &written));
        }
    }
    assert!(failures.is_empty(), "UPDATE_EXPECT=1 rewrites them.\n{}", failures.join("\n"));
}

/// The first line that is another one.
fn difference(path: &Path, text: &str, written: &str) -> String {
    let differs = written.lines().zip(text.lines()).position(|(now, then)| now != then);
    let at = differs.unwrap_or_else(|| written.lines().count().min(text.lines().count()));
    format!(
        "{}:{}\n  expected: {}\n  got:      {}",
        path.display(),
        at + 1,
        text.lines().nth(at).unwrap_or("(the end)"),
        written.lines().nth(at).unwrap_or("(the end)")
    )
}
