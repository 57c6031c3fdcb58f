//! Groups with their members and what those have to read.

mod classic;
mod consumer;
mod share;
mod streams;
mod work;

use std::collections::BTreeSet;

use milepost_wire::{ApiKey, ErrorCode};

pub use streams::{StreamsTopology, Subtopology};
pub use work::{ConnectWorker, ConnectorTasks, StreamsMember, StreamsTasks, Tasks, Work};

use super::GroupKind;
use super::each::{PerGroup, each_group};
use crate::cluster::Cluster;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::topic_partition::TopicPartition;

/// How many groups one request asks about.
const GROUPS_A_REQUEST: usize = 50;
/// The protocol type whose subscriptions and assignments are those of consumers.
const CONSUMER: &str = "consumer";
/// What a group of workers of Kafka Connect speaks. Such a group commits nothing.
const CONNECT: &str = milepost_records::connect_protocol::PROTOCOL_TYPE;
/// How a classic group that is not there is described.
const DEAD: &str = "Dead";

/// Notes what a broker says of one group to whoever asks for one kind of group.
fn note(
    found: &mut PerGroup<GroupDescription>,
    group: &str,
    (code, message): (ErrorCode, Option<&str>),
    describe: impl FnOnce() -> GroupDescription,
) {
    let outcome = match code {
        ErrorCode::None => Ok(describe()),
        // It is of another kind or not there, or the broker does not serve this kind. The empty name is none that such a group
        // can have.
        ErrorCode::GroupIdNotFound | ErrorCode::UnsupportedVersion | ErrorCode::InvalidGroupId => return,
        code => Err(ClientError::refused(group, code, message)),
    };
    found.insert(group.to_owned(), outcome);
}

/// The partitions of a member.
pub type Assigned = BTreeSet<TopicPartition>;

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDescription {
    /// Which protocol it speaks.
    pub kind: GroupKind,
    /// Its state by Kafka's name; `Dead` for one that is not there.
    pub state: String,
    /// What its members speak among each other; empty for a group that only stores offsets.
    pub protocol_type: String,
    /// How partitions are shared out, if that is agreed.
    pub assignor: String,
    /// Of a group whose broker assigns: a consumer, share or streams group.
    pub epochs: Option<GroupEpochs>,
    /// What a streams group works on.
    pub topology: Option<StreamsTopology>,
    /// Its members, by id.
    pub members: Vec<MemberDescription>,
}

/// The epochs of a group whose broker assigns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEpochs {
    /// Changes with its members and what they subscribe to.
    pub group: i32,
    /// That of the latest assignment.
    pub assignment: i32,
}

/// A member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberDescription {
    /// Its id.
    pub member_id: String,
    /// The name under which it keeps its place, if it is static.
    pub instance_id: Option<String>,
    /// What the program calls itself.
    pub client_id: String,
    /// Where it connects from.
    pub host: String,
    /// Its epoch, in a group whose broker assigns.
    pub epoch: Option<i32>,
    /// The topics it wants. `None` where that is not known: a pattern, another protocol than that of consumers, or no
    /// answer because the group is rebalancing.
    pub subscribed: Option<BTreeSet<String>>,
    /// What it has to read.
    pub assigned: Assigned,
    /// What it is to have, in a consumer or streams group.
    pub target: Option<Assigned>,
    /// What it does, where that is more than reading partitions.
    pub work: Option<Work>,
}

impl GroupDescription {
    /// Whether there is such a group.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.state != DEAD
    }

    /// Whether it is of workers of Kafka Connect.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        self.protocol_type == CONNECT
    }

    /// Every topic that some member wants. `None` where that is not known of one of them.
    #[must_use]
    pub fn subscribed(&self) -> Option<BTreeSet<String>> {
        let mut all = BTreeSet::new();
        for member in &self.members {
            all.extend(member.subscribed.clone()?);
        }
        Some(all)
    }
}

/// Describes groups, whichever protocol they speak: as a consumer group first, where it is none as a classic one, and
/// where it is not that either as a share and a streams group. A group that is not there is `Dead`.
///
/// # Errors
/// When nobody can be asked. What is wrong with one group is in its own result.
pub fn describe(cluster: &mut Cluster, groups: &[&str]) -> Result<PerGroup<GroupDescription>, ClientError> {
    each_group(cluster, groups, |connection, of_it, deadline, found| {
        if connection.version(ApiKey::ConsumerGroupDescribe).is_ok() {
            consumer::ask(connection, of_it, deadline, found)?;
        }
        let rest: Vec<&str> = of_it.iter().copied().filter(|group| !found.contains_key(*group)).collect();
        classic::ask(connection, &rest, deadline, found)?;
        ask_newer(connection, ApiKey::ShareGroupDescribe, share::ask, &rest, deadline, found)?;
        ask_newer(connection, ApiKey::StreamsGroupDescribe, streams::ask, &rest, deadline, found)
    })
}

type Ask = fn(&mut Connection, &[&str], Deadline, &mut PerGroup<GroupDescription>) -> Result<(), ClientError>;

/// Asks in the way of a newer kind about those that were not found. A broker without the API has no group of that kind;
/// one that speaks only versions of it that are not known here may have some, of which nothing can be said.
fn ask_newer(
    connection: &mut Connection,
    api: ApiKey,
    ask: Ask,
    groups: &[&str],
    deadline: Deadline,
    found: &mut PerGroup<GroupDescription>,
) -> Result<(), ClientError> {
    let is_absent = |group: &str| matches!(found.get(group), Some(Ok(known)) if !known.exists());
    let absent: Vec<&str> = groups.iter().copied().filter(|group| is_absent(group)).collect();
    if absent.is_empty() || !connection.has(api) {
        return Ok(());
    }
    if let Err(error) = connection.version(api) {
        found.extend(absent.into_iter().map(|group| (group.to_owned(), Err(error.clone()))));
        return Ok(());
    }
    ask(connection, &absent, deadline, found)
}

fn sorted(members: impl Iterator<Item = MemberDescription>) -> Vec<MemberDescription> {
    let mut members: Vec<MemberDescription> = members.collect();
    members.sort_by(|left, right| left.member_id.cmp(&right.member_id));
    members
}
