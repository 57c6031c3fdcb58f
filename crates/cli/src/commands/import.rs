//! `milepost import`: makes a data folder of what a stopped Kafka broker's folder holds.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use milepost_broker::config::Loader;
use milepost_broker::import::{self, Import as Order, Imported, Mode, Progress, Scope, Stage, Unclean};
use milepost_broker::server::{SystemClock, SystemRandom};
use serde_json::json;

use crate::cluster_flags::Format;
use crate::failure::{self, Failure};
use crate::output;
use crate::quote;

/// The flags of `import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The folder that Kafka's log.dirs names, of a broker that was stopped, or a copy of it. It is only read.
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// The data folder to make. If an import into it was interrupted it goes on from there.
    #[arg(long, value_name = "DIR", default_value = "./milepost-data")]
    data_dir: PathBuf,
    /// Leaves users' topics where they are: only committed offsets and groups are taken.
    #[arg(long)]
    offsets_only: bool,
    /// Takes what is there although the broker did not stop cleanly, up to the last whole batch of each partition.
    #[arg(long)]
    accept_unclean: bool,
    /// Reads and checks everything, says what would be taken, and writes nothing.
    #[arg(long)]
    dry_run: bool,
    /// What is printed in the end: sentences, or one object.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(import: &Import) -> Result<(), Failure> {
    let order = Order {
        from: import.from.clone(),
        to: import.data_dir.clone(),
        scope: if import.offsets_only { Scope::OffsetsOnly } else { Scope::Everything },
        unclean: if import.accept_unclean { Unclean::Accept } else { Unclean::Refuse },
        mode: if import.dry_run { Mode::CheckOnly } else { Mode::Write },
    };
    let settings = Loader::default().finish().map_err(|error| Failure::Usage(error.to_string()))?;
    let clock = SystemClock::default();
    let mut meter = Meter::default();
    let imported = import::import(&order, &settings, &|| clock.now(), &mut SystemRandom, &mut |progress| {
        meter.tell(progress);
    });
    meter.end();
    let imported = imported.map_err(|error| Failure::Failed(error.to_string()))?;
    match import.format {
        Format::Text => output::print(&sentences(import, &imported)),
        Format::Json => output::print_json(&object(import, &imported)),
    }
}

/// The progress: one line that is written over on a terminal, else a line for each pass.
#[derive(Default)]
struct Meter {
    is_line_open: bool,
}

impl Meter {
    fn tell(&mut self, progress: Progress) {
        let Progress { stage, partitions, of, bytes } = progress;
        let verb = match stage {
            Stage::Checking => "checked",
            Stage::Writing => "wrote",
        };
        let line = format!("{verb} {partitions} of {of} partitions, {bytes} bytes");
        if std::io::stderr().is_terminal() {
            failure::say_over(&line);
            self.is_line_open = true;
        } else if partitions == of {
            failure::say(&line);
        }
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.is_line_open) {
            failure::end_line();
        }
    }
}

fn sentences(import: &Import, imported: &Imported) -> String {
    let verb = if import.dry_run { "would take" } else { "took" };
    let partitions: usize = imported.topics.iter().map(|(_, partitions)| partitions).sum();
    let mut text = format!(
        "{verb} {} committed offsets of {} groups from {} partitions of __consumer_offsets, and {} topics with {} partitions; \
         {} bytes\n",
        imported.committed_offsets,
        imported.groups,
        imported.offsets_partitions,
        imported.topics.len(),
        partitions,
        imported.bytes
    );
    for torn in &imported.torn_ends {
        text += &format!(
            "left out: {} from byte {} on, which is no whole batch\n",
            torn.path.display(),
            torn.position
        );
    }
    for topic in &imported.left_out {
        text += &format!("left out: {topic}, which is Kafka's own\n");
    }
    if !imported.missing_topics.is_empty() {
        text += &format!(
            "offsets are committed for topics that are not here: {}; they are kept, and a topic that is made under such a \
             name is another one\n",
            imported.missing_topics.join(", ")
        );
    }
    if imported.open_transactions > 0 {
        text += &format!(
            "{} transactions have no end; what they wrote stays pending\n",
            imported.open_transactions
        );
    }
    if !imported.topics.is_empty() {
        text += "settings of topics are not in such a folder: each topic keeps its records for ever (retention.ms=-1) until \
                 you set it otherwise\n";
    }
    if !import.dry_run {
        let flag = quote::flag("--data-dir", &import.data_dir.to_string_lossy());
        text += &format!("start the server: {}\n", quote::command("serve", [], &flag));
    }
    text
}

fn object(import: &Import, imported: &Imported) -> serde_json::Value {
    let topics =
        imported.topics.iter().map(|(name, partitions)| json!({"name": name, "partitions": partitions}));
    let torn = imported.torn_ends.iter().map(|torn| json!({"file": torn.path, "position": torn.position}));
    json!({
        "written": !import.dry_run,
        "cluster_id": imported.cluster_id,
        "groups": imported.groups,
        "committed_offsets": imported.committed_offsets,
        "offsets_partitions": imported.offsets_partitions,
        "topics": topics.collect::<Vec<_>>(),
        "bytes": imported.bytes,
        "open_transactions": imported.open_transactions,
        "missing_topics": imported.missing_topics,
        "left_out": imported.left_out,
        "torn_ends": torn.collect::<Vec<_>>(),
    })
}
