//! `milepost man`: the manual pages, made of what `--help` says.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man as Page;

use crate::failure::Failure;
use crate::output;

const HELP: &str = "\
milepost man | man -l -                          the page of milepost
milepost man group reset | man -l -              the page of one command
milepost man --folder ~/.local/share/man/man1    all of them, for `man milepost-group-reset`";

/// The flags of `man`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Man {
    /// The command, such as group reset; milepost itself if not said.
    #[arg(value_name = "COMMAND", conflicts_with = "folder")]
    command: Vec<String>,
    /// Writes the pages of all commands to files of this folder, which is made if need be.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Prints a page, or writes all.
pub(crate) fn run(man: &Man, mut program: Command) -> Result<(), Failure> {
    program.build();
    if let Some(folder) = &man.folder {
        let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
        return clap_mangen::generate_to(program, folder).map_err(failed);
    }
    let mut command = &program;
    for name in &man.command {
        let unknown = || Failure::Usage(format!("there is no command {}", man.command.join(" ")));
        command = command.find_subcommand(name).ok_or_else(unknown)?;
    }
    let mut page = Vec::new();
    let failed = |error| Failure::Failed(format!("the page cannot be made: {error}"));
    Page::new(command.clone()).render(&mut page).map_err(failed)?;
    output::print(&String::from_utf8_lossy(&page))
}
