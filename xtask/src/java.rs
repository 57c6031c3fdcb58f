//! The Java of the stories: artifacts fetched by Maven into the target folder, and our programs compiled: the member,
//! the word count of Kafka Streams, and the one that runs Kafka's command-line tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, ChoreError};
use crate::python::same_text;
use crate::workspace::Workspace;

/// What names Kafka's artifacts, the broker and the tools.
pub(crate) const KAFKA_POM: &str = "interop/kafka/pom.xml";

/// Fetches the Java client and Kafka Streams, compiles the programs that use them, and returns the class path; `None`
/// without a JDK and Maven.
pub(crate) fn set_up_clients(workspace: &Workspace) -> Result<Option<String>, ChoreError> {
    if !is_here() {
        return Ok(None);
    }
    let folder = workspace.interop_cache().join("java");
    let jars = fetch(&workspace.root.join("interop/java/pom.xml"), &folder)?;
    compile(workspace, &["Member.java", "WordCount.java"], &jars, &folder.join("classes")).map(Some)
}

/// Fetches Kafka's command-line tools, compiles the program that runs them, and returns the class path; `None` without
/// a JDK and Maven.
pub(crate) fn set_up_tools(workspace: &Workspace) -> Result<Option<String>, ChoreError> {
    if !is_here() {
        return Ok(None);
    }
    let folder = workspace.interop_cache().join("kafka");
    fs::create_dir_all(&folder).map_err(ChoreError::file(&folder))?;
    let jars = fetch(&workspace.root.join(KAFKA_POM), &folder)?;
    compile(workspace, &["Tools.java"], &jars, &folder.join("classes")).map(Some)
}

fn is_here() -> bool {
    process::exists("javac", "-version") && process::exists("mvn", "--version")
}

fn compile(
    workspace: &Workspace,
    programs: &[&str],
    jars: &Path,
    classes: &Path,
) -> Result<String, ChoreError> {
    fs::create_dir_all(classes).map_err(ChoreError::file(classes))?;
    let class_path = format!("{}/*:{}", jars.display(), classes.display());
    process::run(
        Command::new("javac")
            .args(["-Xlint:all,-processing", "-Werror", "-cp"])
            .arg(&class_path)
            .arg("-d")
            .arg(classes)
            .args(programs.iter().map(|program| workspace.root.join("interop/java").join(program))),
    )?;
    Ok(class_path)
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
