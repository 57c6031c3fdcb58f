//! What every data folder holds from its first start on: the cluster's id and the topic of committed offsets.
//!
//! The broker and the embedded library both begin a folder with these, so either opens what the other made. Settings
//! and randomness come in as arguments.

use std::collections::BTreeMap;
use std::sync::Arc;

use milepost_model::{Now, PartitionIndex, TopicId, TopicPartition};

use super::image::{MetadataRecord, Topic};
use super::metadata_log::{METADATA_PARTITION, MetadataLog, ProposeError};
use crate::{CleanupPolicy, LogSet, PartitionConfig};

/// The topic that holds committed offsets and groups.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";
/// Partitions of [`OFFSETS_TOPIC`] where nobody says otherwise (`offsets.topic.num.partitions`).
pub const DEFAULT_OFFSETS_PARTITIONS: i32 = 50;
/// The size of its segments where nobody says otherwise (`offsets.topic.segment.bytes`).
pub const DEFAULT_OFFSETS_SEGMENT_BYTES: u32 = 100 << 20;

/// A random (version 4) UUID, as Kafka makes topic ids, from sixteen random bytes.
#[must_use]
pub fn random_uuid(mut bytes: [u8; 16]) -> TopicId {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    TopicId(bytes)
}

/// [`OFFSETS_TOPIC`] as it is made in a new folder.
#[must_use]
pub fn new_offsets_topic(id: TopicId, partition_count: i32, segment_bytes: &str) -> Topic {
    let configs = BTreeMap::from([
        ("cleanup.policy".to_owned(), "compact".to_owned()),
        ("compression.type".to_owned(), "producer".to_owned()),
        ("segment.bytes".to_owned(), segment_bytes.to_owned()),
    ]);
    Topic {
        id,
        name: OFFSETS_TOPIC.to_owned(),
        partition_count,
        replication_factor: 1,
        is_internal: true,
        configs,
    }
}

/// The settings of the partitions of [`OFFSETS_TOPIC`] for whoever has no broker's defaults.
#[must_use]
pub fn offsets_partition_config(topic: &Topic) -> PartitionConfig {
    let said = topic.configs.get("segment.bytes").and_then(|bytes| bytes.parse().ok());
    PartitionConfig {
        segment_bytes: said.unwrap_or_else(|| u64::from(DEFAULT_OFFSETS_SEGMENT_BYTES)),
        cleanup: CleanupPolicy::Compact,
        ..PartitionConfig::default()
    }
}

/// Whether the first records were there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstRecords {
    /// The topic of committed offsets is there.
    Present,
    /// It was proposed just now. Its partitions are to be created in the same breath; should a crash keep them and lose
    /// the topic, the next start removes them ([`MetadataLog::remove_orphans`]).
    Proposed,
}

impl Topic {
    /// The topic's partitions, each with the folder it has unless that was taken.
    pub fn partitions(&self) -> impl Iterator<Item = (TopicPartition, String)> {
        (0..self.partition_count).map(|index| {
            let partition = TopicPartition { topic: self.id, partition: PartitionIndex(index) };
            (partition, format!("{}-{index}", self.name))
        })
    }
}

impl MetadataLog {
    /// Removes the logs that no topic has: a crash came between the deletion of their topic and theirs.
    pub fn remove_orphans(&self, logs: &mut LogSet) {
        let known = |id: TopicId| self.image().topic_by_id(id).is_some();
        let orphans: Vec<_> =
            logs.partitions().filter(|id| *id != METADATA_PARTITION && !known(id.topic)).collect();
        for id in orphans {
            tracing::info!("removing partition {id}: its topic was deleted");
            logs.delete_partition(id);
        }
    }

    /// Proposes what is missing: the cluster's id, which `new_cluster_id` then gives, and the topic of committed
    /// offsets.
    ///
    /// # Errors
    /// [`ProposeError`].
    pub fn propose_first_records(
        &mut self,
        logs: &mut LogSet,
        offsets: &Arc<Topic>,
        new_cluster_id: impl FnOnce() -> TopicId,
        now: Now,
    ) -> Result<FirstRecords, ProposeError> {
        let mut records = Vec::new();
        if self.image().cluster_id().is_none() {
            records.push(MetadataRecord::ClusterId(new_cluster_id().to_string()));
        }
        let is_new = self.image().topic(OFFSETS_TOPIC).is_none();
        if is_new {
            records.push(MetadataRecord::Topic(Arc::clone(offsets)));
        }
        if !records.is_empty() {
            self.propose(logs, records, now)?;
        }
        Ok(if is_new { FirstRecords::Proposed } else { FirstRecords::Present })
    }
}
