//! Consumers that commit: OffsetCommit without a generation, from many groups, each of which has one connection.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::{ApiKey, DecodeError, EncodeError, ErrorCode, decode_response, encode_request};

use crate::client::{CLIENT_ID, Client};
use crate::error::BenchError;
use crate::load::{self, Measured, Plan, Workload};
use crate::report::{self, Report, line};
use crate::tally::Outcome;
use crate::{cluster, disk};

/// The last version that names topics.
const OFFSET_COMMIT_VERSION_MAX: i16 = 9;
/// How long the disk is measured, before and again after the load.
const DISK_TIME: Duration = Duration::from_secs(1);

/// The flags of `commits`.
#[derive(Debug, clap::Args)]
pub(crate) struct Commits {
    /// Where to begin; coordinators are found from there.
    #[arg(long, value_name = "HOST:PORT")]
    bootstrap: String,
    /// Connections.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: u32,
    /// Groups; shared out among the connections, which commit for theirs in turn. One a connection by default.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    groups: Option<u32>,
    /// Partitions in each commit, all of one topic.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    partitions: u32,
    /// Commits in flight on each connection.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    in_flight: u32,
    /// How long to measure.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// How long to run before that.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=3600))]
    warm_up_seconds: u64,
    /// The metadata of each offset.
    #[arg(long, default_value = "")]
    metadata: String,
    /// The topic; made if it does not exist. By default its name has the number of its partitions.
    #[arg(long)]
    topic: Option<String>,
    /// What the groups' names begin with.
    #[arg(long, default_value = "bench")]
    group_prefix: String,
    /// Measures the disk in this folder as well, right before and after, and compares.
    #[arg(long, value_name = "DIR")]
    disk_folder: Option<PathBuf>,
    /// Bytes of a write when the disk is measured. By default the bytes of all requests in flight, which is about what
    /// a server writes that syncs them together.
    #[arg(long, value_name = "BYTES", requires = "disk_folder", value_parser = clap::value_parser!(u64).range(1..=16 << 20))]
    disk_bytes: Option<u64>,
}

/// Measures and reports.
pub(crate) fn run(commits: &Commits) -> Result<Report, BenchError> {
    let mut client = Client::connect(&commits.bootstrap)?;
    let topic = commits.topic.clone().unwrap_or_else(|| format!("bench-{}", commits.partitions));
    cluster::create_topic(&mut client, &topic, commits.partitions)?;
    let version = client.version(ApiKey::OffsetCommit, OFFSET_COMMIT_VERSION_MAX)?;
    let count = commits.groups.unwrap_or(commits.connections).max(commits.connections);
    let groups: Vec<String> = (0..count).map(|index| format!("{}-{index}", commits.group_prefix)).collect();
    let coordinators = cluster::coordinators(&mut client, &groups)?;
    let lanes = share_out(groups, coordinators, commits.connections as usize)?;
    let addresses: Vec<String> = lanes.iter().map(|lane| lane.address.clone()).collect();
    let metadata = commits.metadata.clone();
    let mut workload = Committing { version, topic, partitions: commits.partitions, metadata, lanes };
    let plan = Plan {
        in_flight: commits.in_flight as usize,
        warm_up: Duration::from_secs(commits.warm_up_seconds),
        measured: Duration::from_secs(commits.seconds),
    };
    let disk_bytes = match commits.disk_bytes {
        Some(bytes) => bytes,
        None => workload.frame_bytes()? * u64::from(commits.connections) * u64::from(commits.in_flight),
    };
    let before = measure_disk(commits, disk_bytes)?;
    let measured = load::run(&addresses, plan, &mut workload)?;
    let after = measure_disk(commits, disk_bytes)?;
    let disk = before.zip(after).map(|(before, after)| DiskTimes {
        bytes: disk_bytes,
        mean_ms: f64::midpoint(before.mean_ms, after.mean_ms),
        median_ms: f64::midpoint(before.median_ms, after.median_ms),
    });
    Ok(describe(commits, count, &measured, disk))
}

/// What a write and sync took, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct DiskTimes {
    bytes: u64,
    mean_ms: f64,
    median_ms: f64,
}

fn measure_disk(commits: &Commits, bytes: u64) -> Result<Option<DiskTimes>, BenchError> {
    let Some(folder) = &commits.disk_folder else { return Ok(None) };
    let tally = disk::measure(folder, bytes.min(disk::WRITE_BYTES_MAX), DISK_TIME)?;
    let mean_ms = disk::mean_ms(&tally, DISK_TIME);
    Ok(Some(DiskTimes { bytes, mean_ms, median_ms: tally.latency_ms(50.0) }))
}

fn describe(commits: &Commits, groups: u32, measured: &Measured, disk: Option<DiskTimes>) -> Report {
    let mut text = String::new();
    let tally = &measured.tally;
    let shape = format!(
        "; {} connections, {groups} groups, {} in flight, partitions a commit: {}",
        commits.connections, commits.in_flight, commits.partitions
    );
    report::rate(&mut text, "commits", tally.requests(), measured.time, &shape);
    report::rate(&mut text, "offsets", tally.units(), measured.time, "");
    report::load(&mut text, tally, measured.shares);
    if let Some(DiskTimes { bytes, mean_ms, median_ms }) = disk {
        let in_flight = f64::from(commits.connections) * f64::from(commits.in_flight);
        let bound = in_flight / (mean_ms / 1000.0);
        let reached = tally.requests() as f64 / measured.time.as_secs_f64() / bound * 100.0;
        let figure = format!(
            "write of {bytes} bytes + fdatasync: mean {mean_ms:.3} ms, p50 {median_ms:.3} ms; {in_flight:.0} commits a \
             sync would be {bound:.0} /s; reached {reached:.0} % of that"
        );
        line(&mut text, "disk", &figure);
    }
    Report { text, server_errors: !tally.errors().is_empty() }
}

/// One connection's groups, all with the same coordinator.
struct Lane {
    address: String,
    groups: Vec<String>,
    /// Whose turn it is.
    next: usize,
    /// The offset that is committed next; rises, as a consumer's does.
    offset: i64,
}

/// Gives each coordinator its share of the connections, and each connection its share of the coordinator's groups.
fn share_out(
    groups: Vec<String>,
    coordinators: Vec<String>,
    connections: usize,
) -> Result<Vec<Lane>, BenchError> {
    let mut by_coordinator: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (group, coordinator) in groups.into_iter().zip(coordinators) {
        by_coordinator.entry(coordinator).or_default().push(group);
    }
    let servers = by_coordinator.len();
    if servers > connections {
        return Err(BenchError::TooFewConnections { servers });
    }
    let mut lanes = Vec::with_capacity(connections);
    for (server, (address, groups)) in by_coordinator.into_iter().enumerate() {
        let share = (connections + servers - 1 - server) / servers;
        let empty = || Lane { address: address.clone(), groups: Vec::new(), next: 0, offset: 0 };
        let mut own: Vec<Lane> = (0..share.min(groups.len())).map(|_| empty()).collect();
        let count = own.len();
        for (index, group) in groups.into_iter().enumerate() {
            own[index % count].groups.push(group);
        }
        lanes.append(&mut own);
    }
    Ok(lanes)
}

struct Committing {
    version: i16,
    topic: String,
    partitions: u32,
    metadata: String,
    lanes: Vec<Lane>,
}

impl Committing {
    fn frame_bytes(&mut self) -> Result<u64, EncodeError> {
        let mut frame = Vec::new();
        self.request(0, 0, &mut frame)?;
        Ok(frame.len() as u64)
    }
}

impl Workload for Committing {
    fn request(
        &mut self,
        connection: usize,
        correlation_id: i32,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let lane = &mut self.lanes[connection];
        let group_id = &lane.groups[lane.next];
        let partition = |index: u32| OffsetCommitRequestPartition {
            partition_index: i32::try_from(index).unwrap_or(i32::MAX),
            committed_offset: lane.offset,
            committed_leader_epoch: -1,
            committed_metadata: Some(&self.metadata),
        };
        let topic = OffsetCommitRequestTopic {
            name: &self.topic,
            partitions: (0..self.partitions).map(partition).collect(),
            ..OffsetCommitRequestTopic::default()
        };
        let request = OffsetCommitRequest { group_id, topics: vec![topic], ..OffsetCommitRequest::default() };
        encode_request(out, &request, self.version, correlation_id, Some(CLIENT_ID))?;
        lane.offset += 1;
        lane.next = (lane.next + 1) % lane.groups.len();
        Ok(())
    }

    fn response(&mut self, frame: &[u8]) -> Result<(i32, Outcome), DecodeError> {
        let (correlation_id, response): (i32, OffsetCommitResponse<'_>) =
            decode_response(frame, self.version)?;
        let codes = response.topics.iter().flat_map(|topic| &topic.partitions).map(|one| one.error_code);
        let mut outcome = Outcome::default();
        for code in codes {
            if code == ErrorCode::None {
                outcome.units += 1;
            } else {
                outcome.error.get_or_insert(code);
            }
        }
        if outcome.units < u64::from(self.partitions) {
            outcome.error.get_or_insert(ErrorCode::UnknownServerError);
        }
        Ok((correlation_id, outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_shared_out_among_coordinators() {
        let groups: Vec<String> = (0..10).map(|index| format!("g{index}")).collect();
        let coordinators = (0..10).map(|index| format!("host:{}", index % 3)).collect();
        let lanes = share_out(groups, coordinators, 4).unwrap();
        let sizes: Vec<_> = lanes.iter().map(|lane| (lane.address.as_str(), lane.groups.len())).collect();
        assert_eq!(sizes, [("host:0", 2), ("host:0", 2), ("host:1", 3), ("host:2", 3)]);
    }

    #[test]
    fn every_coordinator_needs_a_connection() {
        let groups = vec!["a".to_owned(), "b".to_owned()];
        let coordinators = vec!["host:1".to_owned(), "host:2".to_owned()];
        let result = share_out(groups, coordinators, 1);
        assert!(matches!(result, Err(BenchError::TooFewConnections { servers: 2 })));
    }
}
