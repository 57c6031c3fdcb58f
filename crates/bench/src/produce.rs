//! A producer that saturates the server: batches of a fixed size, a fixed number in flight on each connection.

use std::time::Duration;

use milepost_batch::{BatchBuilder, BatchOptions};
use milepost_model::{Offset, Timestamp};
use milepost_wire::messages::produce::{
    PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData,
};
use milepost_wire::{ApiKey, DecodeError, EncodeError, ErrorCode, decode_response, encode_request};

use crate::client::{CLIENT_ID, Client};
use crate::cluster;
use crate::error::BenchError;
use crate::load::{self, Plan, Workload};
use crate::report::{self, Report};
use crate::tally::Outcome;

/// The last version that names topics.
const PRODUCE_VERSION_MAX: i16 = 12;
/// How long the server may wait for replicas.
const PRODUCE_TIMEOUT_MS: i32 = 30_000;

/// The flags of `produce`.
#[derive(Debug, clap::Args)]
pub(crate) struct Produce {
    /// Where to begin; leaders are found from there.
    #[arg(long, value_name = "HOST:PORT")]
    bootstrap: String,
    /// Partitions of the topic, with one connection each.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    partitions: u32,
    /// Batches in flight on each connection.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    in_flight: u32,
    /// Bytes of each record's value.
    #[arg(long, default_value_t = 1000, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    record_bytes: u32,
    /// Records in each batch.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    records: u32,
    /// How long to measure.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// How long to run before that.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=3600))]
    warm_up_seconds: u64,
    /// The topic; made if it does not exist. By default its name has the number of its partitions.
    #[arg(long)]
    topic: Option<String>,
}

/// Measures and reports.
pub(crate) fn run(produce: &Produce) -> Result<Report, BenchError> {
    let mut client = Client::connect(&produce.bootstrap)?;
    let topic = produce.topic.clone().unwrap_or_else(|| format!("bench-produce-{}", produce.partitions));
    cluster::create_topic(&mut client, &topic, produce.partitions)?;
    let leaders = cluster::leaders(&mut client, &topic, produce.partitions)?;
    let version = client.version(ApiKey::Produce, PRODUCE_VERSION_MAX)?;
    let batch = batch(produce.records, produce.record_bytes);
    let bytes = batch.len() as u64;
    let mut workload = Producing { version, topic, batch };
    let plan = Plan {
        in_flight: produce.in_flight as usize,
        warm_up: Duration::from_secs(produce.warm_up_seconds),
        measured: Duration::from_secs(produce.seconds),
    };
    let measured = load::run(&leaders, plan, &mut workload)?;
    let tally = &measured.tally;
    let mut text = String::new();
    let shape = format!(
        "; {} connections, {} in flight, {bytes} bytes a batch",
        produce.partitions, produce.in_flight
    );
    report::rate(&mut text, "batches", tally.requests(), measured.time, &shape);
    report::rate(&mut text, "records", tally.requests() * u64::from(produce.records), measured.time, "");
    report::rate(&mut text, "bytes", tally.units(), measured.time, "");
    report::load(&mut text, tally, measured.shares);
    Ok(Report { text, server_errors: !tally.errors().is_empty() })
}

/// The batch that is sent over and over.
fn batch(records: u32, record_bytes: u32) -> Vec<u8> {
    let value: Vec<u8> = (0..record_bytes).map(|index| (index % 251) as u8).collect();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let timestamp = Timestamp(i64::try_from(now.as_millis()).unwrap_or(0));
    let mut builder = BatchBuilder::new(BatchOptions::default());
    for _ in 0..records {
        // What did not fit is not in the batch; the report has its size.
        if builder.append(timestamp, None, Some(&value), &[]).is_err() {
            break;
        }
    }
    builder.build(Offset(0))
}

struct Producing {
    version: i16,
    topic: String,
    batch: Vec<u8>,
}

impl Workload for Producing {
    fn request(
        &mut self,
        connection: usize,
        correlation_id: i32,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let partition = PartitionProduceData {
            index: i32::try_from(connection).unwrap_or(i32::MAX),
            records: Some(&self.batch),
        };
        let topic = TopicProduceData {
            name: &self.topic,
            partition_data: vec![partition],
            ..TopicProduceData::default()
        };
        let request = ProduceRequest {
            acks: -1,
            timeout_ms: PRODUCE_TIMEOUT_MS,
            topic_data: vec![topic],
            ..ProduceRequest::default()
        };
        encode_request(out, &request, self.version, correlation_id, Some(CLIENT_ID))
    }

    fn response(&mut self, frame: &[u8]) -> Result<(i32, Outcome), DecodeError> {
        let (correlation_id, response): (i32, ProduceResponse<'_>) = decode_response(frame, self.version)?;
        let partition = response.responses.first().and_then(|topic| topic.partition_responses.first());
        let code = partition.map_or(ErrorCode::UnknownServerError, |partition| partition.error_code);
        let outcome = match code {
            ErrorCode::None => Outcome { units: self.batch.len() as u64, error: None },
            code => Outcome { units: 0, error: Some(code) },
        };
        Ok((correlation_id, outcome))
    }
}
