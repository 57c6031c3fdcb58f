//! Writing records to one topic, each acknowledged by all in-sync replicas.
//!
//! The producer is idempotent: a batch that is sent again, because its answer was lost, is stored once. Records of one
//! partition keep their order, because only one batch of each partition is on the way at a time. At most
//! [`BUFFERED_BYTES_MAX`] of records wait.

mod batch;
mod partitioner;
mod send;

use std::collections::{BTreeMap, VecDeque};

use milepost_batch::Codec;
use milepost_model::{PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity};
use milepost_wire::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use milepost_wire::{ApiKey, ErrorCode};

pub use batch::OutgoingRecord;
pub use partitioner::Partitioning;

use crate::cluster::{Cluster, Target};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::metadata::Metadata;
use batch::PendingBatch;

/// A batch is full at this size, before compression: half of what a topic takes by default.
const BATCH_BYTES: usize = 512 << 10;
/// The most bytes of records that wait; then all are sent.
const BUFFERED_BYTES_MAX: usize = 16 << 20;
/// The largest record that is tried. Brokers take frames of up to 100 MiB unless told otherwise.
const RECORD_BYTES_MAX: usize = 64 << 20;

/// How records are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProducerOptions {
    /// How batches are compressed.
    pub codec: Codec,
    /// Where records go.
    pub partitioning: Partitioning,
}

/// What became of the records so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// How many the cluster has acknowledged.
    pub acknowledged: u64,
    /// How many it has refused.
    pub failed: u64,
    /// Why it refused the first of those.
    pub first_failure: Option<String>,
}

/// The batches of one partition.
#[derive(Debug, Default)]
struct Lane {
    /// Oldest first; only the first may be on the way.
    batches: VecDeque<PendingBatch>,
    next_sequence: i32,
}

/// Writes records to one topic.
#[derive(Debug)]
pub struct Producer {
    topic: String,
    options: ProducerOptions,
    identity: Option<ProducerIdentity>,
    metadata: Metadata,
    lanes: BTreeMap<PartitionIndex, Lane>,
    partition_count: i32,
    /// Whose turn it is among the partitions, for records without a key.
    turn: i32,
    buffered_bytes: usize,
    delivery: Delivery,
}

impl Producer {
    /// Looks the topic up and gets the producer a number of its own.
    ///
    /// # Errors
    /// When the topic or the partition is not there, or the cluster does not answer.
    pub fn open(cluster: &mut Cluster, topic: &str, options: ProducerOptions) -> Result<Self, ClientError> {
        let metadata = cluster.topics_with_leaders(&[topic])?;
        if let Partitioning::Fixed(partition) = options.partitioning {
            metadata.leader(topic, partition)?;
        }
        let count = metadata.topic(topic).map_or(0, |topic| topic.partitions.len());
        let partition_count = i32::try_from(count).unwrap_or(i32::MAX);
        let identity = identity(cluster)?;
        // Each run begins at another partition, so that many short runs spread over all of them too.
        let turn = identity.map_or(0, |one| one.id.0.rem_euclid(i64::from(partition_count.max(1))) as i32);
        Ok(Self {
            topic: topic.to_owned(),
            options,
            identity,
            metadata,
            lanes: BTreeMap::new(),
            partition_count,
            turn,
            buffered_bytes: 0,
            delivery: Delivery::default(),
        })
    }

    /// Takes a record. When enough have gathered they are sent, and their acknowledgements waited for.
    ///
    /// # Errors
    /// [`ClientError::RecordTooLarge`]: the record was not taken. Any other: as [`Producer::flush`].
    pub fn send(&mut self, cluster: &mut Cluster, record: OutgoingRecord) -> Result<(), ClientError> {
        self.send_to(cluster, None, record)
    }

    /// As [`Producer::send`], to a partition of the caller's choice if one is named.
    ///
    /// # Errors
    /// As [`Producer::send`]; also when there is no such partition.
    pub fn send_to(
        &mut self,
        cluster: &mut Cluster,
        partition: Option<PartitionIndex>,
        record: OutgoingRecord,
    ) -> Result<(), ClientError> {
        let bytes = record.size_bytes();
        if bytes > RECORD_BYTES_MAX {
            return Err(ClientError::RecordTooLarge { bytes, max: RECORD_BYTES_MAX });
        }
        let partition = self.place(partition, &record)?;
        let lane = self.lanes.entry(partition).or_default();
        match lane.batches.back_mut() {
            Some(batch) if batch.bytes + bytes <= BATCH_BYTES => batch.push(record),
            _ => lane.batches.push_back(PendingBatch::from(vec![record])),
        }
        self.buffered_bytes += bytes;
        let full = lane.batches.len() > 1;
        if full || self.buffered_bytes >= BUFFERED_BYTES_MAX { self.flush(cluster) } else { Ok(()) }
    }

    fn place(
        &mut self,
        wanted: Option<PartitionIndex>,
        record: &OutgoingRecord,
    ) -> Result<PartitionIndex, ClientError> {
        if let Some(partition) = wanted {
            if !(0..self.partition_count).contains(&partition.0) {
                let what = format!("{}-{partition}", self.topic);
                return Err(ClientError::refused(what, ErrorCode::UnknownTopicOrPartition, None));
            }
            return Ok(partition);
        }
        Ok(match (self.options.partitioning, &record.key) {
            (Partitioning::Fixed(partition), _) => partition,
            (Partitioning::ByKey, Some(key)) => partitioner::of_key(key, self.partition_count),
            (Partitioning::ByKey, None) => {
                let partition = PartitionIndex(self.turn);
                self.turn = (self.turn + 1) % self.partition_count.max(1);
                partition
            }
        })
    }

    /// Sends all that waits, and waits until each record is acknowledged or refused.
    ///
    /// # Errors
    /// When what remains can be neither, for as long as an operation may take. Records that the cluster refused for what
    /// they are, are no error here but counted in [`Producer::delivery`].
    pub fn flush(&mut self, cluster: &mut Cluster) -> Result<(), ClientError> {
        send::flush(self, cluster)
    }

    /// What became of the records so far.
    #[must_use]
    pub fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    /// How many records are neither acknowledged nor refused.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let records = self.lanes.values().flat_map(|lane| &lane.batches).map(|batch| batch.records.len());
        records.sum::<usize>() as u64
    }
}

/// A number for the producer. `None` where the cluster does not let this client have one; batches that are sent again
/// may then be stored twice.
fn identity(cluster: &mut Cluster) -> Result<Option<ProducerIdentity>, ClientError> {
    let deadline = cluster.deadline();
    match cluster.with(Target::Any, deadline, |connection| init_producer_id(connection, deadline)) {
        Ok(identity) => Ok(Some(identity)),
        Err(error) if error.code() == Some(ErrorCode::ClusterAuthorizationFailed) => Ok(None),
        Err(error) => Err(error),
    }
}

fn init_producer_id(
    connection: &mut Connection,
    deadline: Deadline,
) -> Result<ProducerIdentity, ClientError> {
    let version = connection.version(ApiKey::InitProducerId)?;
    let request =
        InitProducerIdRequest { transaction_timeout_ms: i32::MAX, ..InitProducerIdRequest::default() };
    let answer: InitProducerIdResponse = connection.call(&request, version, deadline)?.decode()?;
    if answer.error_code != ErrorCode::None {
        return Err(ClientError::refused("a number for this producer", answer.error_code, None));
    }
    Ok(ProducerIdentity { id: ProducerId(answer.producer_id), epoch: ProducerEpoch(answer.producer_epoch) })
}
