//! The JavaScript of the stories: packages fetched by npm into the target folder, and the member programs beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, ChoreError};
use crate::python::same_text;
use crate::workspace::Workspace;

const LOCK: &str = "package-lock.json";

/// Fetches the packages, unless the same lock was fetched before, and copies the member programs next to them, where
/// Node looks for what they import. Returns their folder, or `None` without Node and npm.
pub(crate) fn set_up(workspace: &Workspace) -> Result<Option<PathBuf>, ChoreError> {
    if !process::exists("node", "--version") || !process::exists("npm", "--version") {
        return Ok(None);
    }
    let source = workspace.root.join("interop/js");
    let folder = workspace.interop_cache().join("js");
    fs::create_dir_all(&folder).map_err(ChoreError::file(&folder))?;
    let fetched = folder.join("fetched-lock.json");
    if !same_text(&source.join(LOCK), &fetched) {
        copy(&source, &folder, |name| name.ends_with(".json"))?;
        fetch(&folder)?;
        // Written last: an interrupted fetch is done again.
        fs::copy(source.join(LOCK), &fetched).map_err(ChoreError::file(&fetched))?;
    }
    copy(&source, &folder, |name| name.ends_with(".js"))?;
    Ok(Some(folder))
}

fn fetch(folder: &Path) -> Result<(), ChoreError> {
    process::run(
        Command::new("npm")
            .current_dir(folder)
            .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
            // Where its finished binary cannot be had, Confluent's client is built from its source, with the libraries
            // of this machine instead of ones that it would download.
            .env("CKJS_LINKING", "dynamic"),
    )
}

fn copy(from: &Path, to: &Path, wanted: impl Fn(&str) -> bool) -> Result<(), ChoreError> {
    let entries = fs::read_dir(from).map_err(ChoreError::file(from))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        if wanted(&name.to_string_lossy()) {
            let target = to.join(&name);
            fs::copy(entry.path(), &target).map_err(ChoreError::file(&target))?;
        }
    }
    Ok(())
}
