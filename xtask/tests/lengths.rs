//! No source file grows beyond 500 lines of code. Function length is clippy's (`too_many_lines`, 70).
//!
//! Lines of code are those that are neither empty nor a comment, up to the file's own `mod tests`. Files that only hold
//! tests (`tests.rs`, or anything below a `tests` folder) may be longer.

use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 500;

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn only_tests(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}

fn lines_of_code(text: &str) -> usize {
    text.lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("mod tests {"))
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

#[test]
fn source_files_stay_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let mut files = Vec::new();
    rust_files(&root.join("crates"), &mut files);
    rust_files(&root.join("xtask"), &mut files);
    assert!(files.len() > 20, "this test looks in the wrong place: it found {} files", files.len());
    let long: Vec<String> = files
        .iter()
        .filter(|path| !only_tests(path.strip_prefix(root).expect("found below the root")))
        .map(|path| (path, lines_of_code(&fs::read_to_string(path).expect("source is text"))))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(path, lines)| format!("{}: {lines} lines of code", path.display()))
        .collect();
    assert!(
        long.is_empty(),
        "files longer than {MOST_LINES} lines of code, to be split by meaning: {long:#?}"
    );
}

#[test]
fn comments_blank_lines_and_tests_do_not_count() {
    let text = "//! Head.\n\nfn one() {}\n// why\nfn two() {}\n#[cfg(test)]\nmod tests {\nfn three() {}\n}\n";
    assert_eq!(lines_of_code(text), 3);
}
