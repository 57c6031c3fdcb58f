//! Requests that wait for coordinators: which tickets belong to which request, and how its answer is finished.
//!
//! Most requests are one ticket; listings and batches over several groups are one ticket a shard or group, answered
//! together when the last one came.

use hashbrown::HashMap;
use milepost_coordinator::{Answer, Refusal, ShardStatus};
use milepost_groups::{Reply, Request, partition_for};
use milepost_model::{Instant, Now, PartitionIndex, Ticket};

use super::{Node, RequestKey};
use crate::handlers::{
    consumer_group_describe, consumer_group_heartbeat, delete_groups, describe_groups, heartbeat, join_group,
    leave_group, list_groups, offset_commit, offset_delete, offset_fetch, sync_group,
};

/// What a coordinator said, or the runtime in its stead.
pub(crate) type GroupResult = Result<Reply, Refusal>;

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
    OffsetFetch(offset_fetch::Asked),
    ListGroups,
    DescribeGroups(describe_groups::Asked),
    DeleteGroups(delete_groups::Asked),
    OffsetDelete(offset_delete::Asked),
}

#[derive(Debug)]
struct GroupWait {
    key: RequestKey,
    answer: GroupAnswer,
    admitted: Instant,
    /// One place a ticket, in the order of the parts.
    results: Vec<Option<GroupResult>>,
    missing: usize,
}

/// All requests that wait for coordinators.
#[derive(Debug, Default)]
pub(crate) struct GroupWaits {
    next_wait: u64,
    next_ticket: u64,
    waits: HashMap<u64, GroupWait, foldhash::fast::FixedState>,
    tickets: HashMap<Ticket, (u64, usize), foldhash::fast::FixedState>,
}

impl GroupWaits {
    fn open(&mut self, now: Now, key: RequestKey, answer: GroupAnswer, parts: usize) -> Vec<Ticket> {
        self.next_wait += 1;
        let results = (0..parts).map(|_| None).collect();
        let wait = GroupWait { key, answer, admitted: now.monotonic, results, missing: parts };
        self.waits.insert(self.next_wait, wait);
        (0..parts)
            .map(|part| {
                self.next_ticket += 1;
                let ticket = Ticket(self.next_ticket);
                self.tickets.insert(ticket, (self.next_wait, part));
                ticket
            })
            .collect()
    }

    /// Notes an answer; gives the request back when it was the last one missing.
    fn answered(&mut self, ticket: Ticket, result: GroupResult) -> Option<GroupWait> {
        let (id, part) = self.tickets.remove(&ticket)?;
        let wait = self.waits.get_mut(&id)?;
        wait.results[part] = Some(result);
        wait.missing -= 1;
        if wait.missing == 0 { self.waits.remove(&id) } else { None }
    }
}

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
        let tickets = self.groups.open(now, key, answer, parts.len());
        for (ticket, (shard, request)) in tickets.into_iter().zip(parts) {
            self.coordinators.submit(&mut self.logs, now, shard, ticket, request);
        }
    }

    /// Sends what the coordinators have released.
    pub(super) fn release_group_answers(&mut self) {
        let answers: Vec<(Ticket, Answer<Reply>)> = self.coordinators.drain_answers().collect();
        for (ticket, answer) in answers {
            let result = match answer {
                Answer::Reply(reply) => Ok(reply),
                Answer::Refused(refusal) => Err(refusal),
            };
            let Some(wait) = self.groups.answered(ticket, result) else { continue };
            if matches!(wait.answer, GroupAnswer::OffsetCommit(_)) {
                self.commit_times.note_answered(wait.admitted);
            }
            let results = wait.results.into_iter().flatten().collect();
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
        GroupAnswer::OffsetFetch(asked) => offset_fetch::finish(node, key, &asked, results),
        GroupAnswer::ListGroups => list_groups::finish(node, key, results),
        GroupAnswer::DescribeGroups(asked) => describe_groups::finish(node, key, &asked, results),
        GroupAnswer::DeleteGroups(asked) => delete_groups::finish(node, key, &asked, results),
        GroupAnswer::OffsetDelete(asked) => offset_delete::finish(node, key, &asked, single(results)),
    }
}

fn single(mut results: Vec<GroupResult>) -> GroupResult {
    results.pop().expect("a request to one coordinator has one result")
}
