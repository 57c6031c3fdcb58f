//! Committed offsets: committing, fetching and deleting them.

mod commit;
mod delete;
mod fetch;
mod transactional;

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::PartitionIndex;

use crate::hard::{Hard, HardGroup};
use crate::{OffsetRecord, Record};

pub(crate) use commit::{check_offset, offset_commit, offset_record};
pub(crate) use delete::{offset_delete, tombstones_of_topics};
pub(crate) use fetch::offset_fetch;
pub(crate) use transactional::txn_offset_commit;

/// The record that deletes a committed offset.
pub(crate) fn tombstone(group: &HardGroup, topic: &Arc<str>, partition: PartitionIndex) -> Record {
    Record::Offset(OffsetRecord {
        group: Arc::clone(group.id()),
        topic: Arc::clone(topic),
        partition,
        committed: None,
    })
}

/// The records that delete everything a group has committed, what open transactions hold for it included; each once.
pub(crate) fn offset_tombstones(hard: &Hard, group: &HardGroup) -> Vec<Record> {
    let committed = group
        .topics()
        .iter()
        .flat_map(|topic| topic.entries().iter().map(|entry| (Arc::clone(topic.topic()), entry.partition())));
    let pending = hard.pending_partitions(group);
    let keys: BTreeSet<_> = committed.chain(pending).collect();
    keys.iter().map(|(topic, partition)| tombstone(group, topic, *partition)).collect()
}
