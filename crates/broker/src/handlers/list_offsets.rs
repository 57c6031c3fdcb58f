//! ListOffsets (2), versions 1–11: where a partition begins and ends, and where a time lies in it.
//!
//! "No such record" is a success with offset −1; the number is made here and nowhere below.

use std::collections::BTreeSet;

use milepost_log::IsolationLevel;
use milepost_model::{LeaderEpoch, Offset, Timestamp};
use milepost_wire::ErrorCode;
use milepost_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsPartitionResponse, ListOffsetsRequest, ListOffsetsResponse,
    ListOffsetsTopicResponse,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::Node;
use crate::topics;

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;
const EARLIEST_PENDING_UPLOAD: i64 = -6;

type Found = Option<(Offset, Option<Timestamp>, Option<LeaderEpoch>)>;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &ListOffsetsRequest<'_>) -> Handled {
    let repeated = repeated(request);
    let isolation_level = super::isolation_level(request.isolation_level);
    let topics = request
        .topics
        .iter()
        .map(|topic| {
            let mut one = |asked: &ListOffsetsPartition| {
                let result = if repeated.contains(&(topic.name, asked.partition_index)) {
                    Err(ErrorCode::InvalidRequest)
                } else {
                    look_up(node, context.key.version, isolation_level, topic.name, asked)
                };
                response(asked.partition_index, result)
            };
            ListOffsetsTopicResponse {
                name: topic.name,
                partitions: topic.partitions.iter().map(&mut one).collect(),
            }
        })
        .collect();
    let response = ListOffsetsResponse { topics, ..ListOffsetsResponse::default() };
    node.connections.respond(context.key, &response);
    Ok(())
}

fn repeated<'a>(request: &ListOffsetsRequest<'a>) -> BTreeSet<(&'a str, i32)> {
    let mut seen = BTreeSet::new();
    let all = request
        .topics
        .iter()
        .flat_map(|topic| topic.partitions.iter().map(|p| (topic.name, p.partition_index)));
    all.filter(|partition| !seen.insert(*partition)).collect()
}

fn look_up(
    node: &mut Node,
    version: i16,
    isolation_level: IsolationLevel,
    name: &str,
    asked: &ListOffsetsPartition,
) -> Result<Found, ErrorCode> {
    let topic = node.metadata.image().topic(name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let id = topics::partition(topic, asked.partition_index).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let log = node.logs.log(id).ok_or(ErrorCode::NotLeaderOrFollower)?;
    errors::check_leader_epoch(asked.current_leader_epoch, node.logs.leader_epoch())?;
    let end = match isolation_level {
        IsolationLevel::ReadCommitted => log.last_stable_offset(),
        IsolationLevel::ReadUncommitted => log.high_watermark(),
    };
    let found = match asked.timestamp {
        LATEST => Some((end, None, Some(node.logs.leader_epoch()))),
        EARLIEST => Some((log.log_start_offset(), None, log.epoch_at(log.log_start_offset()))),
        EARLIEST_LOCAL if version >= 8 => {
            Some((log.log_start_offset(), None, log.epoch_at(log.log_start_offset())))
        }
        MAX_TIMESTAMP if version >= 7 => {
            let newest = node.logs.offset_of_max_timestamp(id).map_err(|error| errors::of_read(&error))?;
            newest.map(|(offset, time, epoch)| (offset, Some(time), Some(epoch)))
        }
        // Without tiered storage nothing lies there and nothing waits for an upload.
        LATEST_TIERED if version >= 9 => None,
        EARLIEST_PENDING_UPLOAD if version >= 11 => None,
        time if time >= 0 => {
            let first = node
                .logs
                .offset_for_timestamp(id, Timestamp(time))
                .map_err(|error| errors::of_read(&error))?;
            first
                .filter(|(offset, ..)| *offset < end)
                .map(|(offset, time, epoch)| (offset, Some(time), Some(epoch)))
        }
        _ => return Err(ErrorCode::UnsupportedVersion),
    };
    Ok(found)
}

fn response(index: i32, result: Result<Found, ErrorCode>) -> ListOffsetsPartitionResponse {
    let none =
        ListOffsetsPartitionResponse { partition_index: index, ..ListOffsetsPartitionResponse::default() };
    match result {
        Err(error_code) => ListOffsetsPartitionResponse { error_code, ..none },
        Ok(None) => none,
        Ok(Some((offset, time, epoch))) => ListOffsetsPartitionResponse {
            offset: offset.0,
            timestamp: time.map_or(-1, |time| time.0),
            leader_epoch: epoch.map_or(-1, |epoch| epoch.0),
            ..none
        },
    }
}
