//! Steps of a long chore: each is announced, timed, and summed up at the end.

use std::time::{Duration, Instant};

use crate::process::ChoreError;

/// What ran so far.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: &'static str,
    took: Duration,
    failed: bool,
}

impl Steps {
    /// Runs one step. Its error is returned and also remembered, so that a caller may go on with the next step and
    /// still fail at the end.
    pub(crate) fn run<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<T, ChoreError>,
    ) -> Result<T, ChoreError> {
        println!("\n=== {name}");
        let start = Instant::now();
        let outcome = work();
        if let Err(error) = &outcome {
            eprintln!("xtask: {name}: {error}");
        }
        self.done.push(Step { name, took: start.elapsed(), failed: outcome.is_err() });
        outcome
    }

    /// Prints minutes per step.
    pub(crate) fn print(&self) {
        println!("\nminutes  step");
        for step in &self.done {
            let minutes = step.took.as_secs_f64() / 60.0;
            let failed = if step.failed { "  FAILED" } else { "" };
            println!("{minutes:7.1}  {}{failed}", step.name);
        }
    }

    /// An error that names the steps that failed, if any did.
    pub(crate) fn verdict(&self) -> Result<(), ChoreError> {
        let failed: Vec<&str> = self.done.iter().filter(|step| step.failed).map(|step| step.name).collect();
        if failed.is_empty() { Ok(()) } else { Err(ChoreError::Steps(failed.join(", "))) }
    }
}
