//! Committing where a group has read up to.

use std::collections::BTreeMap;

use milepost_model::Generation;
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::groups::Committed;
use crate::topic_partition::{TopicPartition, by_topic};

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// It is stored.
    Stored,
    /// It is not, because the group has gone on without this member; whoever has the partitions now reads those
    /// records again.
    Fenced(ErrorCode),
}

/// Commits the next offset to read of each partition, with the epoch of the record before it, as this member of this generation.
pub(super) fn commit(
    connection: &mut Connection,
    group: &str,
    (generation, member_id): (Generation, &str),
    offsets: &BTreeMap<TopicPartition, Committed>,
    deadline: Deadline,
) -> Result<CommitOutcome, ClientError> {
    let version = connection.version(ApiKey::OffsetCommit)?;
    let topics = by_topic(offsets.iter());
    let topics = topics.into_iter().map(|(name, partitions)| OffsetCommitRequestTopic {
        name,
        partitions: partitions.into_iter().map(|(index, next)| next.in_request(index)).collect(),
        ..OffsetCommitRequestTopic::default()
    });
    let request = OffsetCommitRequest {
        group_id: group,
        generation_id_or_member_epoch: generation.0,
        member_id,
        topics: topics.collect(),
        ..OffsetCommitRequest::default()
    };
    let answer: OffsetCommitResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    for topic in &answer.topics {
        for partition in &topic.partitions {
            match partition.error_code {
                ErrorCode::None => {}
                code @ (ErrorCode::IllegalGeneration
                | ErrorCode::UnknownMemberId
                | ErrorCode::FencedInstanceId
                | ErrorCode::RebalanceInProgress) => return Ok(CommitOutcome::Fenced(code)),
                code => {
                    let what = format!("the commit of {}-{}", topic.name, partition.partition_index);
                    return Err(ClientError::refused(what, code, None));
                }
            }
        }
    }
    Ok(CommitOutcome::Stored)
}
