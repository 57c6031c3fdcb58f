//! Authorised operations as the bit fields that Metadata, DescribeCluster and DescribeGroups carry.
//!
//! Without an authorizer everything is allowed: a bit for every operation that is valid on the kind of resource.

/// Said when nobody asked (Kafka's default for the field).
pub(crate) const NOT_ASKED: i32 = i32::MIN;

const READ: i32 = 1 << 3;
const WRITE: i32 = 1 << 4;
const CREATE: i32 = 1 << 5;
const DELETE: i32 = 1 << 6;
const ALTER: i32 = 1 << 7;
const DESCRIBE: i32 = 1 << 8;
const CLUSTER_ACTION: i32 = 1 << 9;
const DESCRIBE_CONFIGS: i32 = 1 << 10;
const ALTER_CONFIGS: i32 = 1 << 11;
const IDEMPOTENT_WRITE: i32 = 1 << 12;

/// Everything that can be done with a topic.
pub(crate) const TOPIC: i32 =
    READ | WRITE | CREATE | DELETE | ALTER | DESCRIBE | DESCRIBE_CONFIGS | ALTER_CONFIGS;
/// Everything that can be done with a group.
pub(crate) const GROUP: i32 = READ | DELETE | DESCRIBE | DESCRIBE_CONFIGS | ALTER_CONFIGS;
/// Everything that can be done with the cluster.
pub(crate) const CLUSTER: i32 =
    CREATE | ALTER | DESCRIBE | CLUSTER_ACTION | DESCRIBE_CONFIGS | ALTER_CONFIGS | IDEMPOTENT_WRITE;

/// The bit field if it was asked for.
pub(crate) fn if_asked(asked: bool, operations: i32) -> i32 {
    if asked { operations } else { NOT_ASKED }
}
