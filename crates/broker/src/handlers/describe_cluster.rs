//! DescribeCluster (60), versions 0–2: this cluster is one broker.

use milepost_wire::ErrorCode;
use milepost_wire::messages::describe_cluster::{
    DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse,
};

use super::{Context, Handled};
use crate::node::Node;
use crate::operations;

const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &DescribeClusterRequest) -> Handled {
    let error = match request.endpoint_type {
        BROKERS => ErrorCode::None,
        _ if context.key.version == 0 => ErrorCode::InvalidRequest,
        CONTROLLERS => ErrorCode::MismatchedEndpointType,
        _ => ErrorCode::UnsupportedEndpointType,
    };
    let brokers = vec![DescribeClusterBroker {
        broker_id: node.settings.node_id,
        host: &node.endpoint.host,
        port: i32::from(node.endpoint.port),
        ..DescribeClusterBroker::default()
    }];
    let response = DescribeClusterResponse {
        error_code: error,
        endpoint_type: request.endpoint_type,
        cluster_id: node.metadata.image().cluster_id().unwrap_or(""),
        controller_id: node.settings.node_id,
        brokers: if error == ErrorCode::None { brokers } else { Vec::new() },
        cluster_authorized_operations: operations::if_asked(
            request.include_cluster_authorized_operations,
            operations::CLUSTER,
        ),
        ..DescribeClusterResponse::default()
    };
    node.connections.respond(context.key, &response);
    Ok(())
}
