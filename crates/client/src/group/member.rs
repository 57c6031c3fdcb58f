//! A member of a group: it has some of the partitions, reads them, and commits where it has read up to.
//!
//! Whoever drives it commits what was dealt with when the group is about to share out anew, so that nobody reads it
//! again; what could not be committed is read again by whoever gets the partition.

use std::collections::BTreeMap;
use std::time::Duration;

use milepost_model::{Generation, Offset};
use milepost_wire::ErrorCode;

use super::commit::{self, CommitOutcome};
use super::heart::{Heart, Pulse};
use super::join::{self, Membership};
use super::{GroupOptions, ResetPolicy, committed, leave};
use crate::cluster::{Cluster, Target};
use crate::error::ClientError;
use crate::groups::Committed;
use crate::offsets::{self, Moment};
use crate::reader::{Polled, Reader};
use crate::topic_partition::TopicPartition;

/// What happened.
#[derive(Debug)]
pub enum GroupEvent {
    /// Records came, or the wait was over without any.
    Records(Polled),
    /// The group has shared out: these partitions are this member's, from these offsets on.
    Assigned(BTreeMap<TopicPartition, Offset>),
    /// The group is about to share out anew. Now is the time to commit; the next poll joins.
    Rebalancing,
    /// The group has gone on without this member, for this reason, and what it did not commit is read again by
    /// others. The next poll joins anew.
    Lost(ErrorCode),
}

/// Where a member stands.
#[derive(Debug)]
enum Place {
    /// In no generation.
    Outside,
    /// In this one, which holds.
    Held(Membership),
    /// In this one, which is ending: commits still count, nothing is read.
    Ending(Membership),
}

/// One member.
#[derive(Debug)]
pub struct GroupMember {
    options: GroupOptions,
    topics: Vec<String>,
    /// The id that the coordinator gave; empty before.
    member_id: String,
    place: Place,
    reader: Reader,
    heart: Heart,
}

impl GroupMember {
    /// A member that has not joined yet; the first poll does.
    ///
    /// # Errors
    /// When a topic is not there, or the cluster does not answer.
    pub fn new(cluster: &mut Cluster, options: GroupOptions, topics: &[String]) -> Result<Self, ClientError> {
        let names: Vec<&str> = topics.iter().map(String::as_str).collect();
        cluster.topics_with_leaders(&names)?;
        let heart = Heart::start(cluster, &options)?;
        let reader = Reader::new(cluster.options(), options.isolation);
        let topics = topics.to_vec();
        Ok(Self { options, topics, member_id: String::new(), place: Place::Outside, reader, heart })
    }

    /// The partitions that are this member's now.
    #[must_use]
    pub fn partitions(&self) -> &[TopicPartition] {
        match &self.place {
            Place::Held(membership) | Place::Ending(membership) => &membership.partitions,
            Place::Outside => &[],
        }
    }

    /// The generation that this member is in, if it is in one.
    #[must_use]
    pub fn generation(&self) -> Option<Generation> {
        match &self.place {
            Place::Held(membership) | Place::Ending(membership) => Some(membership.generation),
            Place::Outside => None,
        }
    }

    /// Waits up to `wait` for the next thing to happen; joining may take longer, as long as the other members let it.
    ///
    /// # Errors
    /// When the group refuses this member for good, or the cluster does not answer in time.
    pub fn poll(&mut self, cluster: &mut Cluster, wait: Duration) -> Result<GroupEvent, ClientError> {
        let membership = match std::mem::replace(&mut self.place, Place::Outside) {
            Place::Held(membership) => membership,
            Place::Outside | Place::Ending(_) => return self.join(cluster).map(GroupEvent::Assigned),
        };
        match self.heart.pulse() {
            Pulse::Steady => {
                self.place = Place::Held(membership);
                self.reader.poll(cluster, wait).map(GroupEvent::Records)
            }
            Pulse::Rebalance => {
                self.place = Place::Ending(membership);
                self.reader.assign([]);
                Ok(GroupEvent::Rebalancing)
            }
            Pulse::Lost(code) => {
                self.lose(code);
                Ok(GroupEvent::Lost(code))
            }
        }
    }

    /// Whether everything before these offsets was handed out, of the partitions that are this member's.
    #[must_use]
    pub fn has_reached(&self, ends: &BTreeMap<TopicPartition, Offset>) -> bool {
        matches!(self.place, Place::Held(_)) && self.reader.has_reached(ends)
    }

    /// Commits the next offset to read of each partition, with the epoch of what lies before it (KIP-320). Do it when that has
    /// been dealt with, and not earlier.
    ///
    /// # Errors
    /// When the cluster does not answer in time or refuses; then it is not known to be stored.
    pub fn commit(
        &mut self,
        cluster: &mut Cluster,
        offsets: &BTreeMap<TopicPartition, Committed>,
    ) -> Result<CommitOutcome, ClientError> {
        if offsets.is_empty() {
            return Ok(CommitOutcome::Stored);
        }
        let (Place::Held(membership) | Place::Ending(membership)) = &self.place else {
            return Ok(CommitOutcome::Fenced(ErrorCode::UnknownMemberId));
        };
        let identity = (membership.generation, membership.member_id.as_str());
        let group = self.options.group.as_str();
        let deadline = cluster.deadline();
        let outcome = cluster.with(Target::Coordinator(group), deadline, |connection| {
            commit::commit(connection, group, identity, offsets, deadline)
        })?;
        if let CommitOutcome::Fenced(code) = outcome {
            self.lose(code);
        }
        Ok(outcome)
    }

    /// Leaves the group, so that the others get the partitions at once.
    ///
    /// # Errors
    /// When the coordinator does not answer in time or refuses; the session then runs out by itself.
    pub fn leave(mut self, cluster: &mut Cluster) -> Result<(), ClientError> {
        self.heart.speak_for(None);
        let member_id = std::mem::take(&mut self.member_id);
        if member_id.is_empty() {
            return Ok(());
        }
        let group = self.options.group.as_str();
        let deadline = cluster.deadline();
        cluster.with(Target::Coordinator(group), deadline, |connection| {
            leave::leave(connection, group, &member_id, deadline)
        })
    }

    fn join(&mut self, cluster: &mut Cluster) -> Result<BTreeMap<TopicPartition, Offset>, ClientError> {
        self.heart.speak_for(None);
        let membership = join::join(cluster, &self.options, &self.topics, &mut self.member_id)?;
        self.heart.speak_for(Some((membership.generation, membership.member_id.clone())));
        let positions = self.positions(cluster, &membership.partitions)?;
        self.place = Place::Held(membership);
        self.reader.assign(positions.clone());
        Ok(positions)
    }

    /// Where to go on in each partition: at the committed offset or, where there is none, as the policy says.
    fn positions(
        &self,
        cluster: &mut Cluster,
        partitions: &[TopicPartition],
    ) -> Result<BTreeMap<TopicPartition, Offset>, ClientError> {
        let mut positions = BTreeMap::new();
        let mut fresh = BTreeMap::new();
        let moment = match self.options.reset {
            ResetPolicy::Earliest => Moment::Earliest,
            ResetPolicy::Latest => self.options.isolation.end(),
        };
        for (partition, committed) in committed(cluster, &self.options.group, partitions)? {
            match committed {
                Some(offset) => {
                    positions.insert(partition, offset);
                }
                None => {
                    fresh.insert(partition, moment);
                }
            }
        }
        for (partition, offset) in offsets::list(cluster, &fresh)? {
            let lacks =
                || ClientError::Incomplete { what: "ListOffsets".to_owned(), lacks: partition.to_string() };
            let offset = offset.ok_or_else(lacks)?;
            positions.insert(partition, offset);
        }
        Ok(positions)
    }

    fn lose(&mut self, code: ErrorCode) {
        self.place = Place::Outside;
        self.heart.speak_for(None);
        self.reader.assign([]);
        if matches!(code, ErrorCode::UnknownMemberId | ErrorCode::FencedInstanceId) {
            self.member_id.clear();
        }
    }
}
