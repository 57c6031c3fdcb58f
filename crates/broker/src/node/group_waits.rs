//! Requests that wait for coordinators of groups: how they are asked, and how the answer is finished.

use milepost_coordinator::ShardStatus;
use milepost_groups::{Reply, Request, partition_for};
use milepost_model::{Instant, Now, PartitionIndex};

use super::coordinator_waits::{Answered, CoordinatorWaits, single};
use super::{Node, RequestKey};
use crate::handlers::{
    consumer_group_describe, consumer_group_heartbeat, delete_groups, describe_groups, heartbeat, join_group,
    leave_group, list_groups, offset_commit, offset_delete, offset_fetch, sync_group, txn_offset_commit,
};

/// What a coordinator said, or the runtime in its stead.
pub(crate) type GroupResult = Answered<Reply>;

/// How to finish a request when all its tickets are answered. Each holds what its handler needs for that.
#[derive(Debug)]
pub(crate) enum GroupAnswer {
    JoinGroup(join_group::Asked),
    SyncGroup,
    Heartbeat,
    LeaveGroup(leave_group::Asked),
    ConsumerGroupHeartbeat,
    ConsumerGroupDescribe(consumer_group_describe::Asked),
    OffsetCommit(offset_commit::Asked),
    TxnOffsetCommit(txn_offset_commit::Asked),
    OffsetFetch(offset_fetch::Asked),
    ListGroups,
    DescribeGroups(describe_groups::Asked),
    DeleteGroups(delete_groups::Asked),
    OffsetDelete(offset_delete::Asked),
}

/// A request that waits.
#[derive(Debug)]
pub(crate) struct GroupWait {
    key: RequestKey,
    answer: GroupAnswer,
    admitted: Instant,
}

/// All requests that wait for coordinators of groups.
pub(crate) type GroupWaits = CoordinatorWaits<GroupWait, Reply>;

impl Node {
    /// The shard that a group belongs to.
    pub(crate) fn shard_of(&self, group_id: &str) -> PartitionIndex {
        let count = u32::try_from(self.coordinators.partition_count()).expect("a count is not negative");
        partition_for(group_id, count)
    }

    /// Why the coordinator of a group is not served, if its log cannot be understood.
    pub(crate) fn coordinator_failure(&self, group_id: &str) -> Option<String> {
        match self.coordinators.status(self.shard_of(group_id))? {
            ShardStatus::Failed(failure) => Some(failure.to_string()),
            _ => None,
        }
    }

    /// Asks one coordinator.
    pub(crate) fn ask(
        &mut self,
        now: Now,
        key: RequestKey,
        answer: GroupAnswer,
        group_id: &str,
        request: Request<'_>,
    ) {
        let shard = self.shard_of(group_id);
        self.ask_all(now, key, answer, vec![(shard, request)]);
    }

    /// Asks several coordinators; the answer is finished when all have answered, their results in this order.
    pub(crate) fn ask_all(
        &mut self,
        now: Now,
        key: RequestKey,
        answer: GroupAnswer,
        parts: Vec<(PartitionIndex, Request<'_>)>,
    ) {
        if parts.is_empty() {
            finish(self, key, answer, Vec::new());
            return;
        }
        let wait = GroupWait { key, answer, admitted: now.monotonic };
        let tickets = self.groups.open(wait, parts.len());
        for (ticket, (shard, request)) in tickets.into_iter().zip(parts) {
            self.coordinators.submit(&mut self.logs, now, shard, ticket, request);
        }
    }

    /// Sends what the coordinators have released.
    pub(super) fn release_group_answers(&mut self) {
        let answers: Vec<_> = self.coordinators.drain_answers().collect();
        for (ticket, answer) in answers {
            let Some((wait, results)) = self.groups.answered(ticket, answer) else { continue };
            if matches!(wait.answer, GroupAnswer::OffsetCommit(_)) {
                self.commit_times.note_answered(wait.admitted);
            }
            finish(self, wait.key, wait.answer, results);
        }
    }
}

fn finish(node: &mut Node, key: RequestKey, answer: GroupAnswer, results: Vec<GroupResult>) {
    match answer {
        GroupAnswer::JoinGroup(asked) => join_group::finish(node, key, &asked, single(results)),
        GroupAnswer::SyncGroup => sync_group::finish(node, key, single(results)),
        GroupAnswer::Heartbeat => heartbeat::finish(node, key, single(results)),
        GroupAnswer::LeaveGroup(asked) => leave_group::finish(node, key, &asked, single(results)),
        GroupAnswer::ConsumerGroupHeartbeat => consumer_group_heartbeat::finish(node, key, single(results)),
        GroupAnswer::ConsumerGroupDescribe(asked) => {
            consumer_group_describe::finish(node, key, &asked, results);
        }
        GroupAnswer::OffsetCommit(asked) => offset_commit::finish(node, key, &asked, single(results)),
        GroupAnswer::TxnOffsetCommit(asked) => txn_offset_commit::finish(node, key, &asked, single(results)),
        GroupAnswer::OffsetFetch(asked) => offset_fetch::finish(node, key, &asked, results),
        GroupAnswer::ListGroups => list_groups::finish(node, key, results),
        GroupAnswer::DescribeGroups(asked) => describe_groups::finish(node, key, &asked, results),
        GroupAnswer::DeleteGroups(asked) => delete_groups::finish(node, key, &asked, results),
        GroupAnswer::OffsetDelete(asked) => offset_delete::finish(node, key, &asked, single(results)),
    }
}
