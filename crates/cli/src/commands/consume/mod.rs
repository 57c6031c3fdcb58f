//! `milepost consume`: the records of topics, on standard output.

mod alone;
pub(crate) mod from;
mod grouped;
mod printer;
mod template;

use clap::{Args, ValueEnum};
use milepost_client::Isolation;
use milepost_client::start::Start;

use crate::cluster_flags::ClusterFlags;
use crate::failure::Failure;
use template::Template;

const HELP: &str = "\
Formats of a record:
  text       the value, and nothing else
  json       one object a line: topic, partition, offset, timestamp, key, value, headers; bytes that are no text stand
             under key_base64 and value_base64; produce --format json takes the same
  TEMPLATE   anything with a % in it:
               %t topic   %p partition   %o offset   %T timestamp in milliseconds
               %k key     %v value       %h headers, as key=value with commas between
               %% a percent sign   \\n \\t \\\\
Every record is followed by a line's end. A null key or value is empty in text; json tells the two apart.

With --group the records are shared with the other members of the group, and where the group has read up to is committed:
at most a second after the records were written to standard output and flushed, never before. A program that is killed
leaves records that are read again; none is left out.

Ctrl-C ends it; so does the end of whoever reads its output. That is exit code 0, unless --count or --until-end asked for
more. The other exit codes are in milepost --help.";

/// The flags of `consume`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Consume {
    /// The topics. They must be there.
    #[arg(required = true, value_name = "TOPIC")]
    topics: Vec<String>,
    /// Reads as a member of this group, and commits what was written.
    #[arg(long, short, value_name = "GROUP", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    group: Option<String>,
    /// Where to begin: earliest, latest, an offset, -N for the last N records of each partition, @TIME (milliseconds, or
    /// 2026-01-31T12:00:00Z) for the first record that is not older. With --group only earliest or latest, and only where
    /// the group has committed nothing.
    #[arg(long, short, value_name = "PLACE", default_value = "earliest", value_parser = from::parse, allow_hyphen_values = true)]
    from: Start,
    /// Reads this partition only.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(i32).range(0..), conflicts_with = "group")]
    partition: Option<i32>,
    /// Ends after this many records.
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Ends where the partitions ended when reading began. With --group: those of this member.
    #[arg(long, short = 'e')]
    until_end: bool,
    /// Which records of transactions are wanted: all, or those that were committed. Then reading waits at the first transaction
    /// that is still open.
    #[arg(long, value_enum, default_value_t = IsolationLevel::ReadUncommitted)]
    isolation: IsolationLevel,
    /// How a record is written: text, json, or a template such as '%p %o %k %v'.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = template::parse)]
    format: Template,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// As Kafka's `isolation.level`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
}

impl From<IsolationLevel> for Isolation {
    fn from(flag: IsolationLevel) -> Self {
        match flag {
            IsolationLevel::ReadUncommitted => Self::ReadUncommitted,
            IsolationLevel::ReadCommitted => Self::ReadCommitted,
        }
    }
}

impl Consume {
    /// Whether it goes on until somebody ends it.
    fn is_endless(&self) -> bool {
        self.count.is_none() && !self.until_end
    }

    /// Being stopped is how an endless command ends; any other was not done yet.
    fn stopped(&self) -> Result<(), Failure> {
        if self.is_endless() { Ok(()) } else { Err(Failure::Stopped) }
    }
}

/// Reads and writes.
pub(crate) fn run(consume: &Consume) -> Result<(), Failure> {
    match &consume.group {
        None => alone::run(consume),
        Some(group) => grouped::run(consume, group),
    }
}
