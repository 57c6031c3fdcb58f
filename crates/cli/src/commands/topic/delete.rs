//! `milepost topic delete`.

use clap::Args;
use milepost_client::{ClientError, Stop, topics};
use serde_json::json;

use crate::cluster_flags::{ClusterFlags, Format};
use crate::failure::Failure;
use crate::{confirm, output};

/// The flags of `topic delete`.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The topics.
    #[arg(required = true, value_name = "TOPIC")]
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
        let question = format!("Delete {} with all records?", delete.names.join(", "));
        confirm::ask(&question, "nothing was deleted", &Stop::default())?;
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
