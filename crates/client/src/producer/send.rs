//! Sending what waits: one request to each leader at a time, with one batch of each of its partitions.

use std::collections::BTreeMap;

use milepost_batch::sequence_plus;
use milepost_model::PartitionIndex;
use milepost_wire::messages::produce::{
    PartitionProduceData, PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceData,
};
use milepost_wire::{ApiKey, ErrorCode};

use super::{Lane, Producer};
use crate::address::Address;
use crate::backoff::Backoff;
use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::{ClientError, explain};

/// The most bytes of batches in one request, except that a first batch always goes.
const REQUEST_BYTES: usize = 8 << 20;
/// How long a broker may take to get a batch to all replicas.
const REPLICATION_TIMEOUT_MS: i32 = 30_000;
/// The answer is wanted when all in-sync replicas have the batch.
const ALL_REPLICAS: i16 = -1;

/// What a leader said of each batch that was sent to it.
type Results = Vec<(PartitionIndex, ErrorCode, Option<String>)>;

/// A batch, ready to go.
struct Ready {
    partition: PartitionIndex,
    bytes: Vec<u8>,
}

/// As [`Producer::flush`].
pub(super) fn flush(producer: &mut Producer, cluster: &mut Cluster) -> Result<(), ClientError> {
    let mut deadline = cluster.deadline();
    let mut backoff = Backoff::default();
    while producer.buffered_bytes > 0 {
        let settled = producer.waiting();
        let error = round(producer, cluster, deadline);
        if producer.waiting() < settled {
            deadline = cluster.deadline();
            backoff = Backoff::default();
        }
        match error {
            Ok(()) => {}
            Err(error) if error.is_transient() => {
                let stop = cluster.options().stop.clone();
                backoff.wait(deadline, &stop, error)?;
                match cluster.topics_with_leaders(&[&producer.topic]) {
                    Ok(metadata) => producer.metadata = metadata,
                    // The next round meets it again, and waits.
                    Err(error) if error.is_transient() => {}
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// One request to each leader, and their answers. Gives the first error, after all have answered or failed.
fn round(producer: &mut Producer, cluster: &mut Cluster, deadline: Deadline) -> Result<(), ClientError> {
    let by_leader = gather(producer)?;
    let mut outcome = Ok(());
    let mut asked = Vec::with_capacity(by_leader.len());
    for (leader, ready) in by_leader {
        match send(producer, cluster, &leader, &ready, deadline) {
            Ok(()) => asked.push(leader),
            Err(error) => outcome = outcome.and(Err(error)),
        }
    }
    for leader in asked {
        let results = cluster
            .connection_as_it_is(&leader)
            .ok_or_else(|| ClientError::refused(leader.to_string(), ErrorCode::NetworkException, None))
            .and_then(|connection| receive(connection, &producer.topic, deadline));
        match results {
            Ok(results) => outcome = outcome.and(settle(producer, results)),
            Err(error) => outcome = outcome.and(Err(error)),
        }
    }
    outcome
}

/// The first batch of each partition, by leader.
fn gather(producer: &Producer) -> Result<BTreeMap<Address, Vec<Ready>>, ClientError> {
    let mut by_leader: BTreeMap<Address, Vec<Ready>> = BTreeMap::new();
    for (partition, lane) in &producer.lanes {
        let Some(batch) = lane.batches.front() else { continue };
        let leader = producer.metadata.leader(&producer.topic, *partition)?;
        let bytes = batch
            .encode(producer.options.codec, producer.identity, lane.next_sequence)
            .map_err(|_| ClientError::RecordTooLarge { bytes: batch.bytes, max: super::RECORD_BYTES_MAX })?;
        let of_leader = by_leader.entry(leader.clone()).or_default();
        let size: usize = of_leader.iter().map(|ready| ready.bytes.len()).sum();
        if of_leader.is_empty() || size + bytes.len() <= REQUEST_BYTES {
            of_leader.push(Ready { partition: *partition, bytes });
        }
    }
    Ok(by_leader)
}

fn send(
    producer: &Producer,
    cluster: &mut Cluster,
    leader: &Address,
    ready: &[Ready],
    deadline: Deadline,
) -> Result<(), ClientError> {
    let connection = cluster.connection(Target::Broker(leader), deadline)?;
    let version = connection.version(ApiKey::Produce)?;
    let partition_data =
        ready.iter().map(|one| PartitionProduceData { index: one.partition.0, records: Some(&one.bytes) });
    let request = ProduceRequest {
        acks: ALL_REPLICAS,
        timeout_ms: REPLICATION_TIMEOUT_MS,
        topic_data: vec![TopicProduceData {
            name: &producer.topic,
            partition_data: partition_data.collect(),
            ..TopicProduceData::default()
        }],
        ..ProduceRequest::default()
    };
    connection.send(&request, version, deadline)
}

fn receive(connection: &mut Connection, topic: &str, deadline: Deadline) -> Result<Results, ClientError> {
    let answer: ProduceResponse<'_> = connection.receive(deadline)?.decode()?;
    let of_topic = answer.responses.iter().filter(|one| one.name == topic);
    let results: Results = of_topic
        .flat_map(|one| &one.partition_responses)
        .map(|one| (PartitionIndex(one.index), one.error_code, message(one)))
        .collect();
    if results.is_empty() {
        return Err(ClientError::Incomplete { what: "Produce".to_owned(), lacks: topic.to_owned() });
    }
    Ok(results)
}

/// What the broker says about the batch, or else about the first record that it minds.
fn message(response: &PartitionProduceResponse<'_>) -> Option<String> {
    let of_record = || response.record_errors.iter().find_map(|one| one.batch_index_error_message);
    response.error_message.or_else(of_record).map(str::to_owned)
}

/// Takes the batches off the lanes of which it is known what became of them.
fn settle(producer: &mut Producer, results: Results) -> Result<(), ClientError> {
    let mut outcome = Ok(());
    for (partition, code, message) in results {
        let Some(lane) = producer.lanes.get_mut(&partition) else { continue };
        let Some(batch) = lane.batches.pop_front() else { continue };
        let count = batch.records.len() as u64;
        match code {
            // A duplicate is one that was stored before, and whose answer was lost.
            ErrorCode::None | ErrorCode::DuplicateSequenceNumber => {
                producer.delivery.acknowledged += count;
                producer.buffered_bytes -= batch.bytes;
                step(lane, batch.records.len());
            }
            ErrorCode::MessageTooLarge if count > 1 => {
                let (first, second) = batch.split();
                lane.batches.push_front(second);
                lane.batches.push_front(first);
            }
            ErrorCode::MessageTooLarge
            | ErrorCode::RecordListTooLarge
            | ErrorCode::InvalidRecord
            | ErrorCode::InvalidTimestamp => {
                producer.delivery.failed += count;
                producer.buffered_bytes -= batch.bytes;
                producer.delivery.first_failure.get_or_insert_with(|| explain(code, message.as_deref()));
            }
            _ => {
                if is_refusal(code) {
                    producer.delivery.failed += count;
                    producer.buffered_bytes -= batch.bytes;
                } else {
                    lane.batches.push_front(batch);
                }
                let what = format!("{}-{partition}", producer.topic);
                outcome = outcome.and(Err(ClientError::refused(what, code, message.as_deref())));
            }
        }
    }
    outcome
}

/// Whether it says for certain that nothing of the batch was stored, and nothing would be if it were sent again.
fn is_refusal(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::InvalidTopicException
            | ErrorCode::TopicAuthorizationFailed
            | ErrorCode::ClusterAuthorizationFailed
            | ErrorCode::UnsupportedForMessageFormat
            | ErrorCode::UnsupportedCompressionType
            | ErrorCode::PolicyViolation
    )
}

fn step(lane: &mut Lane, records: usize) {
    lane.next_sequence = sequence_plus(lane.next_sequence, i32::try_from(records).unwrap_or(i32::MAX));
}
