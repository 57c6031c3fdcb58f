//! What the stories with real clients need on this machine. Under `CI=true` a missing piece is a failure; elsewhere it
//! is said, and the stories that need it are skipped.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{self, ChoreError};
use crate::workspace::Workspace;
use crate::{java, javascript, python};

/// The clients that are there.
pub(crate) struct Kit {
    /// Python with both Python clients. Without it no story runs.
    pub(crate) python: Option<PathBuf>,
    /// The class path of the Java member program.
    pub(crate) java_class_path: Option<String>,
    /// The folder of the JavaScript member programs.
    pub(crate) javascript: Option<PathBuf>,
}

impl Kit {
    /// Fetches and builds what is not there yet.
    pub(crate) fn set_up(workspace: &Workspace) -> Result<Self, ChoreError> {
        let python = or_skip(python::set_up(workspace)?, "Python 3 (python3)", "all stories")?;
        let java_class_path = or_skip(
            java::set_up(workspace)?,
            "a JDK with Maven (javac, mvn)",
            "the stories of the Java client",
        )?;
        let javascript = or_skip(
            javascript::set_up(workspace)?,
            "Node with npm (node, npm)",
            "the stories of the JavaScript clients",
        )?;
        let strace = strace().then_some(());
        or_skip(strace, "strace", "the story that traces system calls")?;
        Ok(Self { python, java_class_path, javascript })
    }
}

fn or_skip<T>(found: Option<T>, what: &str, skipped: &str) -> Result<Option<T>, ChoreError> {
    if found.is_none() {
        if process::in_ci() {
            return Err(ChoreError::Missing(what.to_owned()));
        }
        println!("skip: {what} is not on this machine, so {skipped} will be skipped");
    }
    Ok(found)
}

/// Finds strace; a CI machine installs it with its own package manager if it is not there.
fn strace() -> bool {
    if process::exists("strace", "--version") {
        return true;
    }
    if process::in_ci() && process::exists("apt-get", "--version") {
        let installed = process::run(Command::new("apt-get").args(["-qq", "update"]))
            .and_then(|()| process::run(Command::new("apt-get").args(["-qq", "install", "--yes", "strace"])));
        if let Err(error) = installed {
            eprintln!("xtask: installing strace: {error}");
        }
    }
    process::exists("strace", "--version")
}
