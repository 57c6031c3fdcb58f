//! What a shard of groups counts, for whoever watches it. Names are those of Kafka's metrics where Kafka has one.

use std::collections::BTreeMap;

use milepost_model::Counts;

use crate::consumer::ConsumerChange;
use crate::{GroupError, GroupState, GroupType, Record};

/// How often things happened. A write counts once it is durable, and one that failed does not (KAFKA-12660).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// `offset-commit-count`: offsets committed.
    pub offset_commits: u64,
    /// `offset-expiration-count`: offsets removed because nobody used them any more (KAFKA-18980: not those looked at).
    pub offset_expirations: u64,
    /// `offset-deletion-count`: offsets removed by OffsetDelete.
    pub offset_deletions: u64,
    /// `group-completed-rebalance-count`: generations of classic groups whose assignment was written down.
    pub group_completed_rebalances: u64,
    /// `consumer-group-rebalance-count`: new group epochs of consumer groups.
    pub consumer_group_rebalances: u64,
    /// Commits refused because who sent them had lost its place in the group (ours).
    pub fenced_commits: u64,
    /// Looks for expired offsets that were left out because the wall clock had jumped (ours).
    pub skipped_sweeps: u64,
}

impl Counts for GroupCounts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, more: Self) {
        self.offset_commits += more.offset_commits;
        self.offset_expirations += more.offset_expirations;
        self.offset_deletions += more.offset_deletions;
        self.group_completed_rebalances += more.group_completed_rebalances;
        self.consumer_group_rebalances += more.consumer_group_rebalances;
        self.fenced_commits += more.fenced_commits;
        self.skipped_sweeps += more.skipped_sweeps;
    }
}

impl GroupCounts {
    /// Counts what a record says by itself.
    pub(crate) fn note_record(&mut self, record: &Record) {
        match record {
            Record::Offset(offset) => self.offset_commits += u64::from(offset.committed.is_some()),
            Record::Consumer(record) => {
                let is_new_epoch = matches!(record.change, ConsumerChange::Group(Some(_)));
                self.consumer_group_rebalances += u64::from(is_new_epoch);
            }
            Record::Group(_) => {}
        }
    }

    /// Counts a commit that was refused, if the reason is that its sender lost its place.
    pub(crate) fn note_refused_commit(&mut self, error: GroupError) {
        self.fenced_commits += u64::from(matches!(
            error,
            GroupError::UnknownMemberId
                | GroupError::FencedInstanceId
                | GroupError::IllegalGeneration
                | GroupError::FencedMemberEpoch
                | GroupError::StaleMemberEpoch
        ));
    }
}

/// What there is at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCensus {
    /// `group-count`, `classic-group-count` and `consumer-group-count`: groups by their protocol and state.
    pub groups: BTreeMap<(GroupType, GroupState), u64>,
    /// `offset-count`: committed offsets.
    pub offsets: u64,
}

impl GroupCensus {
    /// Takes in another shard's.
    pub fn add(&mut self, more: &Self) {
        for (kind, count) in &more.groups {
            *self.groups.entry(*kind).or_default() += count;
        }
        self.offsets += more.offsets;
    }
}
