//! Committed offsets: committing, fetching and deleting them.

mod commit;
mod delete;
mod fetch;

use std::sync::Arc;

use milepost_model::PartitionIndex;

use crate::hard::HardGroup;
use crate::{OffsetRecord, Record};

pub(crate) use commit::offset_commit;
pub(crate) use delete::{offset_delete, tombstones_of_topics};
pub(crate) use fetch::offset_fetch;

/// The record that deletes a committed offset.
pub(crate) fn tombstone(group: &HardGroup, topic: &Arc<str>, partition: PartitionIndex) -> Record {
    Record::Offset(OffsetRecord {
        group: Arc::clone(group.id()),
        topic: Arc::clone(topic),
        partition,
        committed: None,
    })
}
