//! Where things are: the root of the checkout and cargo's target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, ChoreError};

/// The two folders every chore starts from.
pub(crate) struct Workspace {
    /// The root of the checkout.
    pub(crate) root: PathBuf,
    /// Cargo's target folder, wherever the person put it.
    pub(crate) target: PathBuf,
    /// This program. Asked for at the start: `cargo test` may put a new one in its place, and then the system calls the
    /// running one deleted.
    pub(crate) this_program: PathBuf,
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn find() -> Result<Self, ChoreError> {
        let text = process::output(cargo_at(Path::new(env!("CARGO_MANIFEST_DIR"))).args([
            "metadata",
            "--no-deps",
            "--format-version=1",
        ]))?;
        let metadata: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| ChoreError::Unexpected(format!("cargo metadata: {error}")))?;
        let folder = |key: &str| {
            metadata[key]
                .as_str()
                .map(PathBuf::from)
                .ok_or_else(|| ChoreError::Unexpected(format!("cargo metadata does not name {key}")))
        };
        let this_program = std::env::current_exe().map_err(ChoreError::file("this program"))?;
        Ok(Self { root: folder("workspace_root")?, target: folder("target_directory")?, this_program })
    }

    /// `cargo`, run at the root.
    pub(crate) fn cargo(&self) -> Command {
        cargo_at(&self.root)
    }

    /// Where the stories keep what they download and build.
    pub(crate) fn interop_cache(&self) -> PathBuf {
        self.target.join("interop")
    }

    /// What the last full run of the stories found out about each client.
    pub(crate) fn story_results(&self) -> PathBuf {
        self.interop_cache().join("results.json")
    }
}

fn cargo_at(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder);
    command
}
