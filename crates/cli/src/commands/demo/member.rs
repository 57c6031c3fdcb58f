//! A member of the group in the story: waits for its partition, reads, commits.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use milepost_client::groups::Committed;
use milepost_client::{
    Cluster, CommitOutcome, Fetched, GroupEvent, GroupMember, GroupOptions, TopicPartition, explain,
};
use milepost_model::{LeaderEpoch, Offset};

use super::account::Read;
use crate::failure::Failure;

/// How long the group keeps the partitions of a member that is gone.
pub(super) const SESSION: Duration = Duration::from_secs(6);
const WAIT: Duration = Duration::from_millis(200);

/// One member, with a connection of its own.
pub(super) struct Member {
    cluster: Cluster,
    member: GroupMember,
    /// Fetched and not read yet.
    fetched: Vec<Fetched>,
    partition: TopicPartition,
    /// The next record that it will read.
    pub(super) next: Offset,
    /// The epoch of the record before it, once it has read one.
    epoch: Option<LeaderEpoch>,
}

impl Member {
    /// Joins, and waits until the group's two members have one partition each.
    pub(super) fn join(mut cluster: Cluster, group: &str, topic: &str) -> Result<Self, Failure> {
        let options = GroupOptions {
            session_timeout: SESSION,
            rebalance_timeout: SESSION,
            heartbeat_interval: WAIT,
            ..GroupOptions::new(group)
        };
        let mut member = GroupMember::new(&mut cluster, options, &[topic.to_owned()])?;
        loop {
            let GroupEvent::Assigned(positions) = member.poll(&mut cluster, WAIT)? else { continue };
            let mut positions = positions.into_iter();
            if let (Some((partition, next)), None) = (positions.next(), positions.next()) {
                return Ok(Self { cluster, member, fetched: Vec::new(), partition, next, epoch: None });
            }
        }
    }

    pub(super) fn partition(&self) -> &TopicPartition {
        &self.partition
    }

    /// Reads on until it has read everything before `end`.
    pub(super) fn read_to(&mut self, end: Offset) -> Result<Vec<Read>, Failure> {
        let mut read = Vec::new();
        while self.next < end {
            for fetched in &self.fetched {
                let _ = fetched.each(|record| {
                    if record.offset >= end {
                        return Ok(ControlFlow::Break(()));
                    }
                    if record.offset >= self.next {
                        self.next = record.offset.plus(1);
                        self.epoch = record.leader_epoch;
                        let value = String::from_utf8_lossy(record.value.unwrap_or_default()).into_owned();
                        read.push(Read { partition: self.partition.clone(), offset: record.offset, value });
                    }
                    Ok::<_, Failure>(ControlFlow::Continue(()))
                })?;
            }
            if self.next < end {
                self.fetched = self.fetch()?;
            }
        }
        Ok(read)
    }

    fn fetch(&mut self) -> Result<Vec<Fetched>, Failure> {
        match self.member.poll(&mut self.cluster, WAIT)? {
            GroupEvent::Records(polled) => Ok(polled.fetched),
            other => Err(Failure::Failed(format!(
                "the group was shared out again while the story was told ({other:?}); is the machine very busy?"
            ))),
        }
    }

    /// Commits that everything before the next record has been read.
    pub(super) fn commit(&mut self) -> Result<(), Failure> {
        let next = Committed { offset: self.next, leader_epoch: self.epoch, metadata: String::new() };
        let offsets = BTreeMap::from([(self.partition.clone(), next)]);
        match self.member.commit(&mut self.cluster, &offsets)? {
            CommitOutcome::Stored => Ok(()),
            CommitOutcome::Fenced(code) => Err(Failure::Failed(explain(code, None))),
        }
    }

    /// Says goodbye.
    pub(super) fn leave(mut self) -> Result<(), Failure> {
        Ok(self.member.leave(&mut self.cluster)?)
    }
}
