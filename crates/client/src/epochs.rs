//! Which leader wrote what: OffsetForLeaderEpoch.

use std::collections::BTreeMap;

use milepost_model::{LeaderEpoch, Offset, PartitionIndex};
use milepost_wire::messages::offset_for_leader_epoch::{
    OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, OffsetForLeaderPartition, OffsetForLeaderTopic,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::cluster::Cluster;
use crate::error::ClientError;
use crate::leaders::{PerPartition, each_partition};
use crate::offsets::{self, Moment};
use crate::topic_partition::{TopicPartition, by_topic};

/// How many partitions one request asks about.
const PARTITIONS_A_REQUEST: usize = 2000;

/// Where an epoch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEnd {
    /// The largest epoch of the log that is not above the one asked for.
    pub epoch: LeaderEpoch,
    /// The offset after its last.
    pub end: Offset,
}

/// Where these epochs end. `None` for an epoch that is newer than the log knows.
///
/// # Errors
/// When nobody can be asked. A partition that cannot be asked about has its own error.
pub fn ends(
    cluster: &mut Cluster,
    asked: &BTreeMap<TopicPartition, LeaderEpoch>,
) -> Result<PerPartition<Option<EpochEnd>>, ClientError> {
    each_partition(cluster, asked, |connection, of_it, deadline, found| {
        let version = connection.version(ApiKey::OffsetForLeaderEpoch)?;
        let requests = of_it.chunks(PARTITIONS_A_REQUEST).map(|part| OffsetForLeaderEpochRequest {
            // A consumer, rather than a replica.
            replica_id: -1,
            topics: by_topic(part.iter().copied())
                .into_iter()
                .map(|(topic, partitions)| OffsetForLeaderTopic {
                    topic,
                    partitions: partitions
                        .into_iter()
                        .map(|(index, epoch)| question(index, *epoch))
                        .collect(),
                })
                .collect(),
        });
        connection.pipeline(requests, version, deadline, |answer| {
            let answer: OffsetForLeaderEpochResponse<'_> = answer.decode()?;
            for topic in &answer.topics {
                for one in &topic.partitions {
                    let place = TopicPartition::new(topic.topic, PartitionIndex(one.partition));
                    let outcome = match one.error_code {
                        ErrorCode::None => {
                            Ok((one.leader_epoch >= 0 && one.end_offset >= 0).then_some(EpochEnd {
                                epoch: LeaderEpoch(one.leader_epoch),
                                end: Offset(one.end_offset),
                            }))
                        }
                        code => Err(ClientError::refused(place.to_string(), code, None)),
                    };
                    found.insert(place, outcome);
                }
            }
            Ok(())
        })
    })
}

fn question(index: PartitionIndex, epoch: LeaderEpoch) -> OffsetForLeaderPartition {
    OffsetForLeaderPartition {
        partition: index.0,
        leader_epoch: epoch.0,
        ..OffsetForLeaderPartition::default()
    }
}

/// How a search for one offset stands.
struct Search {
    offset: Offset,
    /// The epoch is above this one.
    above: i32,
    /// It is this one or a lower one.
    up_to: EpochEnd,
}

/// The epoch of the record before each offset: the one that a consumer commits with it. `None` where no record is before
/// it, and where the broker does not say.
///
/// It is looked for by halving, which takes as many requests as the number of epochs has bits, each for all partitions.
///
/// # Errors
/// When nobody can be asked.
pub fn before(
    cluster: &mut Cluster,
    offsets: &BTreeMap<TopicPartition, Offset>,
) -> Result<BTreeMap<TopicPartition, Option<LeaderEpoch>>, ClientError> {
    let mut found: BTreeMap<TopicPartition, Option<LeaderEpoch>> =
        offsets.keys().map(|one| (one.clone(), None)).collect();
    let starts = offsets::look_up_all(cluster, offsets.keys().cloned(), Moment::Earliest)?;
    let latest = offsets::look_up_all(cluster, offsets.keys().cloned(), Moment::Latest)?;
    let mut open: BTreeMap<TopicPartition, Search> = BTreeMap::new();
    for (one, offset) in offsets {
        let (Some(Ok(Some(start))), Some(Ok(Some(end)))) = (starts.get(one), latest.get(one)) else {
            continue;
        };
        let (Some(first), Some(current)) = (start.leader_epoch, end.leader_epoch) else { continue };
        if *offset > start.offset && *offset <= end.offset {
            let up_to = EpochEnd { epoch: current, end: end.offset };
            // Below the first epoch that is still there the broker would answer with whatever it is asked for.
            open.insert(one.clone(), Search { offset: *offset, above: first.0 - 1, up_to });
        }
    }
    while !open.is_empty() {
        let middles = open.iter().map(|(one, search)| (one.clone(), LeaderEpoch(middle(search)))).collect();
        let answers = ends(cluster, &middles)?;
        open.retain(|one, search| {
            let (Some(Ok(Some(answer))), Some(asked)) = (answers.get(one), middles.get(one)) else {
                return false;
            };
            if answer.end >= search.offset {
                search.up_to = *answer;
            } else {
                search.above = asked.0;
            }
            if search.above + 1 < search.up_to.epoch.0 {
                return true;
            }
            found.insert(one.clone(), Some(search.up_to.epoch));
            false
        });
    }
    Ok(found)
}

fn middle(search: &Search) -> i32 {
    let (above, up_to) = (search.above, search.up_to.epoch.0);
    (above + (up_to - above) / 2).max(above + 1).max(0)
}
