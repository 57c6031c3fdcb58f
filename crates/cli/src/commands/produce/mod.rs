//! `milepost produce`: lines of standard input become records of a topic.

mod line;
mod lines;

use std::time::Duration;

use clap::{Args, ValueEnum};
use milepost_batch::Codec;
use milepost_client::{Cluster, Partitioning, Producer, ProducerOptions};
use milepost_model::PartitionIndex;
use serde_json::json;

use crate::clock;
use crate::cluster_flags::{ClusterFlags, Format};
use crate::failure::Failure;
use crate::output;
use line::LineRules;
use lines::{Lines, Next};

/// How long a record waits for others before it is sent.
const LINGER: Duration = Duration::from_millis(5);
/// How long what was taken may still take to be acknowledged after Ctrl-C.
const FINISH: Duration = Duration::from_secs(5);

const HELP: &str = "\
With --format json each line is an object. All its fields may be left out:
  key, value            text or null
  key_base64, value_base64
                        the same for bytes that are no text
  headers               an array of {\"key\", \"value\"}, or \"value_base64\"
  partition             overrides --partition and the key
  timestamp             milliseconds since 1970
  topic, offset         allowed and ignored, so that the output of consume can be put in again
The last thing on standard output is how many records were acknowledged. Exit codes are in milepost --help.";

/// The flags of `produce`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Produce {
    /// The topic. It must be there.
    topic: String,
    /// Takes what stands before it in a line as the record's key.
    #[arg(long, short = 'k', value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    key_separator: Option<String>,
    /// Writes to this partition. Otherwise the key decides, as in Kafka's own clients, and records without a key take
    /// turns.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    partition: Option<i32>,
    /// A header for every record; may be repeated.
    #[arg(long = "header", short = 'H', value_name = "KEY=VALUE", value_parser = parse_header)]
    headers: Vec<(String, String)>,
    /// How batches are compressed.
    #[arg(long, short = 'z', value_enum, default_value_t = Compression::None)]
    compression: Compression,
    /// What a line is, and how the result is said: a value, or a JSON object.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    cluster: ClusterFlags,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Compression {
    None,
    Gzip,
    Snappy,
    Lz4,
    Zstd,
}

impl From<Compression> for Codec {
    fn from(flag: Compression) -> Self {
        match flag {
            Compression::None => Self::None,
            Compression::Gzip => Self::Gzip,
            Compression::Snappy => Self::Snappy,
            Compression::Lz4 => Self::Lz4,
            Compression::Zstd => Self::Zstd,
        }
    }
}

fn parse_header(said: &str) -> Result<(String, String), String> {
    let (key, value) = said.split_once('=').ok_or("not KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Writes the records, and says what became of them however it ends.
pub(crate) fn run(produce: &Produce) -> Result<(), Failure> {
    if produce.format == Format::Json && produce.key_separator.is_some() {
        return Err(Failure::Usage("--key-separator has no meaning with --format json".to_owned()));
    }
    let mut cluster = produce.cluster.connect()?;
    let partition = produce.partition.map(PartitionIndex);
    let options = ProducerOptions {
        codec: produce.compression.into(),
        partitioning: partition.map_or(Partitioning::ByKey, Partitioning::Fixed),
    };
    let mut producer = Producer::open(&mut cluster, &produce.topic, options)?;
    let rules = LineRules {
        key_separator: produce.key_separator.clone(),
        headers: produce.headers.clone(),
        format: produce.format,
    };
    let outcome = write_all(&mut cluster, &mut producer, &rules);
    let outcome = match outcome {
        // What was taken before the signal is still written.
        Err(Failure::Stopped) => {
            cluster.finish_within(FINISH);
            producer.flush(&mut cluster).map_err(Failure::from).and(Err(Failure::Stopped))
        }
        other => other,
    };
    report(&producer, produce.format)?;
    outcome.and_then(|()| verdict(&producer))
}

fn write_all(cluster: &mut Cluster, producer: &mut Producer, rules: &LineRules) -> Result<(), Failure> {
    let mut lines = Lines::of_stdin();
    let mut unsent = false;
    loop {
        if cluster.options().stop.is_set() {
            return Err(Failure::Stopped);
        }
        let wait = if unsent { LINGER } else { Duration::from_millis(100) };
        match lines.next(wait) {
            Next::Line { number, bytes } => {
                if let Err(failure) = take(cluster, producer, rules, number, &bytes) {
                    // The lines before it were taken, and what becomes of them is to be known.
                    if matches!(failure, Failure::Failed(_)) {
                        producer.flush(cluster)?;
                    }
                    return Err(failure);
                }
                unsent = true;
            }
            Next::Nothing if unsent => {
                producer.flush(cluster)?;
                unsent = false;
            }
            Next::Nothing => {}
            Next::End => return Ok(producer.flush(cluster)?),
            Next::Failed(why) => {
                producer.flush(cluster)?;
                return Err(Failure::Failed(why));
            }
        }
    }
}

fn take(
    cluster: &mut Cluster,
    producer: &mut Producer,
    rules: &LineRules,
    number: u64,
    bytes: &[u8],
) -> Result<(), Failure> {
    let of_line = |why: String| Failure::Failed(format!("line {number}: {why}"));
    let input = line::parse(bytes, rules, clock::now()).map_err(of_line)?;
    producer.send_to(cluster, input.partition, input.record).map_err(|error| match Failure::from(error) {
        Failure::Failed(why) => of_line(why),
        other => other,
    })
}

fn report(producer: &Producer, format: Format) -> Result<(), Failure> {
    let delivery = producer.delivery();
    let (acknowledged, failed, unknown) = (delivery.acknowledged, delivery.failed, producer.waiting());
    match format {
        Format::Text => {
            let mut text = format!("acknowledged {acknowledged}");
            if failed > 0 {
                text.push_str(&format!(", refused {failed}"));
            }
            if unknown > 0 {
                text.push_str(&format!(", unknown {unknown}"));
            }
            output::print(&format!("{text}\n"))
        }
        Format::Json => output::print(&format!(
            "{}\n",
            json!({ "acknowledged": acknowledged, "refused": failed, "unknown": unknown })
        )),
    }
}

fn verdict(producer: &Producer) -> Result<(), Failure> {
    let delivery = producer.delivery();
    match &delivery.first_failure {
        None => Ok(()),
        Some(why) => Err(Failure::Failed(format!(
            "{} records were refused, the first because: {why}",
            delivery.failed
        ))),
    }
}
