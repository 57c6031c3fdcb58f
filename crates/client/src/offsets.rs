//! Where a partition's log begins and ends, and which offset belongs to a time.

use std::collections::BTreeMap;

use milepost_model::{Offset, PartitionIndex, Timestamp};
use milepost_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::address::Address;
use crate::backoff::Backoff;
use crate::cluster::{Cluster, Target};
use crate::connection::{Answer, Connection};
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::topic_partition::{TopicPartition, by_topic};

/// How many partitions one request asks about.
const PARTITIONS_A_REQUEST: usize = 2000;
/// What the wire writes for the end of the log, and for its beginning.
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;

/// A place in a log, before its offset is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The first offset that is still there.
    Earliest,
    /// The offset after the last that readers may see.
    Latest,
    /// The first record whose time is not before this one. There may be none.
    Time(Timestamp),
}

impl Moment {
    fn on_the_wire(self) -> i64 {
        match self {
            Self::Earliest => EARLIEST,
            Self::Latest => LATEST,
            // Times before 1970 mean something else on the wire, and every record is later than they are.
            Self::Time(time) => time.0.max(0),
        }
    }
}

/// The offsets of these moments. `None` where no record is that late.
///
/// # Errors
/// When a partition is not there, or its leader does not answer in time.
pub fn list(
    cluster: &mut Cluster,
    asked: &BTreeMap<TopicPartition, Moment>,
) -> Result<BTreeMap<TopicPartition, Option<Offset>>, ClientError> {
    let deadline = cluster.deadline();
    let mut backoff = Backoff::default();
    let mut found = BTreeMap::new();
    loop {
        let open: BTreeMap<&TopicPartition, Moment> =
            asked.iter().filter(|(one, _)| !found.contains_key(*one)).map(|(one, at)| (one, *at)).collect();
        if open.is_empty() {
            return Ok(found);
        }
        match list_once(cluster, &open, &mut found, deadline) {
            Ok(()) => {}
            Err(error) if error.is_transient() => {
                let stop = cluster.options().stop.clone();
                backoff.wait(deadline, &stop, error)?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Both ends of the logs of these partitions.
///
/// # Errors
/// As [`list`].
pub fn ends(
    cluster: &mut Cluster,
    partitions: &[TopicPartition],
) -> Result<BTreeMap<TopicPartition, (Offset, Offset)>, ClientError> {
    let at = |moment| partitions.iter().map(|one| (one.clone(), moment)).collect();
    let starts = list(cluster, &at(Moment::Earliest))?;
    let ends = list(cluster, &at(Moment::Latest))?;
    let known = starts.into_iter().zip(ends.into_values());
    Ok(known.filter_map(|((one, start), end)| Some((one, (start?, end?)))).collect())
}

fn list_once(
    cluster: &mut Cluster,
    open: &BTreeMap<&TopicPartition, Moment>,
    found: &mut BTreeMap<TopicPartition, Option<Offset>>,
    deadline: Deadline,
) -> Result<(), ClientError> {
    let mut names: Vec<&str> = open.keys().map(|one| &*one.topic).collect();
    names.dedup();
    let metadata = cluster.metadata(Some(&names))?;
    let mut by_leader: BTreeMap<&Address, Vec<(&TopicPartition, Moment)>> = BTreeMap::new();
    for (one, moment) in open {
        by_leader.entry(metadata.leader(&one.topic, one.partition)?).or_default().push((one, *moment));
    }
    for (leader, of_it) in by_leader {
        let connection = cluster.connection(Target::Broker(leader), deadline)?;
        ask(connection, &of_it, found, deadline)?;
    }
    Ok(())
}

fn ask(
    connection: &mut Connection,
    asked: &[(&TopicPartition, Moment)],
    found: &mut BTreeMap<TopicPartition, Option<Offset>>,
    deadline: Deadline,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::ListOffsets)?;
    let requests = asked.chunks(PARTITIONS_A_REQUEST).map(|part| ListOffsetsRequest {
        replica_id: -1,
        topics: by_topic(part.iter().map(|(one, moment)| (*one, *moment)))
            .into_iter()
            .map(|(name, partitions)| ListOffsetsTopic {
                name,
                partitions: partitions.into_iter().map(|(index, moment)| partition(index, moment)).collect(),
            })
            .collect(),
        ..ListOffsetsRequest::default()
    });
    let mut refused = None;
    connection.pipeline(requests, version, deadline, |answer| {
        refused = refused.take().or(read(answer, found)?);
        Ok(())
    })?;
    refused.map_or(Ok(()), Err)
}

fn partition(index: PartitionIndex, moment: Moment) -> ListOffsetsPartition {
    ListOffsetsPartition {
        partition_index: index.0,
        timestamp: moment.on_the_wire(),
        ..ListOffsetsPartition::default()
    }
}

/// Puts the offsets of one answer where they belong, and gives the first refusal in it.
fn read(
    answer: Answer<'_>,
    found: &mut BTreeMap<TopicPartition, Option<Offset>>,
) -> Result<Option<ClientError>, ClientError> {
    let answer: ListOffsetsResponse<'_> = answer.decode()?;
    let mut refused = None;
    for topic in &answer.topics {
        for one in &topic.partitions {
            let place = TopicPartition::new(topic.name, PartitionIndex(one.partition_index));
            if one.error_code == ErrorCode::None {
                found.insert(place, (one.offset >= 0).then_some(Offset(one.offset)));
            } else {
                refused.get_or_insert_with(|| ClientError::refused(place.to_string(), one.error_code, None));
            }
        }
    }
    Ok(refused)
}
