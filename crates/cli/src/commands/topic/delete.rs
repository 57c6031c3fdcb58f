//! `milepost topic delete`.

use std::io::{self, BufRead, IsTerminal, Write as _};

use clap::Args;
use milepost_client::{ClientError, topics};
use serde_json::json;

use crate::cluster_flags::{ClusterFlags, Format};
use crate::failure::Failure;
use crate::output;

/// The flags of `topic delete`.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The topics.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Deletes without asking. Needed where there is no terminal to ask on.
    #[arg(long, short)]
    yes: bool,
    /// What is printed: a line for each topic, or {"deleted": [names]}.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(delete: &Delete) -> Result<(), Failure> {
    if !delete.yes {
        ask(&delete.names)?;
    }
    let mut cluster = delete.cluster.connect()?;
    let mut deleted = Vec::new();
    let mut refused = Vec::new();
    for name in &delete.names {
        // One that cannot be deleted does not save those behind it.
        match topics::delete(&mut cluster, name) {
            Ok(()) => deleted.push(name),
            Err(error) => {
                let ends_it = error.is_connection() || matches!(error, ClientError::Stopped);
                refused.push(error);
                if ends_it {
                    break;
                }
            }
        }
    }
    match delete.format {
        Format::Text => {
            output::print(&deleted.iter().map(|name| format!("deleted {name}\n")).collect::<String>())?;
        }
        Format::Json => output::print_json(&json!({ "deleted": deleted }))?,
    }
    Failure::of_some(refused)
}

/// Asks on the terminal.
fn ask(names: &[String]) -> Result<(), Failure> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::Usage(
            "deleting a topic deletes all its records; say --yes, since there is no terminal to ask on"
                .to_owned(),
        ));
    }
    let unasked = |error: io::Error| Failure::Failed(format!("cannot ask on the terminal: {error}"));
    let mut stderr = io::stderr();
    write!(stderr, "Delete {} with all records? Type yes: ", names.join(", ")).map_err(unasked)?;
    stderr.flush().map_err(unasked)?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).map_err(unasked)?;
    match answer.trim() {
        "yes" => Ok(()),
        _ => Err(Failure::Failed("nothing was deleted".to_owned())),
    }
}
