//! What the stories with real clients need on this machine. Under `CI=true` a missing piece is a failure; elsewhere it
//! is said, and the stories that need it are skipped.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{self, ChoreError};
use crate::workspace::Workspace;
use crate::{java, javascript, programs, python};

/// The clients that are there.
pub(crate) struct Kit {
    /// Python with both Python clients. Without it no story runs.
    pub(crate) python: Option<PathBuf>,
    /// The class path of the programs that are Java clients.
    pub(crate) java_class_path: Option<String>,
    /// The class path of Kafka's command-line tools and the program that runs them.
    pub(crate) tools_class_path: Option<String>,
    /// The folder of the JavaScript member programs.
    pub(crate) javascript: Option<PathBuf>,
    /// The folder of the Go member programs.
    pub(crate) go: Option<PathBuf>,
    /// The folder of the Rust member programs.
    pub(crate) rust: Option<PathBuf>,
}

impl Kit {
    /// Fetches and builds what is not there yet.
    pub(crate) fn set_up(workspace: &Workspace) -> Result<Self, ChoreError> {
        let python = or_skip(python::set_up(workspace)?, "Python 3 (python3)", "all stories")?;
        let java_class_path = or_skip(
            java::set_up_clients(workspace)?,
            "a JDK with Maven (javac, mvn)",
            "the stories of the Java client and of Kafka Streams",
        )?;
        let tools_class_path = or_skip(
            java::set_up_tools(workspace)?,
            "a JDK with Maven (javac, mvn)",
            "the stories of Kafka's command-line tools",
        )?;
        let javascript = or_skip(
            javascript::set_up(workspace)?,
            "Node with npm (node, npm)",
            "the stories of the JavaScript clients",
        )?;
        let go = or_skip(programs::build_go(workspace)?, "Go (go)", "the stories of the Go clients")?;
        let rust = or_skip(
            programs::build_rust(workspace)?,
            "make with a C compiler (make, cc)",
            "the stories of the Rust clients",
        )?;
        or_skip(found_or_installed("strace", "--version"), "strace", "the story that traces system calls")?;
        or_skip(found_or_installed("kcat", "-V"), "kcat", "the stories of kcat")?;
        Ok(Self { python, java_class_path, tools_class_path, javascript, go, rust })
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

/// Finds a program of the system; a CI machine installs it with its own package manager if it is not there.
fn found_or_installed(program: &str, version: &str) -> Option<()> {
    if !process::exists(program, version) && process::in_ci() && process::exists("apt-get", "--version") {
        let installed = process::run(Command::new("apt-get").args(["-qq", "update"]))
            .and_then(|()| process::run(Command::new("apt-get").args(["-qq", "install", "--yes", program])));
        if let Err(error) = installed {
            eprintln!("xtask: installing {program}: {error}");
        }
    }
    process::exists(program, version).then_some(())
}
