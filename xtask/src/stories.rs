//! The stories with real clients: `interop/stories/*.py`, run by pytest against the release binary, or against a real
//! Kafka broker to see that what they claim is true of it.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::interop::Kit;
use crate::process::{self, ChoreError};
use crate::workspace::Workspace;

/// How much of the long stories runs.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Tier {
    /// Fewer cycles: what every submission waits for.
    Ci,
    /// Everything.
    Full,
}

impl Tier {
    /// The word that tests are told, by `--tier` or in the environment as `TEST_TIER`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ci => "ci",
            Self::Full => "full",
        }
    }
}

/// Which server the stories talk to.
pub(crate) enum Against {
    /// Our release binary.
    Milepost(PathBuf),
    /// A real Kafka broker, started by this very program (`xtask kafka`).
    Kafka,
}

/// One run of the stories.
pub(crate) struct Request<'a> {
    /// How much runs.
    pub(crate) tier: Tier,
    /// The server.
    pub(crate) against: Against,
    /// Passed on to pytest as they are.
    pub(crate) pytest_arguments: &'a [String],
}

/// What the person asked for.
#[derive(Args)]
pub(crate) struct Options {
    /// `full` runs everything; `ci` runs fewer cycles of the long stories.
    #[arg(long, value_enum, default_value_t = Tier::Full)]
    tier: Tier,
    /// The server: our own, or a real Kafka broker, of which every story that can be told of it must hold too.
    #[arg(long, value_enum, default_value_t = Server::Milepost)]
    against: Server,
    /// Everything after `--` goes to pytest, such as `-k zombie`.
    #[arg(last = true)]
    pytest_arguments: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Server {
    Milepost,
    Kafka,
}

/// How many stories ended how.
pub(crate) struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Counts {
    /// An error if a story failed, or if none ran at all.
    pub(crate) fn verdict(&self) -> Result<(), ChoreError> {
        if self.failed > 0 {
            return Err(ChoreError::Unexpected(format!("{} stories failed", self.failed)));
        }
        if process::in_ci() && self.passed == 0 {
            return Err(ChoreError::Unexpected("no story ran".to_owned()));
        }
        Ok(())
    }

    /// Reads the file that the stories' `conftest.py` leaves behind.
    fn read(path: &Path) -> Result<Self, ChoreError> {
        let text = fs::read_to_string(path).map_err(ChoreError::file(path))?;
        let value: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| ChoreError::Unexpected(format!("{}: {error}", path.display())))?;
        let count = |key: &str| {
            value[key]
                .as_u64()
                .and_then(|count| usize::try_from(count).ok())
                .ok_or_else(|| ChoreError::Unexpected(format!("{}: no count of {key}", path.display())))
        };
        Ok(Self { passed: count("passed")?, failed: count("failed")?, skipped: count("skipped")? })
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// `cargo xtask stories`.
pub(crate) fn run_alone(options: &Options) -> Result<(), ChoreError> {
    let workspace = Workspace::find()?;
    let kit = Kit::set_up(&workspace)?;
    // Its command line is a client in some stories, whichever server they are told of.
    let binary = build_binary(&workspace)?;
    let against = match options.against {
        Server::Milepost => Against::Milepost(binary),
        Server::Kafka => Against::Kafka,
    };
    let request = Request { tier: options.tier, against, pytest_arguments: &options.pytest_arguments };
    let counts = run(&workspace, &kit, &request)?;
    println!("\n{counts}");
    counts.verdict()
}

/// Builds the binary that the stories run, in release: the one thing that is.
pub(crate) fn build_binary(workspace: &Workspace) -> Result<PathBuf, ChoreError> {
    process::run(workspace.cargo().args(["build", "--release", "--package", "milepost-cli"]))?;
    Ok(binary(workspace))
}

fn binary(workspace: &Workspace) -> PathBuf {
    workspace.target.join("release/milepost")
}

/// Runs the stories and counts them. A failing story is in the counts; an error means that they could not be run.
pub(crate) fn run(workspace: &Workspace, kit: &Kit, request: &Request<'_>) -> Result<Counts, ChoreError> {
    let folder = workspace.root.join("interop");
    let Some(python) = &kit.python else {
        return Ok(Counts { passed: 0, failed: 0, skipped: story_files(&folder.join("stories"))? });
    };
    let counts_file = workspace.interop_cache().join("counts.json");
    remove(&counts_file)?;
    let mut command = Command::new(python);
    command.current_dir(&folder).args(["-m", "pytest", "stories"]).arg("--counts").arg(&counts_file);
    command.arg("--tier").arg(request.tier.name()).arg("--cli").arg(binary(workspace));
    let this_program = &workspace.this_program;
    match &request.against {
        Against::Milepost(binary) => {
            command.arg("--milepost").arg(binary);
            // It runs where Kafka's tools do.
            if kit.tools_class_path.is_some() {
                command.arg("--kafka-beside").arg(this_program);
            }
        }
        Against::Kafka => {
            command.arg("--kafka").arg(this_program);
        }
    }
    if let Some(class_path) = &kit.java_class_path {
        command.arg("--java-class-path").arg(class_path);
    }
    if let Some(class_path) = &kit.tools_class_path {
        command.arg("--tools-class-path").arg(class_path);
    }
    for (option, folder) in [("--javascript", &kit.javascript), ("--go", &kit.go), ("--rust", &kit.rust)] {
        if let Some(folder) = folder {
            command.arg(option).arg(folder);
        }
    }
    // Some of the stories, or stories about another server, say nothing about all clients.
    if matches!(request.against, Against::Milepost(_)) && request.pytest_arguments.is_empty() {
        let results = workspace.story_results();
        remove(&results)?;
        command.arg("--results").arg(results);
    }
    command.args(request.pytest_arguments);
    match process::run(&mut command) {
        // Failed stories make pytest exit with a failure too; the counts tell them from a run that broke.
        Ok(()) | Err(ChoreError::Failed { .. }) => Counts::read(&counts_file),
        Err(error) => Err(error),
    }
}

fn remove(path: &Path) -> Result<(), ChoreError> {
    if path.exists() { fs::remove_file(path).map_err(ChoreError::file(path)) } else { Ok(()) }
}

fn story_files(folder: &Path) -> Result<usize, ChoreError> {
    let entries = fs::read_dir(folder).map_err(ChoreError::file(folder))?;
    let names = entries.flatten().map(|entry| entry.file_name());
    Ok(names.filter(|name| name.to_string_lossy().starts_with("test_")).count())
}
