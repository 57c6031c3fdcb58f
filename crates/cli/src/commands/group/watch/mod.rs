//! `milepost group watch`: the live view of groups.
//!
//! What is shown is a function of a [`state::State`], and that one changes only by events: keys, the answers of the
//! cluster, the clock. A thread looks at the cluster ([`looker`]); the loop in [`screen`] reads keys, hands everything to
//! the state and draws.

mod column;
mod draw;
mod figures;
mod fit;
mod group_column;
mod help;
mod keys;
mod lines;
mod listing;
mod looker;
mod looks;
mod partition_column;
mod screen;
mod sparkline;
mod state;
mod terminal;
#[cfg(test)]
mod test_support;

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use clap::Args;
use milepost_admin::TopicFilter;

use super::select::Selection;
use crate::cluster_flags::{ClusterFlags, Format, parse_seconds};
use crate::failure::Failure;
use looker::Subject;

const HELP: &str = "\
The screen has a line for each group; Enter opens one and shows its partitions, Esc goes back, ? shows all keys, q ends it.
Rates are records a second over the last 15 to 30 seconds, from what was committed and where the logs ended; they are a dash until
there were two looks. A commit that moves back is no reading, and is measured from there on. Of commits alone it cannot be told
whether somebody read or moved the group forward.
CATCH-UP is the lag divided by how much faster the group reads than its logs grow, over the partitions of which the lag is known:
  even                nothing is left to read
  keeps up            less than ten seconds behind, and reading about as fast as the logs grow
  5m12s               so long, if everything goes on as it does now
  never at this rate  it reads no faster than the logs grow
  -                   not known yet, or not at all
STANDING says of how many partitions there is no lag: `never` committed, `beyond end` of the log, `unknown`; and how many are
`below start`: records between them and the first that is left are gone.
A look that fails leaves the last figures; the line above the keys says what is wrong and how old they are.

JSON, one object a line for each look: {\"version\", \"time_ms\", \"groups\": [{\"group\", \"type\", \"state\", \"members\", \"totals\",
\"lag\", \"consumed_per_second\", \"produced_per_second\", \"catch_up\", \"catch_up_ms\", \"worst\": {\"topic\", \"partition\"}, \"partitions\":
[{\"topic\", \"partition\", \"offset\", \"log_end\", \"standing\", \"lag\", \"consumed_per_second\", \"produced_per_second\", \"catch_up\",
\"catch_up_ms\", \"member\"}]}], \"errors\"}; \"catch_up\" is even, keeps up, after, never or null. A look that failed has \"errors\" and no
\"groups\".";

/// The shortest time between two looks: what a person can still follow, and a cluster does not mind.
const INTERVAL_MIN: Duration = Duration::from_millis(100);

/// How long a step of a look may take if nothing else is said. The next look tries again, and until then it is said what is
/// wrong.
const STEP: Duration = Duration::from_secs(5);

/// The flags of `group watch`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Watch {
    #[command(flatten)]
    selection: Selection,
    /// Only this topic, or TOPIC:0,1 for some of its partitions; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC[:P,P]")]
    topics: Vec<TopicFilter>,
    /// Only groups that are behind somewhere, beyond the end, or of which that is not known.
    #[arg(long)]
    only_with_lag: bool,
    /// How long it is from the beginning of one look to that of the next.
    #[arg(long, short, value_name = "SECONDS", default_value = "2", value_parser = parse_interval)]
    interval: Duration,
    /// The screen, or a JSON object a line for each look.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Ends after this many looks; with --format json.
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    cluster: ClusterFlags,
}

pub(super) fn run(watch: &Watch) -> Result<(), Failure> {
    watch.selection.check_quick()?;
    if watch.format == Format::Text {
        if watch.count.is_some() {
            return Err(Failure::Usage("--count is for --format json".to_owned()));
        }
        if !is_screen() {
            return Err(Failure::Usage(
                "standard output is no terminal that can be drawn on; milepost group describe shows where groups are \
                 once, and --format json writes a line for each look"
                    .to_owned(),
            ));
        }
    }
    let cluster = watch.cluster.connect_for_steps_of(STEP)?;
    let subject = Subject { selection: watch.selection.clone(), topics: watch.topics.clone() };
    match watch.format {
        Format::Text => screen::run(watch, cluster, subject),
        Format::Json => lines::run(watch, cluster, &subject),
    }
}

fn is_screen() -> bool {
    io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

fn parse_interval(said: &str) -> Result<Duration, String> {
    let interval = parse_seconds(said)?;
    if interval < INTERVAL_MIN {
        return Err(format!("shorter than {} s", INTERVAL_MIN.as_secs_f32()));
    }
    Ok(interval)
}
