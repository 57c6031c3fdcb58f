//! `milepost demo`: the story in one command. A server is killed in the middle of everything, and nothing that was
//! acknowledged is lost; what had not been committed is read again.
//!
//! The server is a child process of this very program, in a folder of its own. Both are gone when the command ends,
//! however it ends, unless the folder is to be kept.

mod account;
mod member;
mod server;
mod story;

use std::path::PathBuf;

use clap::Args;
use tempfile::TempDir;

use crate::failure::Failure;
use crate::interrupt;
use crate::output;

/// The flags of `demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Keeps the folder of the server, and says where it is.
    #[arg(long)]
    keep: bool,
}

/// Tells the story.
pub(crate) fn run(demo: &Demo) -> Result<(), Failure> {
    let stop = interrupt::catch()?;
    let folder = tempfile::Builder::new()
        .prefix("milepost-demo-")
        .tempdir()
        .map_err(|error| Failure::Failed(format!("no temporary folder can be made: {error}")))?;
    // The server ends inside, before its folder goes.
    let outcome = story::tell(folder.path(), &stop);
    if demo.keep {
        let kept = keep(folder);
        output::print(&format!("\nThe data folder is kept: {}\n", kept.display()))?;
    }
    outcome
}

fn keep(mut folder: TempDir) -> PathBuf {
    folder.disable_cleanup(true);
    folder.path().to_owned()
}
