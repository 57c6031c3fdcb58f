//! What an operator may set about groups, under Kafka's names and with Kafka's defaults.

use crate::consumer::{Assignor, MigrationPolicy};

/// The settings of groups and committed offsets. The edge fills it; nothing here reads a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSettings {
    /// `group.min.session.timeout.ms`: the shortest session timeout a member may ask for.
    pub min_session_timeout_ms: i32,
    /// `group.max.session.timeout.ms`: the longest session timeout a member may ask for.
    pub max_session_timeout_ms: i32,
    /// `group.initial.rebalance.delay.ms`: how long an empty group waits for further members before it begins.
    pub initial_rebalance_delay_ms: u64,
    /// `group.max.size`: how many members a group may have.
    pub max_size: usize,
    /// `group.consumer.session.timeout.ms`: how long a member of a consumer group may be silent.
    pub consumer_session_ms: u64,
    /// `group.consumer.heartbeat.interval.ms`: how often it is told to say something.
    pub consumer_heartbeat_interval_ms: i32,
    /// `group.consumer.max.size`: how many members a consumer group may have.
    pub consumer_max_size: usize,
    /// `group.consumer.assignors`: what members may ask for; the first is the default.
    pub consumer_assignors: Vec<Assignor>,
    /// `group.consumer.assignment.interval.ms`: how long after a new assignment the next one is made at the earliest.
    pub consumer_assignment_interval_ms: u64,
    /// `group.consumer.regex.refresh.interval.ms`: how long after a regular expression was looked up it is looked up again,
    /// though no topic was added.
    pub consumer_regex_refresh_interval_ms: u64,
    /// `group.consumer.migration.policy`: which way a group with members may change its protocol.
    pub consumer_migration_policy: MigrationPolicy,
    /// `offset.metadata.max.bytes`: the longest metadata of a commit. In spite of its name, Kafka counts UTF-16 units.
    pub offset_metadata_max_units: usize,
    /// `offsets.retention.minutes`, in milliseconds: how long an offset nobody uses is kept.
    pub offsets_retention_ms: i64,
    /// `offsets.retention.check.interval.ms`: how often expired offsets are looked for.
    pub offsets_retention_check_interval_ms: u64,
}

impl Default for GroupSettings {
    fn default() -> Self {
        Self {
            min_session_timeout_ms: 6_000,
            max_session_timeout_ms: 1_800_000,
            initial_rebalance_delay_ms: 3_000,
            max_size: i32::MAX as usize,
            consumer_session_ms: 45_000,
            consumer_heartbeat_interval_ms: 5_000,
            consumer_max_size: i32::MAX as usize,
            consumer_assignors: Assignor::ALL.to_vec(),
            consumer_assignment_interval_ms: 1_000,
            consumer_regex_refresh_interval_ms: 600_000,
            consumer_migration_policy: MigrationPolicy::Bidirectional,
            offset_metadata_max_units: 4_096,
            offsets_retention_ms: 10_080 * 60_000,
            offsets_retention_check_interval_ms: 600_000,
        }
    }
}

/// How long a *new* member may wait in the join phase without asking again. It has no session yet, and nobody would
/// notice that its client went away (the same constant as Kafka's).
pub(crate) const NEW_MEMBER_JOIN_TIMEOUT_MS: u64 = 5 * 60_000;

/// How long after a group record was decided it is looked whether it was written, in milliseconds.
pub(crate) const RECORD_CHECK_MS: u64 = 1_000;

/// How many ids handed out with "member id required" a group keeps until their owners come back with them. More
/// joins are refused as if the group were full.
pub(crate) const MAX_PENDING_JOINS: usize = 100_000;

/// How much of the client's name goes into a member id, in bytes, so that an id always fits a record.
pub(crate) const MAX_MEMBER_ID_PREFIX_BYTES: usize = 1_024;

/// How many records one step of an expiry sweep may write before others get their turn. A step ends with the group
/// that passes the bound.
pub(crate) const MAX_SWEEP_RECORDS: usize = 10_000;

/// How many groups one step of an expiry sweep may look at before others get their turn.
pub(crate) const MAX_SWEEP_GROUPS: usize = 10_000;
