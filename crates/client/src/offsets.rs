//! Where a partition's log begins and ends, and which offset belongs to a time.

use std::collections::BTreeMap;

use milepost_model::{LeaderEpoch, Offset, PartitionIndex, Timestamp};
use milepost_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::cluster::Cluster;
use crate::connection::{Answer, Connection};
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::isolation::Isolation;
use crate::leaders::{Asked, PerPartition, each_partition};
use crate::topic_partition::{TopicPartition, by_topic};

/// How many partitions one request asks about.
const PARTITIONS_A_REQUEST: usize = 2000;
/// What the wire writes for the end of the log, and for its beginning.
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
/// The first version that knows readers of committed data.
const ISOLATION_FROM: i16 = 2;

/// A place in a log, before its offset is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The first offset that is still there.
    Earliest,
    /// The offset after the last that readers may see: the high watermark.
    Latest,
    /// The offset at which those have to wait that read only what is committed: the last stable offset.
    LatestStable,
    /// The first record whose time is not before this one. There may be none.
    Time(Timestamp),
}

impl Moment {
    fn on_the_wire(self) -> i64 {
        match self {
            Self::Earliest => EARLIEST,
            Self::Latest | Self::LatestStable => LATEST,
            // Times before 1970 mean something else on the wire, and every record is later than they are.
            Self::Time(time) => time.0.max(0),
        }
    }

    fn isolation(self) -> Isolation {
        if self == Self::LatestStable { Isolation::ReadCommitted } else { Isolation::ReadUncommitted }
    }
}

/// A place in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its offset.
    pub offset: Offset,
    /// The time of the record there, if a time was asked for.
    pub timestamp: Option<Timestamp>,
    /// The epoch of the leader that wrote there, or that will, from brokers that say it.
    pub leader_epoch: Option<LeaderEpoch>,
}

/// Looks these moments up. `None` where no record is that late.
///
/// # Errors
/// When nobody can be asked. A partition that cannot be asked about has its own error.
pub fn look_up(
    cluster: &mut Cluster,
    asked: &BTreeMap<TopicPartition, Moment>,
) -> Result<PerPartition<Option<Found>>, ClientError> {
    each_partition(cluster, asked, |connection, of_it, deadline, found| {
        for isolation in [Isolation::ReadUncommitted, Isolation::ReadCommitted] {
            let of_it: Vec<Asked<'_, Moment>> =
                of_it.iter().copied().filter(|(_, moment)| moment.isolation() == isolation).collect();
            ask(connection, &of_it, isolation, deadline, found)?;
        }
        Ok(())
    })
}

/// As [`look_up`], for one moment in many partitions.
///
/// # Errors
/// As [`look_up`].
pub fn look_up_all(
    cluster: &mut Cluster,
    partitions: impl IntoIterator<Item = TopicPartition>,
    moment: Moment,
) -> Result<PerPartition<Option<Found>>, ClientError> {
    look_up(cluster, &partitions.into_iter().map(|one| (one, moment)).collect())
}

/// The offsets of these moments. `None` where no record is that late.
///
/// # Errors
/// When a partition is not there, or its leader does not answer in time.
pub fn list(
    cluster: &mut Cluster,
    asked: &BTreeMap<TopicPartition, Moment>,
) -> Result<BTreeMap<TopicPartition, Option<Offset>>, ClientError> {
    let found = look_up(cluster, asked)?;
    found.into_iter().map(|(one, found)| Ok((one, found?.map(|found| found.offset)))).collect()
}

/// The ends of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The first record that is still there.
    pub start: Found,
    /// Behind the last record that readers may see.
    pub end: Found,
    /// Where those have to wait that read only what is committed, from brokers that know such readers.
    pub stable_end: Option<Offset>,
}

/// All ends of the logs of these partitions, the high watermark last.
///
/// # Errors
/// When nobody can be asked. A partition that cannot be asked about has its own error.
pub fn bounds(
    cluster: &mut Cluster,
    partitions: impl IntoIterator<Item = TopicPartition>,
) -> Result<PerPartition<Bounds>, ClientError> {
    let asked: BTreeMap<TopicPartition, ()> = partitions.into_iter().map(|one| (one, ())).collect();
    each_partition(cluster, &asked, |connection, of_it, deadline, found| {
        let mut at = |moment: Moment| {
            let of_it: Vec<Asked<'_, Moment>> = of_it.iter().map(|(one, ())| (*one, &moment)).collect();
            let mut answers = PerPartition::new();
            ask(connection, &of_it, moment.isolation(), deadline, &mut answers)?;
            Ok::<_, ClientError>(answers)
        };
        let mut starts = at(Moment::Earliest)?;
        let stable = match at(Moment::LatestStable) {
            Err(error) if error.code() == Some(ErrorCode::UnsupportedVersion) => PerPartition::new(),
            other => other?,
        };
        for (one, end) in at(Moment::Latest)? {
            let start = starts.remove(&one).unwrap_or(Ok(None));
            let stable = stable.get(&one).and_then(|found| found.as_ref().ok().copied().flatten());
            let outcome = both(&one, start, end).map(|(start, end)| Bounds {
                start,
                end,
                stable_end: stable.map(|found| found.offset),
            });
            found.insert(one, outcome);
        }
        Ok(())
    })
}

fn both(
    one: &TopicPartition,
    start: Result<Option<Found>, ClientError>,
    end: Result<Option<Found>, ClientError>,
) -> Result<(Found, Found), ClientError> {
    match (start?, end?) {
        (Some(start), Some(end)) => Ok((start, end)),
        _ => Err(ClientError::Incomplete { what: "ListOffsets".to_owned(), lacks: one.to_string() }),
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
    let found = bounds(cluster, partitions.iter().cloned())?;
    found
        .into_iter()
        .map(|(one, found)| found.map(|bounds| (one, (bounds.start.offset, bounds.end.offset))))
        .collect()
}

fn ask(
    connection: &mut Connection,
    asked: &[Asked<'_, Moment>],
    isolation: Isolation,
    deadline: Deadline,
    found: &mut PerPartition<Option<Found>>,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::ListOffsets)?;
    if isolation == Isolation::ReadCommitted && version < ISOLATION_FROM && !asked.is_empty() {
        let what = format!("the last stable offset, from {}", connection.address());
        return Err(ClientError::refused(what, ErrorCode::UnsupportedVersion, None));
    }
    let requests = asked.chunks(PARTITIONS_A_REQUEST).map(|part| ListOffsetsRequest {
        replica_id: -1,
        isolation_level: isolation.on_the_wire(),
        topics: by_topic(part.iter().copied())
            .into_iter()
            .map(|(name, partitions)| ListOffsetsTopic {
                name,
                partitions: partitions.into_iter().map(|(index, moment)| partition(index, *moment)).collect(),
            })
            .collect(),
        ..ListOffsetsRequest::default()
    });
    connection.pipeline(requests, version, deadline, |answer| read(answer, found))
}

fn partition(index: PartitionIndex, moment: Moment) -> ListOffsetsPartition {
    ListOffsetsPartition {
        partition_index: index.0,
        timestamp: moment.on_the_wire(),
        ..ListOffsetsPartition::default()
    }
}

/// Puts the offsets of one answer where they belong.
fn read(answer: Answer<'_>, found: &mut PerPartition<Option<Found>>) -> Result<(), ClientError> {
    let answer: ListOffsetsResponse<'_> = answer.decode()?;
    for topic in &answer.topics {
        for one in &topic.partitions {
            let place = TopicPartition::new(topic.name, PartitionIndex(one.partition_index));
            let outcome = match one.error_code {
                ErrorCode::None => Ok((one.offset >= 0).then_some(Found {
                    offset: Offset(one.offset),
                    timestamp: (one.timestamp >= 0).then_some(Timestamp(one.timestamp)),
                    leader_epoch: (one.leader_epoch >= 0).then_some(LeaderEpoch(one.leader_epoch)),
                })),
                code => Err(ClientError::refused(place.to_string(), code, None)),
            };
            found.insert(place, outcome);
        }
    }
    Ok(())
}
