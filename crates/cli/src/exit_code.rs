//! What an exit code of the program means. Flags that cannot be understood end with 2, as clap does it.

use std::process::ExitCode;

/// The command did what it was told.
pub(crate) const SUCCESS: ExitCode = ExitCode::SUCCESS;

/// The command could not be done; the reason is on standard error.
pub(crate) fn failure() -> ExitCode {
    ExitCode::from(1)
}

/// The configuration was refused before anything started.
pub(crate) fn bad_configuration() -> ExitCode {
    ExitCode::from(2)
}

/// Storage failed while serving and the process stopped taking writes.
pub(crate) fn storage_failed() -> ExitCode {
    ExitCode::from(3)
}
