//! Running other programs, and saying in one sentence what went wrong when they fail.

use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

/// Why a chore stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChoreError {
    /// The program is not on this machine, or could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program as it was called.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The program ran and did not like what it saw.
    #[error("{program} failed ({status})")]
    Failed {
        /// The whole command line.
        program: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// A file or folder of ours could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Under `CI=true` everything must be there.
    #[error("{0} is missing, and under CI=true nothing is skipped")]
    Missing(String),
    /// A program's output is not what it promised.
    #[error("{0}")]
    Unexpected(String),
    /// The steps that failed, after all of them had run.
    #[error("failed: {0}")]
    Steps(String),
}

impl ChoreError {
    /// For `map_err` on a file operation.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}

/// Runs the command with this process's output, no standard input, and waits.
pub(crate) fn run(command: &mut Command) -> Result<(), ChoreError> {
    command.stdin(Stdio::null());
    let status = command.status().map_err(|source| ChoreError::Start { program: name(command), source })?;
    if status.success() { Ok(()) } else { Err(ChoreError::Failed { program: line(command), status }) }
}

/// Runs the command and returns its standard output; its standard error stays visible.
pub(crate) fn output(command: &mut Command) -> Result<String, ChoreError> {
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(|source| ChoreError::Start { program: name(command), source })?;
    if !output.status.success() {
        return Err(ChoreError::Failed { program: line(command), status: output.status });
    }
    String::from_utf8(output.stdout)
        .map_err(|_| ChoreError::Unexpected(format!("{} printed bytes that are not text", name(command))))
}

/// Whether the program can be started at all; its output is thrown away.
pub(crate) fn exists(program: &str, argument: &str) -> bool {
    let status = Command::new(program)
        .arg(argument)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Whether this run is one where nothing may be skipped.
pub(crate) fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn line(command: &Command) -> String {
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(name(command)).chain(arguments).collect::<Vec<_>>().join(" ")
}
