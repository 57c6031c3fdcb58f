//! DescribeProducers (61), version 0: the idempotent producers that each partition remembers.

use milepost_log::ActiveProducer;
use milepost_wire::ErrorCode;
use milepost_wire::messages::describe_producers::{
    DescribeProducersRequest, DescribeProducersResponse, PartitionResponse, ProducerState, TopicResponse,
};

use super::{Context, Handled};
use crate::node::Node;
use crate::topics;

pub(crate) fn handle(
    node: &mut Node,
    context: Context<'_>,
    request: &DescribeProducersRequest<'_>,
) -> Handled {
    let topics = request
        .topics
        .iter()
        .map(|topic| TopicResponse {
            name: topic.name,
            partitions: topic
                .partition_indexes
                .iter()
                .map(|index| describe(node, topic.name, *index))
                .collect(),
        })
        .collect();
    let response = DescribeProducersResponse { topics, ..DescribeProducersResponse::default() };
    node.connections.respond(context.key, &response);
    Ok(())
}

fn describe(node: &Node, name: &str, index: i32) -> PartitionResponse<'static> {
    match producers(node, name, index) {
        Ok(active_producers) => {
            PartitionResponse { partition_index: index, active_producers, ..PartitionResponse::default() }
        }
        Err(error_code) => PartitionResponse {
            partition_index: index,
            error_code,
            error_message: Some(error_code.name()),
            ..PartitionResponse::default()
        },
    }
}

fn producers(node: &Node, name: &str, index: i32) -> Result<Vec<ProducerState>, ErrorCode> {
    topics::check_name(name).map_err(|_| ErrorCode::InvalidTopicException)?;
    let topic = node.metadata.image().topic(name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let id = topics::partition(topic, index).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let log = node.logs.log(id).ok_or(ErrorCode::NotLeaderOrFollower)?;
    Ok(log.active_producers().map(state).collect())
}

fn state(producer: ActiveProducer) -> ProducerState {
    ProducerState {
        producer_id: producer.identity.id.0,
        producer_epoch: i32::from(producer.identity.epoch.0),
        last_sequence: producer.last_sequence.unwrap_or(-1),
        last_timestamp: producer.last_timestamp.0,
        coordinator_epoch: producer.coordinator_epoch.unwrap_or(-1),
        current_txn_start_offset: producer.transaction_start.map_or(-1, |first| first.0),
    }
}
