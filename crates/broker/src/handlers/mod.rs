//! One file per API, named after it. What a handler file holds:
//!
//! - `handle(node, context, request) -> Handled`: checks in Kafka's order, then either answers with `node.connections.respond`,
//!   or parks what it needs to answer later. A request is admitted by `handle` and by nothing else, so the order in
//!   which a connection's requests take effect is the order of the calls.
//! - where the answer comes later, a small value that says how to finish it (parked in `purgatory`, `topic_waits` or
//!   `group_waits`) and a `finish` that turns the result into the response.
//! - what an older protocol version expects instead (another error code, a field that did not exist). Such manners
//!   live here at the edge and nowhere below.
//!
//! To add an API: its messages in `wire`, a file here, a line in [`dispatch`].

pub(crate) mod add_offsets_to_txn;
pub(crate) mod add_partitions_to_txn;
pub(crate) mod alter_configs;
pub(crate) mod api_versions;
mod commits;
pub(crate) mod consumer_group_describe;
pub(crate) mod consumer_group_heartbeat;
pub(crate) mod create_partitions;
pub(crate) mod create_topics;
pub(crate) mod delete_groups;
pub(crate) mod delete_records;
pub(crate) mod delete_topics;
pub(crate) mod describe_cluster;
pub(crate) mod describe_configs;
pub(crate) mod describe_groups;
pub(crate) mod describe_log_dirs;
pub(crate) mod describe_producers;
pub(crate) mod describe_topic_partitions;
pub(crate) mod describe_transactions;
pub(crate) mod elect_leaders;
pub(crate) mod end_txn;
pub(crate) mod fetch;
pub(crate) mod find_coordinator;
pub(crate) mod heartbeat;
pub(crate) mod incremental_alter_configs;
pub(crate) mod init_producer_id;
pub(crate) mod join_group;
pub(crate) mod leave_group;
pub(crate) mod list_config_resources;
pub(crate) mod list_groups;
pub(crate) mod list_offsets;
pub(crate) mod list_transactions;
pub(crate) mod metadata;
pub(crate) mod offset_commit;
pub(crate) mod offset_delete;
pub(crate) mod offset_fetch;
pub(crate) mod offset_for_leader_epoch;
pub(crate) mod produce;
pub(crate) mod sync_group;
pub(crate) mod txn_offset_commit;
pub(crate) mod write_txn_markers;

use milepost_log::IsolationLevel;
use milepost_model::Now;
use milepost_wire::{ApiKey, RequestBody, RequestError, decode_request};

use crate::node::{ConnectionId, Node, RequestKey, Verdicts};

/// Where each request is logged, at the level `trace`: Kafka's request log. The stories read it to know what clients ask.
const REQUEST_LOG: &str = "milepost::requests";

/// The largest frame of a request that is not mostly payload (Produce, SyncGroup). Lists of names and numbers take many
/// times their bytes once they are decoded; a million of them still fits.
const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The shortest time a produce or a deletion of records waits for the disk, whatever its timeout says. Kafka's timeout
/// counts the wait for other brokers only; what only this disk is to take is never answered with REQUEST_TIMED_OUT there.
const DISK_WAIT_MIN_MS: u64 = 1_000;

/// Up to where a read goes, as the wire says it. What is no level is the first one, as in Kafka.
fn isolation_level(said: i8) -> IsolationLevel {
    const READ_COMMITTED: i8 = 1;
    if said == READ_COMMITTED { IsolationLevel::ReadCommitted } else { IsolationLevel::ReadUncommitted }
}

/// What every handler is told about its request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) now: Now,
    pub(crate) key: RequestKey,
    /// The client's name for itself; empty if it gave none.
    pub(crate) client_id: &'a str,
    /// The request as it came, for those that must wait before they take effect.
    pub(crate) frame: &'a [u8],
}

/// The connection must be closed without an answer; the reason is for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CloseConnection(pub(crate) String);

/// A handler's verdict: answered or parked, or the connection ends.
pub(crate) type Handled = Result<(), CloseConnection>;

/// Decodes a frame, gives it its place in line and hands it to the handler of its API.
pub(crate) fn dispatch(node: &mut Node, now: Now, connection: ConnectionId, frame: &[u8]) -> Handled {
    check_size(frame)?;
    let (header, body) = match decode_request(frame) {
        Ok(request) => request,
        Err(RequestError::UnsupportedVersion(header)) if header.api_key == ApiKey::ApiVersions => {
            let key = place(node, connection, frame.len(), ApiKey::ApiVersions, 0, header.correlation_id)?;
            api_versions::refuse_version(node, key);
            return Ok(());
        }
        Err(error) => return Err(CloseConnection(error.to_string())),
    };
    let key =
        place(node, connection, frame.len(), header.api_key, header.api_version, header.correlation_id)?;
    let context = Context { now, key, client_id: header.client_id.unwrap_or(""), frame };
    tracing::trace!(target: REQUEST_LOG, api = %key.api, version = key.version, client_id = context.client_id);
    match body {
        RequestBody::ApiVersions(request) => api_versions::handle(node, context, &request),
        RequestBody::Metadata(request) => metadata::handle(node, context, &request),
        RequestBody::CreateTopics(request) => create_topics::handle(node, context, &request),
        RequestBody::DeleteTopics(request) => delete_topics::handle(node, context, &request),
        RequestBody::DeleteRecords(request) => delete_records::handle(node, context, &request),
        RequestBody::CreatePartitions(request) => create_partitions::handle(node, context, &request),
        RequestBody::DescribeConfigs(request) => describe_configs::handle(node, context, &request),
        RequestBody::AlterConfigs(request) => alter_configs::handle(node, context, &request),
        RequestBody::IncrementalAlterConfigs(request) => {
            incremental_alter_configs::handle(node, context, &request)
        }
        RequestBody::ListConfigResources(request) => list_config_resources::handle(node, context, &request),
        RequestBody::DescribeTopicPartitions(request) => {
            describe_topic_partitions::handle(node, context, &request)
        }
        RequestBody::DescribeLogDirs(request) => describe_log_dirs::handle(node, context, &request),
        RequestBody::DescribeProducers(request) => describe_producers::handle(node, context, &request),
        RequestBody::ElectLeaders(request) => elect_leaders::handle(node, context, &request),
        RequestBody::DescribeCluster(request) => describe_cluster::handle(node, context, &request),
        RequestBody::Produce(request) => produce::handle(node, context, &request),
        RequestBody::Fetch(request) => fetch::handle(node, context, &request),
        RequestBody::ListOffsets(request) => list_offsets::handle(node, context, &request),
        RequestBody::OffsetForLeaderEpoch(request) => {
            offset_for_leader_epoch::handle(node, context, &request)
        }
        RequestBody::InitProducerId(request) => init_producer_id::handle(node, context, &request),
        RequestBody::AddPartitionsToTxn(request) => add_partitions_to_txn::handle(node, context, &request),
        RequestBody::AddOffsetsToTxn(request) => add_offsets_to_txn::handle(node, context, &request),
        RequestBody::TxnOffsetCommit(request) => {
            txn_offset_commit::handle(node, context, &request);
            Ok(())
        }
        RequestBody::EndTxn(request) => end_txn::handle(node, context, &request),
        RequestBody::WriteTxnMarkers(request) => write_txn_markers::handle(node, context, &request),
        RequestBody::DescribeTransactions(request) => describe_transactions::handle(node, context, &request),
        RequestBody::ListTransactions(request) => list_transactions::handle(node, context, &request),
        RequestBody::FindCoordinator(request) => find_coordinator::handle(node, context, &request),
        RequestBody::JoinGroup(request) => join_group::handle(node, context, &request),
        RequestBody::SyncGroup(request) => sync_group::handle(node, context, &request),
        RequestBody::Heartbeat(request) => heartbeat::handle(node, context, &request),
        RequestBody::LeaveGroup(request) => leave_group::handle(node, context, &request),
        RequestBody::ConsumerGroupHeartbeat(request) => {
            consumer_group_heartbeat::handle(node, context, &request)
        }
        RequestBody::ConsumerGroupDescribe(request) => {
            consumer_group_describe::handle(node, context, &request)
        }
        RequestBody::OffsetCommit(request) => offset_commit::handle(node, context, &request),
        RequestBody::OffsetFetch(request) => offset_fetch::handle(node, context, &request),
        RequestBody::ListGroups(request) => list_groups::handle(node, context, &request),
        RequestBody::DescribeGroups(request) => describe_groups::handle(node, context, &request),
        RequestBody::DeleteGroups(request) => delete_groups::handle(node, context, &request),
        RequestBody::OffsetDelete(request) => offset_delete::handle(node, context, &request),
    }
}

/// Goes on with a request that was held, now that its partitions are verified.
pub(crate) fn go_on(
    node: &mut Node,
    now: Now,
    key: RequestKey,
    frame: &[u8],
    verdicts: &Verdicts,
) -> Handled {
    let (header, body) = decode_request(frame).map_err(|error| CloseConnection(error.to_string()))?;
    let context = Context { now, key, client_id: header.client_id.unwrap_or(""), frame };
    match body {
        RequestBody::Produce(request) => produce::go_on(node, context, &request, verdicts),
        RequestBody::TxnOffsetCommit(request) => {
            txn_offset_commit::go_on(node, context, &request, verdicts);
            Ok(())
        }
        other => panic!("a request of {:?} was held", other.api()),
    }
}

fn check_size(frame: &[u8]) -> Result<(), CloseConnection> {
    let key = frame.first_chunk().map(|bytes| i16::from_be_bytes(*bytes)).and_then(ApiKey::from_code);
    if frame.len() > REQUEST_BYTES_MAX && !matches!(key, Some(ApiKey::Produce | ApiKey::SyncGroup)) {
        let bytes = frame.len();
        return Err(CloseConnection(format!(
            "a request of {bytes} bytes that is no Produce: above {REQUEST_BYTES_MAX}"
        )));
    }
    Ok(())
}

fn place(
    node: &mut Node,
    connection: ConnectionId,
    request_bytes: usize,
    api: ApiKey,
    version: i16,
    correlation_id: i32,
) -> Result<RequestKey, CloseConnection> {
    let sequence = node
        .connections
        .admit(connection, request_bytes)
        .ok_or_else(|| CloseConnection("the connection is closed".to_owned()))?;
    Ok(RequestKey { connection, sequence, api, version, correlation_id })
}
