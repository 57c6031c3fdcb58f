//! OffsetForLeaderEpoch (23), versions 2–4: where an epoch ended, so that a client can see that its log was cut.

use milepost_model::LeaderEpoch;
use milepost_wire::ErrorCode;
use milepost_wire::messages::offset_for_leader_epoch::{
    EpochEndOffset, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::Node;
use crate::topics;

pub(crate) fn handle(
    node: &mut Node,
    context: Context<'_>,
    request: &OffsetForLeaderEpochRequest<'_>,
) -> Handled {
    let topics = request
        .topics
        .iter()
        .map(|topic| OffsetForLeaderTopicResult {
            topic: topic.topic,
            partitions: topic.partitions.iter().map(|asked| answer(node, topic.topic, asked)).collect(),
        })
        .collect();
    let response = OffsetForLeaderEpochResponse { topics, ..OffsetForLeaderEpochResponse::default() };
    node.connections.respond(context.key, &response);
    Ok(())
}

fn answer(node: &Node, name: &str, asked: &OffsetForLeaderPartition) -> EpochEndOffset {
    let none = EpochEndOffset { partition: asked.partition, ..EpochEndOffset::default() };
    match look_up(node, name, asked) {
        Err(error_code) => EpochEndOffset { error_code, ..none },
        Ok(None) => none,
        Ok(Some((epoch, end_offset))) => EpochEndOffset { leader_epoch: epoch.0, end_offset, ..none },
    }
}

fn look_up(
    node: &Node,
    name: &str,
    asked: &OffsetForLeaderPartition,
) -> Result<Option<(LeaderEpoch, i64)>, ErrorCode> {
    let topic = node.metadata.image().topic(name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let id = topics::partition(topic, asked.partition).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let log = node.logs.log(id).ok_or(ErrorCode::NotLeaderOrFollower)?;
    errors::check_leader_epoch(asked.current_leader_epoch, node.logs.leader_epoch())?;
    if asked.leader_epoch < 0 {
        return Ok(None);
    }
    let epoch = LeaderEpoch(asked.leader_epoch);
    // The newest epoch ends where readers may read to: above the high watermark nothing is shown.
    if epoch == node.logs.leader_epoch() {
        return Ok(Some((epoch, log.high_watermark().0)));
    }
    Ok(log.end_offset_for_epoch(epoch).map(|(epoch, end)| (epoch, end.0.min(log.high_watermark().0))))
}
