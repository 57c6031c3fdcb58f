//! Files of offsets that other tools write and read: rows of group, topic, partition and offset, and nothing more.

pub mod any;
pub mod kafka_csv;
pub mod rpk;

use milepost_client::TopicPartition;
use milepost_model::{Offset, PartitionIndex};

/// The most rows that are read.
const ROWS_MAX: usize = 10_000_000;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetRow {
    /// The group, where the file says it.
    pub group: Option<String>,
    /// The partition.
    pub partition: TopicPartition,
    /// The next offset to read.
    pub offset: Offset,
}

/// From the texts of the three fields that every format has.
fn row(group: Option<&str>, topic: &str, partition: &str, offset: &str) -> Result<OffsetRow, String> {
    let index = partition.parse().ok().filter(|index| *index >= 0);
    let index = index.ok_or_else(|| format!("{partition:?} is no partition"))?;
    let offset = offset.parse().ok().filter(|offset| *offset >= 0).map(Offset);
    let offset = offset.ok_or_else(|| "the offset is not a number from 0 on".to_owned())?;
    if topic.is_empty() {
        return Err("the topic is missing".to_owned());
    }
    Ok(OffsetRow {
        group: group.map(str::to_owned),
        partition: TopicPartition::new(topic, PartitionIndex(index)),
        offset,
    })
}
