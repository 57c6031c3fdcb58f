//! The Java of the stories: artifacts fetched by Maven into the target folder, and the member program compiled once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, ChoreError};
use crate::python::same_text;
use crate::workspace::Workspace;

/// Fetches the Java client, compiles the member program, and returns the class path; `None` without a JDK and Maven.
pub(crate) fn set_up(workspace: &Workspace) -> Result<Option<String>, ChoreError> {
    if !process::exists("javac", "-version") || !process::exists("mvn", "--version") {
        return Ok(None);
    }
    let source = workspace.root.join("interop/java");
    let folder = workspace.interop_cache().join("java");
    let jars = fetch(&source.join("pom.xml"), &folder)?;
    let classes = folder.join("classes");
    fs::create_dir_all(&classes).map_err(ChoreError::file(&classes))?;
    let class_path = format!("{}/*:{}", jars.display(), classes.display());
    process::run(
        Command::new("javac")
            .args(["-Xlint:all,-processing", "-Werror", "-cp"])
            .arg(&class_path)
            .arg("-d")
            .arg(&classes)
            .arg(source.join("Member.java")),
    )?;
    Ok(Some(class_path))
}

/// Copies the dependencies of a pom into `folder/jars`, unless the same pom was fetched before.
pub(crate) fn fetch(pom: &Path, folder: &Path) -> Result<PathBuf, ChoreError> {
    let jars = folder.join("jars");
    let fetched = folder.join("pom.xml");
    if same_text(pom, &fetched) {
        return Ok(jars);
    }
    if jars.exists() {
        fs::remove_dir_all(&jars).map_err(ChoreError::file(&jars))?;
    }
    fs::create_dir_all(&jars).map_err(ChoreError::file(&jars))?;
    process::run(
        Command::new("mvn")
            .args(["--quiet", "--batch-mode", "--file"])
            .arg(pom)
            .arg("dependency:copy-dependencies")
            .arg(format!("-DoutputDirectory={}", jars.display())),
    )?;
    // Written last: an interrupted fetch is done again.
    fs::copy(pom, &fetched).map_err(ChoreError::file(&fetched))?;
    Ok(jars)
}
