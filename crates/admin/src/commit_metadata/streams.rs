//! What Kafka Streams writes: the highest time of a record that was processed of a partition, so that an instance which takes
//! the partition over does not go back in time, and what processors keep for themselves.
//!
//! The format is that of apache/kafka, classes `TopicPartitionMetadata` (versions 1 and 2) and `ProcessorMetadata`.

use std::collections::BTreeMap;

use milepost_model::Timestamp;

/// What stands for a time that is not known.
const UNKNOWN: i64 = -1;
/// Bytes of the shortest entry: the length of an empty name, and a number.
const ENTRY_MIN_BYTES: usize = 12;

/// It.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamsMetadata {
    /// The version of the format.
    pub version: u8,
    /// The time that the partition has come to; `None` where no record had a time yet.
    pub partition_time: Option<Timestamp>,
    /// What processors keep, by name; mostly times that a window was last emitted at.
    pub processors: BTreeMap<String, i64>,
}

/// Reads the bytes. `None` if they are not it.
pub(super) fn decode(bytes: &[u8]) -> Option<StreamsMetadata> {
    let (version, rest) = bytes.split_first()?;
    let (time, rest) = take_i64(rest)?;
    if !(1..=2).contains(version) || time < UNKNOWN || (*version == 1 && !rest.is_empty()) {
        return None;
    }
    let partition_time = Some(time).filter(|time| *time != UNKNOWN).map(Timestamp);
    Some(StreamsMetadata { version: *version, partition_time, processors: processors(rest)? })
}

fn processors(bytes: &[u8]) -> Option<BTreeMap<String, i64>> {
    let mut processors = BTreeMap::new();
    if bytes.is_empty() {
        return Some(processors);
    }
    let (count, mut rest) = take_length(bytes)?;
    if count > rest.len() / ENTRY_MIN_BYTES {
        return None;
    }
    for _ in 0..count {
        let (length, after) = take_length(rest)?;
        let (name, after) = after.split_at_checked(length)?;
        let (number, after) = take_i64(after)?;
        processors.insert(std::str::from_utf8(name).ok()?.to_owned(), number);
        rest = after;
    }
    rest.is_empty().then_some(processors)
}

fn take_i64(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (head, rest) = bytes.split_first_chunk()?;
    Some((i64::from_be_bytes(*head), rest))
}

fn take_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (head, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(i32::from_be_bytes(*head)).ok()?, rest))
}
