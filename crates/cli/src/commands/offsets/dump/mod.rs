//! `milepost offsets dump`: every record of `__consumer_offsets`, whatever it is.

mod decoded;
mod entry;
mod field;
mod kafka;
mod kafka3;
mod shape;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use milepost_batch::BatchView;
use milepost_client::start::Start;
use milepost_model::{Offset, PartitionIndex};

use super::log::{self, Sink, Until};
use crate::cluster_flags::ClusterFlags;
use crate::commands::consume::from;
use crate::failure::Failure;
use crate::output::Output;
use entry::{Entry, Filter, Only};
use shape::Shape;

const HELP: &str = "\
Formats:
  text     a line each: PARTITION:OFFSET, time, type, key, and what it says or `deleted`
  json     one object a line: partition, offset, timestamp, producer {id, epoch} within a transaction, type, name, key, version,
           value (null: deleted); or error with key_base64 and value_base64; or marker; field names as in Kafka's schemas
  kafka    as the formatters of Kafka 4 (OffsetsMessageFormatter, GroupMetadataMessageFormatter), one object a line
  kafka3   as those of Kafka 3: [group,topic,partition]::OffsetAndMetadata(…) and group::GroupMetadata(…)
All types of Kafka 4.4 are known: committed offsets, and classic, consumer, share and streams groups. Text and json show records of
other types and such as cannot be read, with their bytes; the shapes of Kafka's formatters show committed offsets and classic
groups alone, as those do. A record within a transaction is shown whether or not that was committed; its marker follows.
A path is a segment, a partition's folder, or a folder of these; files are only read. What a milepost server that was not stopped
cleanly has in its journal alone is not in its segments.";

/// The flags of `offsets dump`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Dump {
    /// Segments or folders to read instead of a cluster.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only this partition of __consumer_offsets.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    partition: Option<i32>,
    /// Only records about this group; may be repeated.
    #[arg(long = "group", short, value_name = "GROUP")]
    groups: Vec<String>,
    /// Only offsets of this topic; may be repeated.
    #[arg(long = "topic", short, value_name = "TOPIC")]
    topics: Vec<String>,
    /// Only one kind of record.
    #[arg(long, value_enum)]
    only: Option<Only>,
    /// Where to begin: earliest, latest, an offset, -N, @TIME.
    #[arg(long, value_name = "PLACE", default_value = "earliest", value_parser = from::parse, allow_hyphen_values = true, conflicts_with = "paths")]
    from: Start,
    /// Goes on with what is written from now on, until Ctrl-C.
    #[arg(long, short, conflicts_with = "paths")]
    follow: bool,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = DumpFormat::Text)]
    format: DumpFormat,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// What a record looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DumpFormat {
    /// For people; it may change.
    Text,
    /// For programs; fields are only ever added.
    Json,
    /// As the formatters of Kafka 4.
    Kafka,
    /// As the formatters of Kafka 3.
    Kafka3,
}

pub(super) fn run(dump: &Dump) -> Result<(), Failure> {
    let only = dump.partition.map(PartitionIndex);
    let shape = match dump.format {
        DumpFormat::Text => Shape::Text,
        DumpFormat::Json => Shape::Json,
        DumpFormat::Kafka => Shape::Kafka,
        DumpFormat::Kafka3 => Shape::Kafka3,
    };
    let filter = Filter { groups: dump.groups.clone(), topics: dump.topics.clone(), only: dump.only };
    let mut printer = Printer { shape, filter, output: Output::new() };
    if !dump.paths.is_empty() {
        return log::read_files(&dump.paths, only, &mut printer);
    }
    let mut cluster = dump.cluster.connect()?;
    let until = if dump.follow { Until::Stopped } else { Until::End };
    log::read_cluster(&mut cluster, only, dump.from, until, &mut printer)
}

struct Printer {
    shape: Shape,
    filter: Filter,
    output: Output,
}

impl Printer {
    fn print(&mut self, entry: &Entry<'_>) -> Result<(), Failure> {
        if !self.filter.takes(entry) {
            return Ok(());
        }
        self.output.write(|out| self.shape.write(entry, out))
    }
}

impl Sink for Printer {
    type Error = Failure;

    fn batch(
        &mut self,
        log: Option<PartitionIndex>,
        from: Offset,
        batch: &BatchView<'_>,
    ) -> Result<(), Failure> {
        entry::each(log, from, batch, &mut |entry| self.print(entry))
    }

    fn damaged(&mut self, log: Option<PartitionIndex>, reason: &str) -> Result<(), Failure> {
        self.print(&Entry::damaged(log, None, reason))
    }

    fn pause(&mut self) -> Result<(), Failure> {
        self.output.flush()?;
        if self.output.is_abandoned() { Err(Failure::NobodyReads) } else { Ok(()) }
    }
}
