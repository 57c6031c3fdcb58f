//! Where reading begins, as people say it, made into offsets.

use std::collections::BTreeMap;

use milepost_model::{Offset, Timestamp};

use crate::cluster::Cluster;
use crate::error::ClientError;
use crate::offsets::{self, Moment};
use crate::topic_partition::TopicPartition;

/// Where to begin in every partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the first record that is still there.
    Earliest,
    /// Behind the last.
    Latest,
    /// At this offset, which must be there or be the end.
    At(Offset),
    /// This many offsets before the end, or at the first if there are fewer.
    BeforeEnd(i64),
    /// At the first record that is not older; behind the last where there is none.
    Since(Timestamp),
}

/// The offset at which to begin in each of these partitions.
///
/// # Errors
/// [`ClientError::OutOfRange`] when a partition does not have the offset asked for, and as [`offsets::list`].
pub fn positions(
    cluster: &mut Cluster,
    partitions: &[TopicPartition],
    start: Start,
) -> Result<BTreeMap<TopicPartition, Offset>, ClientError> {
    let since = match start {
        Start::Since(time) => {
            let asked = partitions.iter().map(|one| (one.clone(), Moment::Time(time))).collect();
            offsets::list(cluster, &asked)?
        }
        _ => BTreeMap::new(),
    };
    let ends = offsets::ends(cluster, partitions)?;
    let position = |(partition, (first, end)): (TopicPartition, (Offset, Offset))| {
        let offset = match start {
            Start::Earliest => first,
            Start::Latest => end,
            Start::At(offset) if (first..=end).contains(&offset) => offset,
            Start::At(offset) => {
                return Err(ClientError::OutOfRange {
                    partition: partition.to_string(),
                    asked: offset.0,
                    start: first.0,
                    end: end.0,
                });
            }
            Start::BeforeEnd(count) => Offset(end.0.saturating_sub(count)).max(first),
            Start::Since(_) => since.get(&partition).copied().flatten().unwrap_or(end),
        };
        Ok((partition, offset))
    };
    ends.into_iter().map(position).collect()
}

/// All partitions of these topics, or only the one of that number.
///
/// # Errors
/// When a topic or the partition is not there, or has no leader for too long.
pub fn partitions(
    cluster: &mut Cluster,
    topics: &[String],
    only: Option<milepost_model::PartitionIndex>,
) -> Result<Vec<TopicPartition>, ClientError> {
    let names: Vec<&str> = topics.iter().map(String::as_str).collect();
    let metadata = cluster.topics_with_leaders(&names)?;
    let mut partitions = Vec::new();
    for name in names {
        if let Some(partition) = only {
            metadata.leader(name, partition)?;
            partitions.push(TopicPartition::new(name, partition));
        } else {
            let of_topic = metadata.topic(name).into_iter().flat_map(|topic| &topic.partitions);
            partitions.extend(of_topic.map(|one| TopicPartition::new(name, one.index)));
        }
    }
    partitions.sort();
    partitions.dedup();
    Ok(partitions)
}
