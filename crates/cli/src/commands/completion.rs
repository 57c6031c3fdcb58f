//! `milepost completion`: the script that lets a shell complete the words of this program.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::output;

/// The flags of `completion`.
#[derive(Debug, Args)]
pub(crate) struct Completion {
    /// The shell.
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(completion: &Completion, program: &mut Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(completion.shell, program, "milepost", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}
