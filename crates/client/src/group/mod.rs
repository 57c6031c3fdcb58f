//! Groups of consumers that share the partitions of topics, by Kafka's classic protocol.

mod assignor;
mod commit;
mod committed;
mod heart;
mod join;
mod leave;
mod member;

use std::time::Duration;

use crate::isolation::Isolation;

pub use commit::CommitOutcome;
pub use committed::committed;
pub use member::{GroupEvent, GroupMember};

/// Where to begin in a partition for which the group has committed nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetPolicy {
    /// At the first record that is still there.
    #[default]
    Earliest,
    /// Behind the last record.
    Latest,
}

/// How a member takes part.
#[derive(Clone, Debug)]
pub struct GroupOptions {
    /// The group's name.
    pub group: String,
    /// How long the group keeps the partitions of a member that says nothing.
    pub session_timeout: Duration,
    /// How long the group waits for this member when it shares the partitions out anew.
    pub rebalance_timeout: Duration,
    /// How often the member says that it is there.
    pub heartbeat_interval: Duration,
    /// Where to begin without a committed offset.
    pub reset: ResetPolicy,
    /// Which records of transactions are wanted.
    pub isolation: Isolation,
}

impl GroupOptions {
    /// What suits a program that is watched by a person: a member that died is noticed after ten seconds.
    #[must_use]
    pub fn new(group: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            session_timeout: Duration::from_secs(10),
            rebalance_timeout: Duration::from_secs(60),
            heartbeat_interval: Duration::from_millis(1000),
            reset: ResetPolicy::default(),
            isolation: Isolation::default(),
        }
    }
}

/// Milliseconds as the wire has them.
fn wire_ms(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX)
}
