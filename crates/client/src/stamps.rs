//! The record at an offset: which one it is, and its time. For questions such as how long ago a group's next record was
//! written, or what a reset skips.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use milepost_model::{Offset, PartitionIndex, Timestamp};
use milepost_wire::ApiKey;
use milepost_wire::messages::fetch::{FetchPartition, FetchRequest, FetchTopic};

use crate::cluster::Cluster;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::leaders::{Asked, PerPartition, each_partition};
use crate::reader::Fetched;
use crate::reader::answer::{self, Verdict};
use crate::topic_partition::{TopicPartition, by_topic};

/// How many partitions one Fetch asks about.
const PARTITIONS_A_REQUEST: usize = 50;
/// The most bytes of one partition, except that the first batch of an answer is always whole.
const PARTITION_BYTES: i32 = 64 << 10;
/// The most bytes of one answer, with the same exception.
const ANSWER_BYTES: i32 = 4 << 20;

/// A record that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its offset, which lies behind the one asked for where records were compacted away.
    pub offset: Offset,
    /// Its time, if its producer gave one.
    pub timestamp: Option<Timestamp>,
}

/// The first record at or after each offset. `None` where there is none yet.
///
/// # Errors
/// When nobody can be asked. A partition that cannot be read there has its own error.
pub fn first_at(
    cluster: &mut Cluster,
    asked: &BTreeMap<TopicPartition, Offset>,
) -> Result<PerPartition<Option<Stamp>>, ClientError> {
    each_partition(cluster, asked, |connection, of_it, deadline, found| {
        for part in of_it.chunks(PARTITIONS_A_REQUEST) {
            read_part(connection, part, deadline, found)?;
        }
        Ok(())
    })
}

/// Asks until every partition of the part has said something. The first partition of a Fetch always gets a whole batch,
/// the others only if theirs fits; whoever got none is first the next time.
fn read_part(
    connection: &mut Connection,
    part: &[Asked<'_, Offset>],
    deadline: Deadline,
    found: &mut PerPartition<Option<Stamp>>,
) -> Result<(), ClientError> {
    let mut open: Vec<Asked<'_, Offset>> = part.to_vec();
    while !open.is_empty() {
        let mut empty = true;
        for verdict in fetch(connection, &open, deadline)? {
            let (partition, outcome) = match verdict {
                Verdict::Refused { partition, code } => {
                    let error = ClientError::refused(partition.to_string(), code, None);
                    (partition, Err(error))
                }
                Verdict::Records { partition, bytes, .. } => {
                    let Some((_, from)) = open.iter().find(|(one, _)| **one == partition) else { continue };
                    match first_record(partition.clone(), **from, bytes) {
                        Ok(None) => continue,
                        outcome => (partition, outcome),
                    }
                }
            };
            empty = false;
            found.insert(partition, outcome);
        }
        if empty {
            // Not even the first partition has anything: it is at its end, or behind it there are markers only.
            found.insert(open[0].0.clone(), Ok(None));
        }
        open.retain(|(one, _)| !found.contains_key(*one));
    }
    Ok(())
}

fn fetch(
    connection: &mut Connection,
    open: &[Asked<'_, Offset>],
    deadline: Deadline,
) -> Result<Vec<Verdict>, ClientError> {
    let version = connection.version(ApiKey::Fetch)?;
    let partition = |(index, offset): (PartitionIndex, &Offset)| FetchPartition {
        partition: index.0,
        fetch_offset: offset.0,
        partition_max_bytes: PARTITION_BYTES,
        ..FetchPartition::default()
    };
    let topics = by_topic(open.iter().copied()).into_iter().map(|(topic, of_it)| FetchTopic {
        topic,
        partitions: of_it.into_iter().map(partition).collect(),
        ..FetchTopic::default()
    });
    let request =
        FetchRequest { max_bytes: ANSWER_BYTES, topics: topics.collect(), ..FetchRequest::default() };
    answer::read(connection.call(&request, version, deadline)?)
}

fn first_record(
    partition: TopicPartition,
    from: Offset,
    bytes: Vec<u8>,
) -> Result<Option<Stamp>, ClientError> {
    let Some(fetched) = Fetched::new(partition, from, bytes)? else { return Ok(None) };
    let mut first = None;
    let _ = fetched.each::<ClientError>(|record| {
        first = Some(Stamp { offset: record.offset, timestamp: record.timestamp });
        Ok(ControlFlow::Break(()))
    })?;
    Ok(first)
}
