//! Groups that nobody has used for a while. Only the log of committed offsets tells since when.

use std::collections::BTreeSet;

use clap::Args;
use milepost_admin::target::parse_time;
use milepost_client::Cluster;
use milepost_client::groups::Listed;
use milepost_client::start;
use milepost_model::{Timestamp, partition_for};

use super::select::has_no_members;
use crate::clock;
use crate::commands::offsets::{TOPIC, ledger};
use crate::failure::{Failure, say};

/// How many of the groups that were left out are named.
const NAMED_MAX: usize = 5;

/// How long they must have been unused.
#[derive(Clone, Debug, Args)]
pub(crate) struct Unused {
    /// Only groups that have had no member and committed nothing for this long: 30d, 12h, 1h30m. This reads
    /// __consumer_offsets, all partitions in which such groups live; groups of which it does not tell are left out.
    #[arg(long = "unused-for", value_name = "SPAN", value_parser = span)]
    span: Option<Span>,
}

/// A time before now, as it was said.
#[derive(Clone, Debug)]
struct Span(String);

impl Unused {
    pub(super) fn is_said(&self) -> bool {
        self.span.is_some()
    }

    /// Keeps those of the groups that have been unused for so long, if that was asked for.
    pub(super) fn keep(&self, cluster: &mut Cluster, listed: &mut Listed) -> Result<(), Failure> {
        let Some(span) = &self.span else { return Ok(()) };
        let latest = before(span, clock::now());
        listed.groups.retain(|_, group| has_no_members(group));
        if listed.groups.is_empty() {
            return Ok(());
        }
        let count = start::partitions(cluster, &[TOPIC.to_owned()], None)?.len();
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let homes: BTreeSet<_> = listed.groups.keys().map(|group| partition_for(group, count)).collect();
        let history = ledger::read(cluster, &homes, None)?;
        for (what, reason) in &history.unseen {
            say(&format!("not seen: {what}: {reason}"));
        }
        let mut untold = Vec::new();
        listed.groups.retain(|group, _| {
            let is_whole = history.whole.contains(&partition_for(group, count));
            let last_use = history.ledger.last_use(group).filter(|_| is_whole);
            if last_use.is_none() {
                untold.push(group.clone());
            }
            last_use.is_some_and(|at| at <= latest)
        });
        if !untold.is_empty() {
            say(&left_out(&untold));
        }
        Ok(())
    }
}

fn left_out(groups: &[String]) -> String {
    let named = groups[..groups.len().min(NAMED_MAX)].join(", ");
    let others = groups.len().saturating_sub(NAMED_MAX);
    let others = if others > 0 { format!(" and {others} others") } else { String::new() };
    format!("left out, because {TOPIC} does not tell when they were used last: {named}{others}")
}

fn span(said: &str) -> Result<Span, String> {
    let span = Span(said.trim().to_owned());
    match parse_time(&format!("-{}", span.0), Timestamp(i64::MAX)) {
        Some(time) if time.0 < i64::MAX && !span.0.starts_with('-') => Ok(span),
        _ => Err("no span of time such as 30d, 12h or 1h30m".to_owned()),
    }
}

/// That long before now. A span that is longer than time has been counted begins with it.
fn before(span: &Span, now: Timestamp) -> Timestamp {
    parse_time(&format!("-{}", span.0), now).unwrap_or(Timestamp(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_said_in_words() {
        let now = Timestamp(1_700_000_000_000);
        let ago = |said: &str| span(said).map(|span| now.0 - before(&span, now).0);
        assert_eq!(ago("30d"), Ok(30 * 86_400_000));
        assert_eq!(ago("1h30m"), Ok(5_400_000));
        assert_eq!(ago("100000d"), Ok(now.0));
        for wrong in ["", "7", "-7d", "0s", "soon", "7 parsecs"] {
            assert!(span(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn who_is_left_out_is_named_but_not_endlessly() {
        let groups: Vec<String> = (0..7).map(|number| format!("g{number}")).collect();
        assert!(left_out(&groups[..2]).ends_with(": g0, g1"));
        assert!(left_out(&groups).ends_with("g3, g4 and 2 others"));
    }
}
