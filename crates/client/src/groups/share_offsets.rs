//! Where share groups begin to read. They commit no offsets: the broker keeps for each partition which records are done
//! with, and the first that is not is where the group begins, its start offset.

use std::collections::BTreeMap;

use milepost_model::{Offset, PartitionIndex};
use milepost_wire::messages::describe_share_group_offsets::{
    DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse, DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
};
use milepost_wire::{ApiKey, ErrorCode};

use super::each::{PerGroup, each_group};
use crate::cluster::Cluster;
use crate::error::ClientError;
use crate::topic_partition::TopicPartition;

/// How many groups one request asks about.
const GROUPS_A_REQUEST: usize = 50;

/// Where a share group begins in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShareStart {
    /// The first record that is not done with.
    pub offset: Offset,
    /// How many records from there on are not done with, by the broker's count, which leaves out those in between that are.
    /// `None` from a broker that does not say it.
    pub lag: Option<i64>,
}

/// Where a share group begins in each of its partitions; `None` where it has not read yet.
pub type ShareOffsets = BTreeMap<TopicPartition, Result<Option<ShareStart>, ClientError>>;

/// The start offsets of these groups. A group that is none of share, or not there, has none; no more have those of a broker
/// that does not know what a share group is.
///
/// # Errors
/// When nobody can be asked. What is wrong with one group or partition is in its own result.
pub fn share_offsets(cluster: &mut Cluster, groups: &[&str]) -> Result<PerGroup<ShareOffsets>, ClientError> {
    each_group(cluster, groups, |connection, of_it, deadline, found| {
        if !connection.has(ApiKey::DescribeShareGroupOffsets) {
            found.extend(of_it.iter().map(|group| ((*group).to_owned(), Ok(ShareOffsets::new()))));
            return Ok(());
        }
        let version = connection.version(ApiKey::DescribeShareGroupOffsets)?;
        let requests = of_it.chunks(GROUPS_A_REQUEST).map(|part| DescribeShareGroupOffsetsRequest {
            groups: part
                .iter()
                .map(|group| DescribeShareGroupOffsetsRequestGroup { group_id: group, topics: None })
                .collect(),
        });
        connection.pipeline(requests, version, deadline, |answer| {
            let answer: DescribeShareGroupOffsetsResponse<'_> = answer.decode()?;
            for one in &answer.groups {
                let outcome = match one.error_code {
                    ErrorCode::None => Ok(starts(one)),
                    ErrorCode::GroupIdNotFound
                    | ErrorCode::InvalidGroupId
                    | ErrorCode::UnsupportedVersion => Ok(ShareOffsets::new()),
                    code => Err(ClientError::refused(one.group_id, code, one.error_message)),
                };
                found.insert(one.group_id.to_owned(), outcome);
            }
            Ok(())
        })
    })
}

fn starts(group: &DescribeShareGroupOffsetsResponseGroup<'_>) -> ShareOffsets {
    let of_topic = group.topics.iter().flat_map(|topic| {
        topic.partitions.iter().map(|one| {
            let place = TopicPartition::new(topic.topic_name, PartitionIndex(one.partition_index));
            let known = ClientError::of_code(place.to_string(), one.error_code, one.error_message);
            (place, known.map(|()| start(one)))
        })
    });
    of_topic.collect()
}

fn start(one: &DescribeShareGroupOffsetsResponsePartition<'_>) -> Option<ShareStart> {
    let is_known = |number: &i64| *number >= 0;
    let offset = Some(one.start_offset).filter(is_known)?;
    Some(ShareStart { offset: Offset(offset), lag: Some(one.lag).filter(is_known) })
}
