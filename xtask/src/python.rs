//! The Python of the stories: a virtual environment below the target folder, with pinned packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, ChoreError};
use crate::workspace::Workspace;

/// Makes the environment, or finds that the one there has what `interop/requirements.txt` asks for. Returns its
/// Python, or `None` when this machine has none.
pub(crate) fn set_up(workspace: &Workspace) -> Result<Option<PathBuf>, ChoreError> {
    if !process::exists("python3", "--version") {
        return Ok(None);
    }
    let folder = workspace.interop_cache().join("venv");
    let python = folder.join("bin/python");
    let wanted = workspace.root.join("interop/requirements.txt");
    let installed = folder.join("requirements.txt");
    if same_text(&wanted, &installed) {
        return Ok(Some(python));
    }
    fs::create_dir_all(&folder).map_err(ChoreError::file(&folder))?;
    process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    process::run(
        Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"])
            .arg("--requirement")
            .arg(&wanted),
    )?;
    // Written last: an interrupted install is done again.
    fs::copy(&wanted, &installed).map_err(ChoreError::file(&installed))?;
    Ok(Some(python))
}

/// Whether what was set up is still what is wanted.
pub(crate) fn same_text(wanted: &Path, present: &Path) -> bool {
    match (fs::read(wanted), fs::read(present)) {
        (Ok(wanted), Ok(present)) => wanted == present,
        _ => false,
    }
}
