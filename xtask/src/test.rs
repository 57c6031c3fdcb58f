//! `cargo xtask test`: the one test command. It does its own set-up, builds the binary once in release, and runs
//! the Rust tests and then the stories with real clients.

use clap::Args;

use crate::clients_table;
use crate::interop::Kit;
use crate::process::{self, ChoreError};
use crate::steps::Steps;
use crate::stories::{self, Against, Request, Tier};
use crate::workspace::Workspace;

/// What the person asked for.
#[derive(Args)]
pub(crate) struct Options {
    /// `full` runs everything; `ci` runs fewer cycles of the long stories.
    #[arg(long, value_enum, default_value_t = Tier::Full)]
    tier: Tier,
}

/// Runs everything. A failing Rust test does not keep the stories from running: one run shows all that is wrong.
pub(crate) fn run(options: &Options) -> Result<(), ChoreError> {
    let workspace = Workspace::find()?;
    let mut steps = Steps::default();
    let kit = steps.run("set-up of the clients", || Kit::set_up(&workspace));
    let binary = steps.run("release binary", || stories::build_binary(&workspace));
    // The outcome of this step is remembered by `steps`.
    let _ = steps.run("Rust tests", || {
        process::run(workspace.cargo().args(["test", "--workspace"]).env("TEST_TIER", options.tier.name()))
    });
    let mut counts = None;
    if let (Ok(kit), Ok(binary)) = (&kit, binary) {
        let request =
            Request { tier: options.tier, against: Against::Milepost(binary), pytest_arguments: &[] };
        let _ = steps.run("stories with real clients", || {
            let told = stories::run(&workspace, kit, &request)?;
            let verdict = told.verdict();
            counts = Some(told);
            verdict
        });
        if kit.python.is_some() {
            let _ = steps.run("tables of clients and APIs in README.md", || clients_table::check(&workspace));
        }
    }
    steps.print();
    if let Some(counts) = counts {
        println!("\nstories with real clients:\n{counts}");
    }
    steps.verdict()
}
