//! DescribeCluster (60).

use crate::error_code::ErrorCode;

messages! {
    /// Asks for the brokers, or the controllers, of the cluster.
    pub struct DescribeClusterRequest: request of DescribeCluster {
        include_cluster_authorized_operations: bool [0..],
        /// 1 for brokers, 2 for controllers.
        endpoint_type: i8 [1..] = 1,
        include_fenced_brokers: bool [2..],
    }

    /// The cluster and its members.
    pub struct DescribeClusterResponse<'a>: response of DescribeCluster {
        throttle_time_ms: i32 [0..],
        error_code: ErrorCode [0..],
        error_message: Option<&'a str> [0..] nullable [0..],
        endpoint_type: i8 [1..] = 1,
        cluster_id: &'a str [0..],
        controller_id: i32 [0..] = -1,
        brokers: Vec<DescribeClusterBroker<'a>> [0..],
        /// A bit for each operation; `i32::MIN` when not asked for.
        cluster_authorized_operations: i32 [0..] = i32::MIN,
    }

    /// A broker and where it listens.
    pub struct DescribeClusterBroker<'a> {
        broker_id: i32 [0..],
        host: &'a str [0..],
        port: i32 [0..],
        rack: Option<&'a str> [0..] nullable [0..],
        is_fenced: bool [2..],
    }
}
