//! The compiled member programs of the stories: the clients in Go and in Rust, built below the target folder, each
//! program named as its client. Called by `interop`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::process::{self, ChoreError};
use crate::workspace::Workspace;

/// Builds the Go clients and returns their folder; `None` without the toolchain.
pub(crate) fn build_go(workspace: &Workspace) -> Result<Option<PathBuf>, ChoreError> {
    if !process::exists("go", "version") {
        return Ok(None);
    }
    let folder = workspace.interop_cache().join("go");
    fs::create_dir_all(&folder).map_err(ChoreError::file(&folder))?;
    process::run(
        Command::new("go")
            .current_dir(workspace.root.join("interop/go"))
            // The toolchain is the one that is there: none is fetched.
            .env("GOTOOLCHAIN", "local")
            .args(["build", "-mod=readonly", "-o"])
            .arg(&folder)
            .args(["./franz-go", "./sarama", "./kafka-go"]),
    )?;
    Ok(Some(folder))
}

/// Builds the Rust clients and returns their folder. They are a workspace of their own with a lock file of its own, so
/// that nothing they need reaches ours. `None` without what librdkafka is built with.
pub(crate) fn build_rust(workspace: &Workspace) -> Result<Option<PathBuf>, ChoreError> {
    if !process::exists("make", "--version") || !process::exists("cc", "--version") {
        return Ok(None);
    }
    let folder = workspace.interop_cache().join("rust");
    process::run(
        workspace
            .cargo()
            .args(["build", "--locked", "--quiet", "--manifest-path"])
            .arg(workspace.root.join("interop/rust/Cargo.toml"))
            .arg("--target-dir")
            .arg(&folder),
    )?;
    Ok(Some(folder.join("debug")))
}
